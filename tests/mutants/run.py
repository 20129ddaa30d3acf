#!/usr/bin/env python3
"""The mutation test: weaves all mutants into a copy of the sources, builds it once, and runs the tests that come by
each mutant's place until one of them fails.

  run.py [names…]     the whole test, or only the mutants of these folders and those whose names contain one of these
  run.py --check      only whether every mutant still fits the sources
  run.py --list       what each mutant breaks

A mutant that no test notices survives. It passes only if its list says why it is harmless, and 95 of 100 must die.
"""

import argparse
import concurrent.futures
import dataclasses
import fcntl
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # nothing is written beside the lists
import weave

BUILD = weave.ROOT / "build" / "mutants"
PROGRAMS = BUILD / "programs"  # copies of what was built: another build meanwhile does not disturb a run
SHARE_TO_DIE = 0.95
MEMORY = 4 << 30  # a mutant may ask for memory without end
PATIENCE = 10  # a test that takes this many times as long as without a mutant, and a while more, hangs
A_WHILE = 5.0
ASLEEP = 60  # so many times as long by the clock, and it sleeps
LONGEST = 600.0  # of a test without a mutant
SLOW = 1.0  # tests that take longer wait until all others of their part have been tried
BATCH = 2.0  # quick tests run in one process as long as they take no longer together
STARTS = "[ RUN      ] "
FAILS = "[  FAILED  ] "


@dataclasses.dataclass
class Test:
    program: str
    name: str
    rank: tuple  # of its line in the list of killers: part, line
    seconds: float = 0  # of processor time, without a mutant
    reached: frozenset = frozenset()

    def label(self):
        return f"{self.program.removesuffix('_tests')}.{self.name}"


@dataclasses.dataclass
class Verdict:
    mutant: weave.Mutant
    tests: int  # that come by its place and passed
    killer: str = ""
    how: str = ""
    seconds: float = 0  # of processor time


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
    PROGRAMS.mkdir(exist_ok=True)
    for program in programs:  # what a run that was stopped has left may still be running
        shutil.copy2(BUILD / "build" / "tests" / program, PROGRAMS / "new").replace(PROGRAMS / program)


# ---------------------------------------------------------------------------------------------------------- the tests


def limit(seconds):
    """What a test may use, as a function to be called in its process."""
    def set_limits():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_limits


def last_of(output):
    """The test in which a program ended: the first that failed, or, where it crashed, the one that had begun."""
    name = ""
    for line in output:
        if line.startswith(STARTS):
            name = line.removeprefix(STARTS).strip()
        elif line.startswith(FAILS):
            return re.split(r",? \(|, where", line.removeprefix(FAILS).strip())[0]
    return name


def run_tests(tests, seconds, **environment):
    """Runs tests of one program until one fails: which one and how, or nothing; and their processor time, which other
    load does not change."""
    # Properties are tried with the same random cases each time.
    variables = {**os.environ, "RC_PARAMS": "seed=1", **environment}
    command = [PROGRAMS / tests[0].program, "--gtest_fail_fast", "--gtest_color=no",
               "--gtest_filter=" + ":".join(test.name for test in tests)]
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, env=variables,
                                   preexec_fn=limit(seconds))
        asleep = threading.Timer(ASLEEP * seconds, process.kill)  # one that waits for ever uses no processor time
        asleep.start()
        _, status, usage = os.wait4(process.pid, 0)
        asleep.cancel()
        process.returncode = status  # so that nobody waits for it again
        output.seek(0)
        name = last_of(output)
    used = usage.ru_utime + usage.ru_stime
    if os.WIFSIGNALED(status):
        how = "hangs" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "crashes"
    else:
        how = "" if os.WEXITSTATUS(status) == 0 else "fails"
    return next((test for test in tests if test.name == name), tests[0]) if how else None, how, used


