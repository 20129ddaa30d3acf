#!/usr/bin/env python3
"""Checks Murphi models of the directories and of NMOESI with rumur.

  run.py [names…]             the models with small bounds, or all: line, hmg, rec, rec_bits, ideal, mutants (of these),
                              nmoesi, nmoesi_l2, nmoesi_mutants
  run.py --large [names…]     with large bounds, and the mutants of all organizations
  run.py --large --minutes 40 --gigabytes 6 [names…]
                              each model until then: how far it came is said, and it counts as a failure
  run.py --show NAME          prints a model as Murphi, or one with a mutant
  run.py --trace NAME         the shortest way to what goes wrong in a mutant

A model must hold all its properties, and each row of the transition table must be reached; of NMOESI's pairs of a state
and an event those that nmoesi_pairs.csv calls reached, and no others. A mutant must break each of the properties that
its list names.
"""

import argparse
import dataclasses
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the models
import model as models
import nmoesi
from model import Model, SAFETY
from nmoesi import Model as Nmoesi

LIVE = SAFETY + ("P6",)
IDEAL = SAFETY + ("P7",)

# By name: organization, lines, Q, T, I (directory.m says what they bound).
SMALL = {
    "line": [Model("line", 1, 2, 4, 2, properties=LIVE), Model("line", 2, 2, 2, 1)],
    "hmg": [Model("hmg", 2, 2, 2, 1, properties=LIVE)],
    "rec": [Model("rec", 2, 2, 2, 1)],
    "rec_bits": [Model("rec_bits", 2, 1, 1, 1, properties=LIVE)],
    "ideal": [Model("ideal", 1, 2, 4, 1, properties=IDEAL)],
    "nmoesi": [Nmoesi("nmoesi", "shared", ("llc", "boundary"), pairs="all"),
               Nmoesi("nmoesi", "any_sharer", ("boundary",), properties=nmoesi.LIVE)],
    "nmoesi_l2": [Nmoesi("nmoesi_l2", "shared", ("lean", "cpu"), t=1, pairs="impossible")],
}
LARGE = {
    "line": [Model("line", 1, 3, 6, 2), Model("line", 1, 2, 4, 1, gpus=3), Model("line", 2, 2, 3, 1)],
    "hmg": [Model("hmg", 2, 2, 4, 1), Model("hmg", 2, 3, 3, 2)],
    "rec": [Model("rec", 2, 2, 2, 1, properties=LIVE), Model("rec", 2, 2, 3, 1)],
    "rec_bits": [Model("rec_bits", 2, 2, 2, 1)],
    "ideal": [Model("ideal", 1, 3, 6, 2, properties=IDEAL), Model("ideal", 2, 2, 2, 1, properties=IDEAL)],
    "nmoesi": [Nmoesi("nmoesi", name, ("llc", "boundary"), pairs="all") for name in nmoesi.CONFIGURATIONS],
    "nmoesi_l2": [Nmoesi("nmoesi_l2", "shared", ("lean", "cpu"), t=2, pairs="all"),
                  Nmoesi("nmoesi_l2", "keep", ("lean", "cpu"), t=1),
                  Nmoesi("nmoesi_l2", "invalidate", ("lean", "cpu"), t=1),
                  Nmoesi("nmoesi_l2", "shared", t=1, pairs="impossible")],
}
# To compile: a mutant's error is near, and what takes minutes is three times as fast if everything is inlined.
MUTANT = ["-O0"]
FAST = ["-O2"]
FASTER = ["-O2", "-fwhole-program", *("--param=" + limit for limit in (
    "inline-unit-growth=1000", "max-inline-insns-single=2000", "max-inline-insns-auto=500",
    "large-function-growth=2000"))]
# Mutants show themselves early.
MUTANTS = {
    "line": Model("line", 1, 2, 2, 1),
    "hmg": Model("hmg", 2, 2, 2, 1),
    "rec": Model("rec", 2, 2, 2, 1),
    "rec_bits": Model("rec_bits", 2, 2, 2, 1),
}


@dataclasses.dataclass
class Verdict:
    error: str  # what went wrong first, or nothing
    states: int
    seconds: float  # of processor time
    output: str
    ended: bool = True


@dataclasses.dataclass(frozen=True)
class Limits:
    """Of one model."""
    seconds: int | None = None  # of processor time
    bytes: int | None = None

    def restrict(self):
        if self.seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds))
        if self.bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self.bytes, self.bytes))


def say(text):
    print(f"nearfar: {text}", file=sys.stderr, flush=True)


def fail(text):
    say(f"error: {text}")
    sys.exit(2)


# ----------------------------------------------------------------------------------------------------------- one model


def check(model, optimize, trace=False, limits=Limits()):
    """The verifier that rumur writes is C."""
    with tempfile.TemporaryDirectory(prefix="nearfar-model-") as folder:
        source, code, verifier = (pathlib.Path(folder) / name for name in ("directory.m", "directory.c", "verifier"))
        source.write_text(model.text())
        options = [] if trace else ["--counterexample-trace", "off", "--scalarset-schedules", "off"]
        run(["rumur", "--quiet", "--threads", "1", *options, "--output", str(code), str(source)])
        wide = ["-mcx16"] if platform.machine() == "x86_64" else []
        run(["cc", "-w", *optimize, *wide, "-o", str(verifier), str(code), "-lpthread"])
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        output, stopped = explore(verifier, limits)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    found = re.search(r"(\d+) states, \d+ rules fired", output)
    if stopped and not found:
        seen = re.findall(r"(\d+) states explored", output)
        return Verdict(stopped, int(seen[-1]) if seen else 0, seconds, output, ended=False)
    if not found or int(found[1]) == 0:
        fail(f"the verifier of {model.organization} did not come to an end:\n{output[-1000:]}")
    return Verdict(error_in(output), int(found[1]), seconds, output)


