#!/usr/bin/env python3
"""The mutation test: weaves all mutants into a copy of the sources, builds it once, and runs the tests that come by
each mutant's place until one of them fails.

  run.py [names…]     the whole test, or only the mutants whose names contain one of these
  run.py --check      only whether every mutant still fits the sources
  run.py --list       what each mutant breaks

A mutant that no test notices survives. It passes only if its list says why it is harmless, and 95 of 100 must die.
"""

import argparse
import concurrent.futures
import dataclasses
import fcntl
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

import weave

BUILD = weave.ROOT / "build" / "mutants"
SHARE_TO_DIE = 0.95
MEMORY = 4 << 30  # a mutant may ask for memory without end
PATIENCE = 10  # a test that takes this many times as long as without a mutant, and a while more, hangs
A_WHILE = 10.0
SLOW = 5.0  # tests that take longer wait until all others have been tried


@dataclasses.dataclass
class Test:
    program: str
    name: str
    rank: tuple  # of its line in the list of killers: part, line
    seconds: float = 0
    reached: frozenset = frozenset()

    def label(self):
        return f"{self.program.removesuffix('_tests')}.{self.name}"


@dataclasses.dataclass
class Verdict:
    mutant: weave.Mutant
    tests: int  # that come by its place
    killer: str = ""
    how: str = ""
    seconds: float = 0


