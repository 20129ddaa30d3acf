#!/usr/bin/env python3
"""Runs what a page says to type, as it is written, in a folder like a fresh clone.

    commands_test.py ROOT BUILD PAGE [--write]
        ROOT     the source folder
        BUILD    the build folder with the program
        PAGE     a Markdown file, from ROOT
        --write  puts what the commands print into the page's blocks of a console
"""
import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from page import Command, blocks_of, commands_of  # noqa: E402

# Commands that are not run, by how they begin, with the reason. Commands within sentences are not looked at: what the
# README says of installing is done by the tutorial of extensions and by tests/package.
NOT_RUN = {
    "sudo apt-get install": "./test extras installs the same",
    "./test": "the tests cannot run themselves",
}
# Commands that serve until somebody presses Ctrl-C, which these tests do after a while.
SERVERS = ("./nearfar explore",)
SERVED_SECONDS = 5
INTERRUPTED = 130
# What a command needs beside the program; without it the command is left out, which is said.
NEEDS = {
    "import nearfar": ("the Python package with pandas and matplotlib", lambda build: has_python_package(build)),
}
# The package is for Debian's interpreter, whatever comes first in PATH (docs/python.md).
PYTHON = "/usr/bin/python3"
# What a whole page needs; without it the page is skipped.
PAGE_NEEDS = {
    "docs/opencl.md": ("Oclgrind", lambda build: (build / "nearfar_oclgrind.so").exists()),
}
SKIPPED = 77
# What of a clone the pages use. Copies, so that what commands write stays in the folder.
CLONE = ["inputs", "systems", "studies", "claims", "calibrations", "docs"]
# How fast the host was: different every time.
HOST_TIME = re.compile(r"^( *simulated in) .*")


def same(line):
    """A line without what differs from one time to the next."""
    return HOST_TIME.sub(r"\1 …", line.rstrip())


