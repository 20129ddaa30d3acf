"""The lists of mutants, and a copy of the sources into which all of them are woven.

A mutant is a small fault that somebody could make: a snippet of a source and what stands there instead. The copy holds
every mutant beside the original; a test program chooses one when it starts (mutant.h). So one build serves all.
"""

import dataclasses
import os
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class ListError(Exception):
    """A mutant that cannot be read or does not fit the sources: file:line and what is wrong."""


@dataclasses.dataclass
class Change:
    after: str  # the snippet is the first one behind this text; empty: the only one in the file
    before: str
    instead: str
    place: str  # file:line of the list


@dataclasses.dataclass
class Mutant:
    name: str
    place: str
    file: str = ""
    breaks: str = ""
    harmless: str = ""
    changes: list = dataclasses.field(default_factory=list)


def read_lists():
    """All mutants of tests/mutants/*.mutants, in order."""
    mutants = []
    for path in sorted(HERE.glob("*.mutants")):
        mutants += read_list(path)
    by_id = {}
    for mutant in mutants:
        other = by_id.setdefault(id_of(mutant.name), mutant)
        if other is not mutant:
            raise ListError(f"{mutant.place}: '{mutant.name}' has the number of '{other.name}'; give it another name")
    return mutants


def read_list(path):
    mutants = []
    after = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path.relative_to(ROOT)}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word == "mutant":
            mutants.append(Mutant(rest, place))
            after = ""
            continue
        if not mutants:
            raise ListError(f"{place}: expected 'mutant NAME' first")
        mutant = mutants[-1]
        if word == "file":
            mutant.file = rest
        elif word == "breaks":
            mutant.breaks = rest
        elif word == "harmless":
            mutant.harmless = rest
        elif word == "after":
            after = rest
        elif word == "-":
            mutant.changes.append(Change(after, rest, "", place))
        elif word == "+" and mutant.changes:
            mutant.changes[-1].instead = rest
        else:
            raise ListError(f"{place}: expected 'mutant', 'file', 'after', '-', '+', 'breaks' or 'harmless'")
    for mutant in mutants:
        if not (re.fullmatch(r"[a-z0-9-]+", mutant.name) and mutant.file and mutant.breaks and mutant.changes):
            raise ListError(f"{mutant.place}: a mutant needs a name of a-z, 0-9 and '-', 'file', '-' and 'breaks'")
    return mutants


def id_of(name):
    """As id_of() of mutant.h."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return (value ^ value >> 16) & 0xFFFF


def pattern_of(snippet):
    """The snippet with any white space where it has some."""
    return re.compile(r"\s+".join(re.escape(word) for word in snippet.split()))


def find(source, change, file):
    """Where the snippet of a change lies in a source: (begin, end)."""
    matches = list(pattern_of(change.before).finditer(source))
    if change.after:
        marks = list(pattern_of(change.after).finditer(source))
        if len(marks) != 1:
            raise ListError(f"{change.place}: '{change.after}' occurs {len(marks)} times in src/{file}, not once")
        matches = [match for match in matches if match.start() >= marks[0].end()][:1]
    if len(matches) != 1:
        behind = f" behind '{change.after}'" if change.after else ""
        raise ListError(
            f"{change.place}: '{change.before}' occurs {len(matches)} times in src/{file}{behind}, not once; "
            "the source has changed: put the mutant right ('after TEXT' says which of several is meant)"
        )
    return matches[0].span()


def choose(name, original, change):
    """The original, which may hold other mutants by now, and what stands instead of it, chosen when the program runs."""
    if change.before.endswith(";"):
        return f'{{ if (NEARFAR_MUTANT("{name}")) {{ {change.instead} }} else {{ {original} }} }}'
    if not change.instead:
        raise ListError(f"{change.place}: an expression needs something instead; only a statement, with its ';', may go")
    return f'(NEARFAR_MUTANT("{name}") ? ({change.instead}) : ({original}))'


def weave(file, mutants):
    """The text of a source with all its mutants."""
    source = (ROOT / "src" / file).read_text()
    places = {}  # span -> what stands there
    errors = []
    for mutant in mutants:
        for change in mutant.changes:
            try:
                span = find(source, change, file)
                if any(span != other and span[0] < other[1] and other[0] < span[1] for other in places):
                    raise ListError(f"{change.place}: '{change.before}' overlaps the place of another mutant")
                places[span] = choose(mutant.name, places.get(span, source[slice(*span)]), change)
            except ListError as error:
                errors.append(str(error))
    if errors:
        raise ListError("\n".join(errors))
    for begin, end in sorted(places, reverse=True):
        source = source[:begin] + places[begin, end] + source[end:]
    first_include = re.search(r"^#include", source, re.MULTILINE)
    return source[: first_include.start()] + '#include "mutant.h"\n' + source[first_include.start() :]


def woven_sources(mutants):
    """The texts of the sources that have mutants, by file."""
    by_file = {}
    for mutant in mutants:
        if not (ROOT / "src" / mutant.file).is_file():
            raise ListError(f"{mutant.place}: there is no src/{mutant.file}")
        by_file.setdefault(mutant.file, []).append(mutant)
    texts = {}
    errors = []
    for file, of_file in by_file.items():
        try:
            texts[file] = weave(file, of_file)
        except ListError as error:
            errors.append(str(error))
    if errors:
        raise ListError("\n".join(errors))
    return texts


def write_if_changed(path, text):
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def write_tree(tree, mutants):
    """A project folder as ours, but with the woven sources. What has not changed keeps its time, for the build."""
    woven = woven_sources(mutants)
    tree.mkdir(parents=True, exist_ok=True)
    for entry in ROOT.iterdir():
        link = tree / entry.name
        if entry.name in ("src", "build") or entry.name.startswith(".") or link.is_symlink():
            continue
        link.symlink_to(os.path.relpath(entry, tree))
    wanted = {"mutant.h": (HERE / "mutant.h").read_bytes()}
    for path in (ROOT / "src").rglob("*"):
        if path.is_file():
            wanted[str(path.relative_to(ROOT / "src"))] = path.read_bytes()
    wanted.update((file, text.encode()) for file, text in woven.items())
    for file, text in wanted.items():
        write_if_changed(tree / "src" / file, text)
    for path in sorted((tree / "src").rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                shutil.rmtree(path)
        elif str(path.relative_to(tree / "src")) not in wanted:
            path.unlink()