def say(text):
    print(f"nearfar: {text}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------------------------------------------------- the build


def killers():
    """The lines of killers.txt: (rank, program, filter)."""
    part = 0
    found = []
    for number, line in enumerate((weave.HERE / "killers.txt").read_text().splitlines()):
        if line.strip() == "then":
            part += 1
        elif line.strip() and not line.startswith("#"):
            found.append(((part, number), *line.split()))
    return found


def build(programs, jobs):
    configure = ["cmake", "-S", BUILD / "tree", "-B", BUILD / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCMAKE_CXX_FLAGS=-w", "-DNEARFAR_TESTS=ON", "-DNEARFAR_BENCH=OFF",
                 "-DNEARFAR_PCH=ON", "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    for command in (configure, ["ninja", "-C", BUILD / "build", "-j", str(jobs), *programs]):
        log = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if log.returncode != 0:
            sys.stderr.write(log.stdout)
            raise SystemExit("nearfar: error: the mutants could not be built")


# ---------------------------------------------------------------------------------------------------------- the tests


def run_test(test, seconds, **environment):
    """Runs one test alone: how it failed, or nothing; and its time."""
    # Properties are tried with the same random cases each time.
    variables = {**os.environ, "RC_PARAMS": "seed=1", **environment}
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [BUILD / "build" / "tests" / test.program, f"--gtest_filter={test.name}", "--gtest_brief=1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds, env=variables,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    except subprocess.TimeoutExpired:
        return "hangs", time.monotonic() - begin
    how = "" if done.returncode == 0 else "fails" if done.returncode > 0 else "crashes"
    return how, time.monotonic() - begin


def list_tests():
    """All tests that the list of killers names, each once."""
    tests = {}
    for rank, program, pattern in killers():
        listed = subprocess.run([BUILD / "build" / "tests" / program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        suite = ""
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if not name.startswith(" "):
                suite = name
            elif "DISABLED_" not in name:
                tests.setdefault((program, suite + name.strip()), Test(program, suite + name.strip(), rank))
    if not tests:
        raise SystemExit("nearfar: error: killers.txt names no test")
    return list(tests.values())


def measure(tests, jobs):
    """Runs every test without a mutant: it must pass, and tells its time and the mutants it comes by."""
    def one(test):
        with tempfile.NamedTemporaryFile() as reached:
            how, test.seconds = run_test(test, 600, NEARFAR_MUTANTS_REACHED=reached.name)
            test.reached = frozenset(int(line) for line in pathlib.Path(reached.name).read_text().split())
        return how
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, how in zip(tests, pool.map(one, tests)):
            if how:
                raise SystemExit(f"nearfar: error: {test.label()} {how} without any mutant")


class Hints:
    """Which test killed a mutant last time: it is tried first. Only an order, never a result."""

    def __init__(self):
        self.path = BUILD / "killed_by.json"
        self.lock = threading.Lock()
        try:
            self.by_name = json.loads(self.path.read_text())
        except (OSError, ValueError):
            self.by_name = {}

    def note(self, name, label):
        with self.lock:
            self.by_name[name] = label
            self.path.write_text(json.dumps(self.by_name, indent=1, sort_keys=True) + "\n")


def try_mutant(mutant, tests, hints):
    number = weave.id_of(mutant.name)
    reaching = [test for test in tests if number in test.reached]
    verdict = Verdict(mutant, len(reaching))
    begin = time.monotonic()
    hint = hints.by_name.get(mutant.name)
    def order(test):
        part, line = test.rank
        return part, test.label() != hint, test.seconds > SLOW, line, test.seconds
    for test in sorted(reaching, key=order):
        how, _ = run_test(test, PATIENCE * test.seconds + A_WHILE, NEARFAR_MUTANT=mutant.name)
        if how:
            verdict.killer, verdict.how = test.label(), how
            hints.note(mutant.name, verdict.killer)
            break
    verdict.seconds = time.monotonic() - begin
    return verdict


# ---------------------------------------------------------------------------------------------------------- the table


def row(verdict):
    name = f"{verdict.mutant.file.split('/')[0]:<12} {verdict.mutant.name:<38}"
    if verdict.killer:
        stale = "   but its list says that it is harmless" if verdict.mutant.harmless else ""
        return f"{name} killed    {verdict.seconds:6.1f} s  {verdict.killer} {verdict.how}{stale}"
    reached = f"{verdict.tests} tests come by" if verdict.tests else "no test comes by"
    why = verdict.mutant.harmless or f"NOT EXPLAINED; {verdict.mutant.breaks}"
    return f"{name} SURVIVED  {verdict.seconds:6.1f} s  ({reached}) {why}"


def report(verdicts):
    """The last lines of the table, and whether all is as it must be."""
    killed = sum(bool(verdict.killer) for verdict in verdicts)
    unexplained = [verdict for verdict in verdicts if not verdict.killer and not verdict.mutant.harmless]
    stale = [verdict for verdict in verdicts if verdict.killer and verdict.mutant.harmless]
    print(f"\n{killed} of {len(verdicts)} mutants die ({100 * killed / len(verdicts):.1f} %); "
          f"{len(verdicts) - killed} survive, {len(unexplained)} of them without a reason")
    by_folder = {}
    for verdict in verdicts:
        by_folder.setdefault(verdict.mutant.file.split("/")[0], []).append(bool(verdict.killer))
    print(", ".join(f"{folder} {sum(dead)} of {len(dead)}" for folder, dead in sorted(by_folder.items())))
    return killed >= SHARE_TO_DIE * len(verdicts) and not unexplained and not stale


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    try:
        mutants = weave.read_lists()
        weave.woven_sources(mutants)
    except weave.ListError as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return 0
    chosen = [m for m in mutants if not options.names or any(name in m.name for name in options.names)]
    if not chosen:
        print("no mutant has such a name; --list shows them", file=sys.stderr)
        return 2
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:<38} {mutant.breaks}")
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    lock = open(BUILD / ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    say(f"building {len(mutants)} mutants")
    weave.write_tree(BUILD / "tree", mutants)
    build(sorted({program for _, program, _ in killers()}), options.jobs)
    tests = list_tests()
    say(f"running {len(tests)} tests without a mutant")
    measure(tests, options.jobs)
    say(f"running {len(chosen)} mutants")
    hints = Hints()
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for verdict in pool.map(lambda mutant: try_mutant(mutant, tests, hints), chosen):
            print(row(verdict), flush=True)
            verdicts.append(verdict)
    return 0 if report(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