def list_tests():
    """All tests that the list of killers names, each once."""
    tests = {}
    for rank, program, pattern in killers():
        listed = subprocess.run([PROGRAMS / program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
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


class Notes:
    """What is known of this build: the tests' times, what they come by, which mutants they have killed and which not. A
    run that was stopped goes on from here. What is known of a program holds until that program changes; but which test
    killed a mutant last is kept, since it is tried first: that is only an order."""

    def __init__(self, programs, fresh):
        self.path = BUILD / "notes.json"
        self.lock = threading.Lock()
        now = {name: hashlib.sha256((PROGRAMS / name).read_bytes()).hexdigest() for name in programs}
        try:
            known = json.loads(self.path.read_text())
        except (OSError, ValueError):
            known = {}
        before = {} if fresh else known.get("programs", {})
        same = {name for name in programs if before.get(name) == now[name]}

        def holds(label):
            return label.split(".")[0] + "_tests" in same
        self.all = {"programs": now,
                    "tests": {label: what for label, what in known.get("tests", {}).items() if holds(label)},
                    "killed": {name: what for name, what in known.get("killed", {}).items() if holds(what[0])},
                    "passed": {name: [label for label in labels if holds(label)]
                               for name, labels in known.get("passed", {}).items()},
                    "spent": known.get("spent", {}) if same else {},
                    "killed_by": known.get("killed_by", {})}

    def note(self, kind, name, value):
        with self.lock:
            self.all[kind][name] = value
            self.path.with_suffix(".new").write_text(json.dumps(self.all) + "\n")
            self.path.with_suffix(".new").replace(self.path)


def measure(test, notes):
    """Runs a test without a mutant: it must pass, and tells its time and the mutants it comes by."""
    if test.label() not in notes.all["tests"]:
        with tempfile.NamedTemporaryFile() as reached:
            _, how, seconds = run_tests([test], LONGEST, NEARFAR_MUTANTS_REACHED=reached.name)
            if how:
                return f"{test.label()} {how} without any mutant"
            notes.note("tests", test.label(), [seconds, sorted(map(int, pathlib.Path(reached.name).read_text().split()))])
    test.seconds, ids = notes.all["tests"][test.label()]
    test.reached = frozenset(ids)
    return ""


def batches(tests):
    """Tests that follow each other as one process, as long as they belong to one program and are quick together."""
    batch = []
    for test in tests:
        if batch and (test.program != batch[0].program or sum(t.seconds for t in batch) + test.seconds > BATCH):
            yield batch
            batch = []
        batch.append(test)
    if batch:
        yield batch


def measure_all(tests, notes, pool):
    wrong = [text for text in pool.map(lambda test: measure(test, notes), tests) if text]
    if wrong:
        raise SystemExit("\n".join(f"nearfar: error: {text}" for text in wrong))


def try_mutant(mutant, tests, notes):
    """Runs those of the tests that come by a mutant, and have not passed with it before, until one fails."""
    number = weave.id_of(mutant.name)
    passed = list(notes.all["passed"].get(mutant.name, []))
    left = [test for test in tests if number in test.reached and test.label() not in passed]
    for batch in batches(sorted(left, key=lambda test: (test.seconds > SLOW, *test.rank, test.seconds))):
        killer, how, used = run_tests(batch, PATIENCE * sum(test.seconds for test in batch) + A_WHILE,
                                      NEARFAR_MUTANT=mutant.name)
        spent = notes.all["spent"].get(mutant.name, 0.0) + used
        notes.note("spent", mutant.name, spent)
        if killer is not None:
            notes.note("killed_by", mutant.name, killer.label())
            notes.note("killed", mutant.name, [killer.label(), how])
            return
        passed += [test.label() for test in batch]
        notes.note("passed", mutant.name, passed)


def run_mutants(mutants, tests, notes, pool):
    """Part by part of the list of killers: what has survived one part goes on to the next, the tests of which are not
    even measured before. Whichever test killed a mutant last is tried before all."""
    def alive():
        return [mutant for mutant in mutants if mutant.name not in notes.all["killed"]]
    by_label = {test.label(): test for test in tests}
    last = {name: by_label[label] for name, label in notes.all["killed_by"].items() if label in by_label}
    again = [mutant for mutant in alive() if mutant.name in last]
    measure_all({last[mutant.name].label(): last[mutant.name] for mutant in again}.values(), notes, pool)
    list(pool.map(lambda mutant: try_mutant(mutant, [last[mutant.name]], notes), again))
    for part in sorted({test.rank[0] for test in tests}):
        here = [test for test in tests if test.rank[0] == part]
        if not alive():
            break
        say(f"part {part + 1}: measuring {len(here)} tests without a mutant")
        measure_all(here, notes, pool)
        say(f"part {part + 1}: running {len(alive())} mutants")
        list(pool.map(lambda mutant: try_mutant(mutant, here, notes), alive()))


def verdict_of(mutant, notes):
    passed = len(notes.all["passed"].get(mutant.name, []))
    return Verdict(mutant, passed, *notes.all["killed"].get(mutant.name, ["", ""]), notes.all["spent"].get(mutant.name, 0.0))


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
    parser.add_argument("--fresh", action="store_true", help="do not go on with a run of this build that was stopped")
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
    chosen = [m for m in mutants
              if not options.names or any(name in m.name or m.file.startswith(name + "/") for name in options.names)]
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
    programs = sorted({program for _, program, _ in killers()})
    build(programs, options.jobs)
    tests = list_tests()
    notes = Notes(programs, options.fresh)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        run_mutants(chosen, tests, notes, pool)
    verdicts = [verdict_of(mutant, notes) for mutant in chosen]
    for verdict in verdicts:
        print(row(verdict))
    return 0 if report(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