def processor_time():
    """Seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Folder:
    """A folder that looks like a clone in which nearfar has been built."""

    def __init__(self, root, build):
        self.path = Path(tempfile.mkdtemp(prefix="nearfar-docs-"))
        self.root, self.build = root, build
        for name in CLONE:
            shutil.copytree(root / name, self.path / name)
        program = self.path / "nearfar"
        program.write_text(f'#!/bin/sh\nexec "{build / "nearfar"}" "$@"\n')
        program.chmod(0o755)
        (self.path / "build").mkdir()
        (self.path / "build" / "release").symlink_to(build)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("NEARFAR_", "XDG_"))
        }
        self.environment |= {
            "HOME": str(self.path / "home"),
            "PATH": f"{build}:{os.environ['PATH']}",
            "PYTHONPATH": str(build / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def write(self, name, lines):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, words, **options):
        return subprocess.run(
            words,
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            **options,
        )

    def remove(self):
        shutil.rmtree(self.path)


def has_python_package(build):
    if not (build / "python" / "nearfar").exists():
        return False
    return subprocess.run([PYTHON, "-c", "import pandas, matplotlib"], capture_output=True, check=False).returncode == 0


def is_needed(name):
    """Where nothing may be skipped, what is missing is a fault."""
    if os.environ.get("NEARFAR_TEST_EXTRAS") == "needed":
        raise unittest.TestCase.failureException(f"{name} is not there")


def reason_to_leave_out(text, build):
    for beginning, reason in NOT_RUN.items():
        if text == beginning or text.startswith(beginning + " "):
            return reason
    for part, (name, is_there) in NEEDS.items():
        if part in text and not is_there(build):
            is_needed(name)
            return f"{name} is not there"
    return None


class Page:
    def __init__(self, root, build, name):
        self.file = root / name
        self.root, self.build, self.name = root, build, name
        self.text = self.file.read_text(encoding="utf-8")
        self.printed = []  # (command, the lines that it printed)
        self.wrong = []
        self.count = 0

    def perform(self, folder, command):
        reason = reason_to_leave_out(command.text, self.build)
        if reason:
            print(f"  left out: {command.text.splitlines()[0]}: {reason}", flush=True)
            if command.output is not None:
                self.printed.append((command, command.output))
            return True
        began = processor_time()
        serves = command.text.startswith(SERVERS)
        patience = ["timeout", "--preserve-status", "-s", "INT", str(SERVED_SECONDS)] if serves else []
        done = folder.run([*patience, "bash", "-o", "pipefail", "-c", command.text])
        took = processor_time() - began
        self.count += 1
        print(f"  {took:6.1f} s  {command.text.splitlines()[0]}", flush=True)
        place = f"{self.name}:{command.line}: {command.text}"
        # Who writes more than `head` reads is ended by a signal.
        ended = {0, 128 + signal.SIGPIPE} if "| head" in command.text else {0, INTERRUPTED} if serves else {0}
        if done.returncode not in ended:
            self.wrong.append(f"{place}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
            return False
        if command.output is not None:
            lines = done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []
            self.printed.append((command, lines))
            if [same(line) for line in lines] != [same(line) for line in command.output]:
                self.wrong.append(f"{place}\nprints now:\n{done.stdout}\nand not:\n" + "\n".join(command.output))
        return True

    def run(self):
        """Stops at the first command that fails: the next ones build on it."""
        folder = Folder(self.root, self.build)
        try:
            for block in blocks_of(self.text):
                if block.kind == "file":
                    folder.write(block.title, block.lines)
                elif block.kind == "python":
                    program = "\n".join(block.lines)
                    folder.write("page.py", block.lines)
                    if not self.perform(folder, Command(block.line, f"{PYTHON} page.py # " + program.replace("\n", "; "))):
                        return
                else:
                    for command in commands_of(block):
                        if not self.perform(folder, command):
                            return
        finally:
            folder.remove()

    def rewritten(self):
        """The page with what the commands printed."""
        lines = self.text.split("\n")
        for command, printed in reversed(self.printed):
            first = command.line + command.text.count("\n")  # the line behind the command, counted from 0
            lines[first : first + len(command.output)] = printed
        return "\n".join(lines)


class Commands(unittest.TestCase):
    page = None

    def test_commands_do_what_the_page_says(self):
        self.page.run()
        self.assertEqual(self.page.wrong, [], "\n" + "\n\n".join(self.page.wrong))
        self.assertGreater(self.page.count, 0)

    def test_a_page_is_read_as_it_looks(self):
        text = (
            "# A page\n```\n# no command\n./nearfar run MT \\\n  --size small\n```\n"
            '```yaml title="a/b.yaml"\nx: 1\n```\n```cpp\nint x;\n```\n'
            "```console\n$ echo one\none\n$ true\n```\n"
        )
        blocks = blocks_of(text)
        self.assertEqual([block.kind for block in blocks], ["commands", "file", "console"])
        self.assertEqual([command.text for command in commands_of(blocks[0])], ["./nearfar run MT \\\n  --size small"])
        self.assertEqual((blocks[1].title, blocks[1].lines), ("a/b.yaml", ["x: 1"]))
        self.assertEqual([(c.text, c.output) for c in commands_of(blocks[2])], [("echo one", ["one"]), ("true", [])])
        self.assertEqual([c.line for c in commands_of(blocks[2])], [14, 16])

    def test_what_is_wrong_is_found(self):
        page = Page(self.page.root, self.page.build, self.page.name)
        page.text = "```console\n$ echo two\none\n```\n```\nfalse\ntrue\n```\n"
        page.run()
        self.assertEqual(len(page.wrong), 2)
        self.assertIn("prints now:\ntwo\n", page.wrong[0])
        self.assertIn("exit code 1", page.wrong[1])
        self.assertEqual(page.count, 2)
        self.assertIn("$ echo two\ntwo\n```", page.rewritten())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("page")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    page = Page(arguments.root.resolve(), arguments.build.resolve(), arguments.page)
    name, is_there = PAGE_NEEDS.get(arguments.page, ("", lambda build: True))
    if not is_there(page.build):
        is_needed(name)
        print(f"{arguments.page} is skipped: {name} is not there (./test extras installs it)")
        sys.exit(SKIPPED)
    if arguments.write:
        page.run()
        page.file.write_text(page.rewritten(), encoding="utf-8")
        failed = [text for text in page.wrong if "\nexit code " in text]
        sys.exit("\n".join(failed) or 0)
    Commands.page = page
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