def explore(verifier, limits):
    """What it printed, and why it was stopped, if it was."""
    with tempfile.TemporaryFile("w+") as printed:
        verifying = subprocess.Popen(["stdbuf", "-oL", str(verifier)], stdout=printed, stderr=printed,
                                     preexec_fn=limits.restrict)
        verifying.wait()
        printed.seek(0)
        output = printed.read()
    stopped = ""
    if verifying.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and limits.seconds is not None:
        stopped = f"stopped after {limits.seconds / 60:g} minutes"
    if limits.bytes is not None and verifying.returncode != 0 and "memory" in output:
        stopped = f"stopped: more than {limits.bytes / 1e9:g} GB"
    return output, stopped


def error_in(output):
    if "No error found." in output:
        return ""
    for pattern in (r"error trace for the error:\s*(.*)", r"(.*not hit.*)", r"(.*violated.*)"):
        if found := re.search(pattern, output):
            return found[1].strip()
    return output


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


# ------------------------------------------------------------------------------------------------------------ all of it


def check_models(bounds, optimize, limits):
    """Whether all hold."""
    wrong = 0
    for model in bounds:
        verdict = check(model, optimize, limits=limits)
        wrong += verdict.error != ""
        print(f"{model.organization}: {model.bounds()}: {' '.join(model.checked())}: {verdict.states:,} states, "
              f"{verdict.seconds:.0f} s: {verdict.error or 'holds'}", flush=True)
        if verdict.error and verdict.ended:
            print(way(check(model, optimize, trace=True)), flush=True)
    return wrong == 0


def mutant_base(organization):
    """A model of a directory by its name, or one of NMOESI by its file, configuration and parts: nmoesi:shared:llc."""
    if ":" not in organization:
        return MUTANTS[organization]
    file, configuration, *parts = organization.split(":")
    return Nmoesi(file, configuration, tuple(parts), t=1)


def mutant_models(mutant, everywhere):
    """A mutant in the models that it is for, with one property each."""
    organizations = mutant.organizations if everywhere else mutant.organizations[:1]
    return [dataclasses.replace(mutant_base(organization), properties=(name,), mutant=mutant)
            for organization in organizations for name in mutant.found]


def first_of_each_property(mutants):
    """Of a long list: for each property the first mutant that it must find, so that it is seen to be able to."""
    seen, chosen = set(), []
    for mutant in mutants:
        found = tuple(name for name in mutant.found if name not in seen)
        seen.update(found)
        if found:
            chosen.append(dataclasses.replace(mutant, found=found))
    return chosen


def check_mutants(mutants, everywhere):
    """Whether all are found."""
    missed = 0
    for mutant in mutants:
        for model in mutant_models(mutant, everywhere):
            verdict = check(model, MUTANT, trace=True)
            found = re.search(rf"\b{model.properties[0]}\b", verdict.error) is not None
            missed += not found
            print(f"{mutant.name}: {model.organization}: {model.properties[0]}: {steps(verdict)} steps, "
                  f"{verdict.states:,} states: {'found' if found else 'NOT FOUND ' + verdict.error}", flush=True)
    if missed:
        say(f"error: {missed} mutants are not found by the properties that their list names")
    return missed == 0


def steps(verdict):
    return len(re.findall(r"^Rule .* fired\.$", verdict.output, re.MULTILINE))


def way(verdict):
    """To what went wrong, without the verifier's reports of its progress."""
    return re.sub(r"(?s)^.*?(?=The following is the error trace)", "", verdict.output)


def chosen(name):
    """A model by its name, or the first one with that mutant."""
    if name in SMALL:
        return SMALL[name][0]
    for mutant in models.read_mutants() + nmoesi.mutants():
        if mutant.name == name:
            return mutant_models(mutant, False)[0]
    fail(f"no model or mutant is called {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of models; all unless given")
    parser.add_argument("--large", action="store_true", help="large bounds: some minutes to an hour")
    parser.add_argument("--minutes", type=float, help="stop each model after so much processor time")
    parser.add_argument("--gigabytes", type=float, help="stop each model that wants more memory")
    parser.add_argument("--show", metavar="NAME", help="print a model, or one with a mutant")
    parser.add_argument("--trace", metavar="NAME", help="print the shortest way to what goes wrong in a mutant")
    arguments = parser.parse_args()
    lists = {"mutants": models.read_mutants(), "nmoesi_mutants": nmoesi.mutants()}
    if not arguments.large:
        lists["nmoesi_mutants"] = first_of_each_property(lists["nmoesi_mutants"])
    bounds, optimize = (LARGE, FASTER) if arguments.large else (SMALL, FAST)
    names = arguments.names or [*bounds, *lists]
    for name in names:
        if name not in bounds and name not in lists:
            fail(f"no model is called {name}; there are {', '.join([*bounds, *lists])}")
    if arguments.show:
        print(chosen(arguments.show).text(), end="")
        return 0
    for program in ("rumur", "cc"):
        if not shutil.which(program):
            fail(f"{program} is not installed (cmake/packages.txt)")
    if arguments.trace:
        print(way(check(chosen(arguments.trace), MUTANT, trace=True)))
        return 0
    limits = Limits(arguments.minutes and int(arguments.minutes * 60),
                    arguments.gigabytes and int(arguments.gigabytes * 1e9))
    right = [check_mutants(lists[name], arguments.large) if name in lists
             else check_models(bounds[name], optimize, limits)
             for name in names]
    return 0 if all(right) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except models.Wrong as wrong:
        fail(str(wrong))
