"""Pages in Markdown as tests: their blocks of code are files to write and commands to run.

    ```                      each line is a command (lines that begin with # are not, and \\ at an end goes on)
    ./nearfar run MT
    ```
    ```console               commands behind $, and below each exactly what it prints
    $ ./nearfar --version
    nearfar 1.0
    ```
    ```yaml title="systems/mine.yaml"        a file, written there
    ```python                a program for Python

Blocks in other languages without a title are there to be read.
"""
import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^```(\S*)(?:\s+(.*))?$")
TITLE = re.compile(r'title="([^"]+)"')


@dataclass
class Block:
    kind: str  # "commands", "console", "file", "python"
    line: int  # number of its first line in the page, from 1
    lines: list = field(default_factory=list)
    title: str = ""


@dataclass
class Command:
    line: int
    text: str
    output: list | None = None  # lines that it must print; None: any


def blocks_of(text):
    """The blocks that the tests have to do something with, in order."""
    blocks, inside = [], None
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            language, rest = fence.group(1), fence.group(2) or ""
            title = TITLE.search(rest)
            kind = {"": "commands", "sh": "commands", "bash": "commands", "console": "console", "python": "python"}.get(language)
            if title:
                kind = "file"
            inside = Block(kind or "read", number + 1, [], title.group(1) if title else "")
        elif inside is not None and line.rstrip() == "```":
            if inside.kind != "read":
                blocks.append(inside)
            inside = None
        elif inside is not None:
            inside.lines.append(line)
    return blocks


def commands_of(block):
    """What a block of commands or of a console says to type."""
    out = []
    continued = False
    for offset, line in enumerate(block.lines):
        number = block.line + offset
        if continued:
            out[-1].text += "\n" + line
        elif block.kind == "console":
            if line.startswith("$ "):
                out.append(Command(number, line[2:], []))
            elif out:
                out[-1].output.append(line)
                continue
            else:
                raise ValueError(f"line {number}: a block of a console begins with `$ `")
        elif line.strip() and not line.startswith("#"):
            out.append(Command(number, line))
        else:
            continue
        continued = line.endswith("\\")
    return out
