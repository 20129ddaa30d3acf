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
import hashlib
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # nothing is written beside the lists
import weave

BUILD = weave.ROOT / "build" / "mutants"
SHARE_TO_DIE = 0.95
MEMORY = 4 << 30  # a mutant may ask for memory without end
PATIENCE = 10  # a test that takes this many times as long as without a mutant, and a while more, hangs
A_WHILE = 5.0
ASLEEP = 60  # so many times as long by the clock, and it sleeps
LONGEST = 600.0  # of a test without a mutant
SLOW = 5.0  # tests that take longer wait until all others have been tried


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
    tests: int  # that come by its place
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


# ---------------------------------------------------------------------------------------------------------- the tests


def limit(seconds):
    """What a test may use, as a function to be called in its process."""
    def set_limits():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_limits


def run_test(test, seconds, **environment):
    """Runs one test alone: how it failed, or nothing; and its processor time, which other load does not change."""
    # Properties are tried with the same random cases each time.
    variables = {**os.environ, "RC_PARAMS": "seed=1", **environment}
    command = [BUILD / "build" / "tests" / test.program, f"--gtest_filter={test.name}", "--gtest_brief=1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables,
                               preexec_fn=limit(seconds))
    asleep = threading.Timer(ASLEEP * seconds, process.kill)  # one that waits for ever uses no processor time
    asleep.start()
    _, status, usage = os.wait4(process.pid, 0)
    asleep.cancel()
    process.returncode = status  # so that nobody waits for it again
    used = usage.ru_utime + usage.ru_stime
    if os.WIFSIGNALED(status):
        return "hangs" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "crashes", used
    return "" if os.WEXITSTATUS(status) == 0 else "fails", used


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


class Notes:
    """What is known of this build: the tests' times, what they come by, and the verdicts so far. A run that was stopped
    goes on from here; a build that differs in a bit begins anew. Which test killed a mutant last is kept over builds,
    since it is tried first: that is only an order."""

    def __init__(self, programs, fresh):
        self.path = BUILD / "notes.json"
        self.lock = threading.Lock()
        digest = hashlib.sha256()
        for file in [weave.HERE / "killers.txt", *(BUILD / "build" / "tests" / program for program in programs)]:
            digest.update(file.read_bytes())
        try:
            known = json.loads(self.path.read_text())
        except (OSError, ValueError):
            known = {}
        same = known.get("build") == digest.hexdigest() and not fresh
        self.all = {"build": digest.hexdigest(), "tests": known["tests"] if same else {},
                    "verdicts": known["verdicts"] if same else {}, "killed_by": known.get("killed_by", {})}

    def note(self, kind, name, value):
        with self.lock:
            self.all[kind][name] = value
            self.path.with_suffix(".new").write_text(json.dumps(self.all, indent=1) + "\n")
            self.path.with_suffix(".new").replace(self.path)


def measure(test, notes):
    """Runs a test without a mutant: it must pass, and tells its time and the mutants it comes by."""
    if test.label() not in notes.all["tests"]:
        with tempfile.NamedTemporaryFile() as reached:
            how, seconds = run_test(test, LONGEST, NEARFAR_MUTANTS_REACHED=reached.name)
            if how:
                return f"{test.label()} {how} without any mutant"
            notes.note("tests", test.label(), [seconds, sorted(map(int, pathlib.Path(reached.name).read_text().split()))])
    test.seconds, ids = notes.all["tests"][test.label()]
    test.reached = frozenset(ids)
    return ""


def try_mutant(mutant, tests, notes):
    number = weave.id_of(mutant.name)
    reaching = [test for test in tests if number in test.reached]
    if mutant.name in notes.all["verdicts"]:
        return Verdict(mutant, len(reaching), *notes.all["verdicts"][mutant.name])
    verdict = Verdict(mutant, len(reaching))
    hint = notes.all["killed_by"].get(mutant.name)

    def order(test):
        part, line = test.rank
        return part, test.label() != hint, test.seconds > SLOW, line, test.seconds
    for test in sorted(reaching, key=order):
        how, used = run_test(test, PATIENCE * test.seconds + A_WHILE, NEARFAR_MUTANT=mutant.name)
        verdict.seconds += used
        if how:
            verdict.killer, verdict.how = test.label(), how
            notes.note("killed_by", mutant.name, verdict.killer)
            break
    notes.note("verdicts", mutant.name, [verdict.killer, verdict.how, verdict.seconds])
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
    programs = sorted({program for _, program, _ in killers()})
    build(programs, options.jobs)
    tests = list_tests()
    notes = Notes(programs, options.fresh)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        say(f"running {len(tests)} tests without a mutant")
        wrong = [text for text in pool.map(lambda test: measure(test, notes), tests) if text]
        if wrong:
            raise SystemExit("\n".join(f"nearfar: error: {text}" for text in wrong))
        say(f"running {len(chosen)} mutants")
        verdicts = []
        for verdict in pool.map(lambda mutant: try_mutant(mutant, tests, notes), chosen):
            print(row(verdict), flush=True)
            verdicts.append(verdict)
    return 0 if report(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
