"""Writes a Murphi model of a directory: directory.m and the file of its organization, with what the home does generated
from transitions.csv, and a mutant of mutants.txt put in where one is asked for."""

import csv
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SAFETY = ("P1", "P2", "P3", "P4", "P5", "P8")

HEADS = {
    "remote-read": "procedure RemoteRead(r: Rem; l: Line); begin",
    "remote-write": "procedure RemoteWrite(r: Rem; l: Line); begin",
    "local-write": "procedure LocalWrite(l: Line); begin",
    "replacement": "procedure Replacement(l: Line); begin",
}


class Wrong(Exception):
    """Something is wrong with the table, the list of mutants or the template."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    organizations: tuple
    rows: tuple  # of the table, in which
    cells: tuple  # (column, value) are set
    edits: tuple  # (text before it, what stands there, what stands there instead)
    found: tuple  # by these properties
    breaks: str


@dataclasses.dataclass(frozen=True)
class Model:
    organization: str  # `rec_bits`: the entry as it lies in bits, without symmetry; `ideal`: `line` without evictions
    lines: int
    q: int
    t: int
    i: int
    gpus: int = 2  # without the home
    properties: tuple = SAFETY
    mutant: Mutant | None = None

    def table(self):
        return {"rec_bits": "rec", "ideal": "line"}.get(self.organization, self.organization)

    def bounds(self):
        together = f", {self.t} together" if self.crowded() else ""
        return f"{self.gpus + 1} GPUs, lines {self.lines}, transactions {self.q} a GPU{together}, invalidations {self.i}"

    def checked(self):
        return self.properties

    def text(self):
        return emit(self)

    def crowded(self):
        return self.t < self.q * self.gpus


# ----------------------------------------------------------------------------------------------------------- the table


def read_table(organization):
    """The rows for an organization. A test of the directories sees to it that they are complete and right."""
    with (HERE / "transitions.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["organization"] == organization]


def condition(row):
    """When a row is the one. Sharers of a line that is not tracked are not looked at."""
    terms = {
        "no-entry": ["!HasEntry(l)"],
        "untracked": ["HasEntry(l)", "!Tracked(l)"],
        "requester": ["Tracked(l)", "Shares(l, r)", "!OthersShare(l, r)"],
        "requester-and-others": ["Tracked(l)", "Shares(l, r)", "OthersShare(l, r)"],
        "others": ["Tracked(l)"] + ["!Shares(l, r)"] * row["event"].startswith("remote"),
    }[row["before"]]
    terms += {"any": [], "none": ["!OtherLinesTracked(l)"], "some": ["OtherLinesTracked(l)"]}[row["other lines"]]
    return " & ".join(terms)


def action(row):
    """What a row does. `one` and `entry` are for mutants: one sharer only, the whole entry."""
    send = "SendInvBlock(o);" if row["extent"] == "block" else "SendInv(o, l);"
    forget = "Untrack(l);" if row["before"] not in ("no-entry", "untracked") else ""
    invalidate = {
        "nobody": "",
        "all-sharers": f"for o: Rem do if Shares(l, o) then {send} end; end;",
        "all-but-requester": f"for o: Rem do if o != r & Shares(l, o) then {send} end; end;",
        "one": f"for o: Rem do if Shares(l, o) then {send} Untrack(l); end; end;",
    }[row["invalidated"]]
    change = {
        "same": "",
        "no-entry": forget,
        "untracked": forget,
        "requester": "SoleSharer(l, r);",
        "with-requester": "AddSharer(l, r);",
        "entry": "for k: Line do Untrack(k); end;" + " SoleSharer(l, r);" * (row["event"] == "remote-write"),
    }[row["after"]]
    return [line for line in (invalidate, change) if line]


def result(row):
    """Whether a write leaves the entry, or frees it, as the row says."""
    if row["invalidated"] == "nobody" or row["event"] == "replacement":
        return ""
    return {"no-entry": "!HasEntry(l)", "untracked": "HasEntry(l) & !Tracked(l)"}.get(row["after"], "")


def home(rows, check):
    """A procedure for each event, a branch for each row. With `check` each must leave what it says, and be reached."""
    text = []
    for event, head in HEADS.items():
        chosen = [row for row in rows if row["event"] == event]
        if not chosen:
            continue
        text.append(head)
        for number, row in enumerate(chosen):
            name = f"{row['rule']} {row['before']} {row['other lines']}"
            text.append(f"  {'elsif' if number else 'if'} {condition(row)} then  -- {row['rule']}")
            text += ["    " + line for line in action(row)]
            if check and result(row):
                text.append(f'    assert "{name} leaves something else" {result(row)};')
            if check:
                text.append(f'    cover "{name}" true;')
        text += ["  else", f'    error "the table has no row for this {event}";', "  end;", "end;", ""]
    return "\n".join(text[:-1])


# --------------------------------------------------------------------------------------------------------- the mutants


def read_mutants(file="mutants.txt", organizations="line hmg rec"):
    """`organizations`: those of a mutant that names none."""
    mutants = []
    for entry in re.split(r"\n\s*\n", (HERE / file).read_text()):
        lines = [line for line in entry.splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            mutants.append(read_mutant(lines, organizations))
    return mutants


def read_mutant(lines, organizations):
    fields = {"organizations": organizations, "rows": ""}
    cells, edits, after, old = [], [], "", ""
    for line in lines:
        key, _, value = line.partition(" ")
        value = value.strip()
        if key == "set":
            cells.append(tuple(value.split()))
        elif key == "after":
            after = value
        elif key == "-":
            old = value
        elif key == "+":
            edits.append((after, old, value))
        elif key in ("mutant", "organizations", "rows", "found", "breaks"):
            fields[key] = value
        else:
            raise Wrong(f"what is `{line}` in a list of mutants?")
    return Mutant(fields["mutant"], tuple(fields["organizations"].split()), tuple(fields["rows"].split()), tuple(cells),
                  tuple(edits), tuple(fields["found"].split()), fields["breaks"])


def mutate_rows(rows, mutant):
    rows = [dict(row) for row in rows]
    for name in mutant.rows:
        chosen = [row for row in rows if row["rule"] == name]
        if not chosen:
            raise Wrong(f"mutant {mutant.name}: the table has no row {name}")
        for row in chosen:
            row.update(mutant.cells)
    return rows


def mutate_text(text, mutant):
    for after, old, new in mutant.edits:
        start = text.find(after)
        place = text.find(old, start)
        if start < 0 or place < 0:
            raise Wrong(f"mutant {mutant.name}: `{old}` does not stand behind `{after}`")
        text = text[:place] + new + text[place + len(old):]
    return text


# ------------------------------------------------------------------------------------------------------------ the text


def choose(text, names):
    """Without the lines between @if and @else or @end that are not for one of these names."""
    result = []
    taken = [True]
    for line in text.splitlines():
        if line.startswith("@if "):
            taken.append(line.split()[1] in names)
        elif line == "@else":
            taken[-1] = not taken[-1]
        elif line == "@end":
            taken.pop()
        elif all(taken):
            result.append(line)
    if len(taken) != 1:
        raise Wrong("an @if has no @end")
    return "\n".join(result) + "\n"


def emit(model):
    rows = read_table(model.table())
    if model.organization == "ideal":
        rows = [row for row in rows if row["event"] != "replacement"]
    if model.mutant:
        rows = mutate_rows(rows, model.mutant)
    loads = [name for name in model.properties if name in ("P4", "P5")]
    conditions = {
        model.table(): True,
        "symmetric": model.organization != "rec_bits",
        "evictions": model.organization != "ideal",
        "crowded": model.crowded(),
        "loads": loads,
        "inv_line": any(row["extent"] == "line" for row in rows),
        "inv_block": any(row["extent"] == "block" for row in rows),
    }
    names = {name for name, holds in conditions.items() if holds} | set(model.properties)
    entry = "line" if model.organization == "ideal" else model.organization
    values = {
        "LINES": model.lines,
        "GPUS": model.gpus,
        "Q": model.q,
        "T": model.t,
        "I": model.i,
        "LOADS": " ".join(loads),
        "organization": (HERE / f"{entry}.m").read_text().rstrip(),
        "table": home(rows, not model.mutant),
    }
    text = choose((HERE / "directory.m").read_text(), names)
    text = re.sub(r"@(\w+)", lambda match: str(values[match[1]]), text)
    return mutate_text(text, model.mutant) if model.mutant else text
