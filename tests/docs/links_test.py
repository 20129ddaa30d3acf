#!/usr/bin/env python3
"""Every link of every page leads somewhere: files that exist, and headings that are in them.

    links_test.py ROOT          checks the Markdown files that git tracks below ROOT, else all of them
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"(?<!\\)!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def lines_of_prose(text):
    """The lines of a page with their numbers, without blocks of code."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            yield number, line


def anchor(heading):
    """The name that the usual renderers give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[`*]", "", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors_of(page):
    seen = {}
    names = set()
    for _, line in lines_of_prose(page.read_text(encoding="utf-8")):
        if match := HEADING.match(line):
            name = anchor(match.group(2))
            count = seen.get(name, 0)
            seen[name] = count + 1
            names.add(f"{name}-{count}" if count else name)
    return names


def broken_links(page):
    """Pairs of a line's number and what is wrong in it."""
    for number, line in lines_of_prose(page.read_text(encoding="utf-8")):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if OUTSIDE.match(target):
                continue
            path, _, name = target.partition("#")
            file = (page.parent / unquote(path)) if path else page
            if not file.exists():
                yield number, f"there is no {target}"
            elif name and file.suffix == ".md" and name not in anchors_of(file):
                yield number, f"{file.name} has no heading #{name}"


def pages(root):
    try:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "*.md"], capture_output=True, text=True, check=True)
        return [root / name for name in listed.stdout.split("\n") if name and (root / name).exists()]
    except (OSError, subprocess.CalledProcessError):
        return [page for page in root.rglob("*.md") if "build" not in page.relative_to(root).parts]


class Links(unittest.TestCase):
    root = Path(".")

    def test_links_lead_somewhere(self):
        found = pages(self.root)
        self.assertGreater(len(found), 10)
        broken = [
            f"{page.relative_to(self.root)}:{number}: {what}"
            for page in found
            for number, what in broken_links(page)
        ]
        self.assertEqual(broken, [], "\n" + "\n".join(broken))

    def test_a_broken_link_is_found(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(
                "# One `two`, three\n[a](#one-two-three) [b](page.md#nowhere) [c](gone.md)\n"
                "```\n[code](gone.md)\n```\n[web](https://example.org)\n",
                encoding="utf-8",
            )
            self.assertEqual([number for number, _ in broken_links(page)], [2, 2])


if __name__ == "__main__":
    Links.root = Path(sys.argv.pop(1)).resolve()
    unittest.main()
