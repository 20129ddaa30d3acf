"""Runs: one, several side by side, or all combinations of what is varied."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from . import _nearfar
from .catalogue import System, settings_text
from .program import program_path
from .progress import Listener, ProgressBar
from .results import Comparison, Result, Results

DEFAULT_STORE = "nearfar.db"
DEFAULT_SYSTEM = "ideal-4gpu"

Settings = Mapping[str, object]
Path_ = str | os.PathLike[str]


def _words(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _many(value: object) -> list[object]:
    if isinstance(value, (str, System)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _refuse_repeated(what: str, names: Sequence[object]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise _nearfar.InputError(f"The {what} `{name}` is named twice.")


def _designs(first: str, second: str) -> str:
    """The designs of a System and of a call together."""
    named = [name for name in (first, second) if name != "baseline"]
    return "+".join(named) or "baseline"


def _machine(system: object, design: str, settings: Settings | None) -> tuple[str, str, list[str]]:
    if isinstance(system, System):
        return system.name, _designs(system.design, design), settings_text({**system.set, **(settings or {})})
    return str(system), design, settings_text(settings)


class _Planner:
    """Makes the runs of one call: what is common to all of them is checked and kept here."""

    def __init__(
        self, workloads: Sequence[str], size: str, param: Settings | None, input: Path_ | None, timing: str | None
    ) -> None:
        self._all = list(workloads)
        self._size = size
        self._parameters = settings_text(param) + _nearfar.timing_parameters(timing or "", self._all)
        self._input = "" if input is None else os.fspath(input)

    def run(
        self,
        workload: str,
        system: object,
        design: str,
        settings: Settings | None,
        seed: int,
        draw: int | None = None,
        parameters: Sequence[str] = (),
        size: str | None = None,
    ) -> _nearfar.NamedRun:
        name, designs, overrides = _machine(system, design, settings)
        own = _nearfar.parameters_for(workload, [*self._parameters, *parameters], self._all)
        return _nearfar.NamedRun(
            workload=workload,
            size=size or self._size,
            parameters=own,
            input=_nearfar.input_for(workload, self._input, self._all),
            system=name,
            designs=designs,
            overrides=overrides,
            seed=seed,
            draw=draw,
        )


def _draws(repeat: int, *settings: Settings | None) -> list[int | None]:
    if not 1 <= repeat <= 1000:
        raise _nearfar.InputError(f"repeat must be a whole number from 1 to 1000, not {repeat}.")
    if repeat == 1:
        return [None]
    if any("perturb.draw" in (each or {}) for each in settings):
        raise _nearfar.InputError(f"repeat={repeat} and a setting both decide `perturb.draw`; give one of them.")
    return list(range(repeat))


def _perform(
    runs: Sequence[_nearfar.NamedRun],
    *,
    store: Path_ | None,
    jobs: int,
    timeout: float,
    threads: int,
    check: bool,
    per_unit: bool,
    progress: bool | Listener,
) -> list[Result]:
    if threads < 1 or jobs < 0 or timeout < 0:
        raise _nearfar.InputError("threads must be at least 1, jobs and timeout at least 0.")
    if jobs == 0:
        jobs = max(1, (os.cpu_count() or 1) // threads)
    words = ["--threads", str(threads)]
    if check:
        words.append("--check")
    if per_unit:
        words.append("--per-unit")
    own_bar = ProgressBar() if progress is True else None
    listener: Listener | None = own_bar if progress is True else None if progress is False else progress
    # Nobody knows whether what is in a store was checked, and it has no statistics of single units.
    keep = store is not None and not check and not per_unit
    with tempfile.TemporaryDirectory(prefix="nearfar-") as folder:
        path = os.fspath(store) if keep and store is not None else str(Path(folder) / "results.db")
        try:
            texts, errors, interrupted = _nearfar.run_all(
                runs, path, program_path(), jobs, timeout, words, listener
            )
        finally:
            if own_bar is not None:
                own_bar.close()
    if interrupted:
        raise KeyboardInterrupt
    failed = [f"{run.label()}: {error}" for run, text, error in zip(runs, texts, errors) if text is None]
    if len(runs) == 1 and failed:
        raise _nearfar.SimulationError(errors[0])
    if failed:
        raise _nearfar.SimulationError(f"{len(failed)} of {len(runs)} runs failed:\n" + "\n".join(failed))
    return [Result(text) for text in texts if text is not None]


def run(
    workload: str,
    *,
    system: str | System = DEFAULT_SYSTEM,
    design: str = "baseline",
    set: Settings | None = None,
    size: str = "medium",
    param: Settings | None = None,
    seed: int = 1,
    input: Path_ | None = None,
    timing: str | None = None,
    threads: int = 1,
    check: bool = False,
    per_unit: bool = False,
    store: Path_ | None = DEFAULT_STORE,
    timeout: float = 0,
    progress: bool | Listener = True,
) -> Result:
    """One run, in a process of its own.

    workload: a workload; several as "FIR+KM", or a mix as "W1": one on each GPU; a trace as "trace:FILE"
    system: a name in systems/, a file that ends in .yaml, or a System
    design: what is changed in the machine; several as "a+b"
    set: values of the system by path, such as {"gpu.l2.size": "4MiB"}
    size: "small", "medium" or "paper"
    param: parameters of the workload, over its size, such as {"width": 1024}
    seed: of inputs that are drawn at random
    input: a file with a graph, for the workloads that take one
    timing: of traces, what passes time between memory operations: "program", "recorded" or "none"
    threads: to simulate on; the result is the same on any number
    check: check every access while it runs (slower)
    per_unit: statistics of every compute unit and of every pair of devices, too
    store: where results are kept and found again; None keeps nothing
    timeout: seconds that it may take; 0 is any time
    progress: a bar; or what is told how far it is; or False

    A mistake is an InputError, a run that fails a SimulationError.
    """
    planned = _Planner([workload], size, param, input, timing).run(workload, system, design, set, seed)
    return _perform(
        [planned],
        store=store,
        jobs=1,
        timeout=timeout,
        threads=threads,
        check=check,
        per_unit=per_unit,
        progress=progress,
    )[0]


def sweep(
    workloads: str | Sequence[str],
    *,
    system: str | System | Sequence[str | System] = DEFAULT_SYSTEM,
    design: str | Sequence[str] = "baseline",
    vary: Mapping[str, Sequence[object]] | None = None,
    set: Settings | None = None,
    size: str | Sequence[str] = "medium",
    param: Settings | None = None,
    seed: int | Sequence[int] = 1,
    repeat: int = 1,
    input: Path_ | None = None,
    timing: str | None = None,
    threads: int = 1,
    check: bool = False,
    per_unit: bool = False,
    store: Path_ | None = DEFAULT_STORE,
    jobs: int = 0,
    timeout: float = 0,
    progress: bool | Listener = True,
) -> Results:
    """Every combination of what is given several times, on all cores.

    vary: values by the path of a setting, or of a parameter of the workload as "param.width":
        {"gpu.l2.size": ["1MiB", "2MiB"], "param.width": [512, 1024]}
    repeat: how often each run is made, with small perturbations after the first time
    jobs: runs at once; 0 is one for each core, as memory allows

    Everything else is what `run` takes. The order is workload, system, design, size, seed, then `vary` from left to
    right, then repeats.
    """
    names = _words(workloads)
    _refuse_repeated("workload", names)
    if not names:
        raise _nearfar.InputError("`sweep` needs workloads.")
    varied = dict(vary or {})
    for key, values in varied.items():
        if isinstance(values, str) or not list(values):
            raise _nearfar.InputError(f"vary wants a list of values for `{key}`, such as [1, 2, 4].")
        if key in (set or {}):
            raise _nearfar.InputError(f"vary and set both decide `{key}`; give one of them.")
    draws = _draws(repeat, set, varied)
    planner = _Planner(names, _words(size)[0], param, input, timing)
    runs = []
    for workload, machine, designs, each_size, each_seed, *values in itertools.product(
        names, _many(system), _words(design), _words(size), _many(seed), *varied.values()
    ):
        settings: dict[str, object] = dict(set or {})
        parameters: dict[str, object] = {}
        for key, value in zip(varied, values):
            if key.startswith("param."):
                parameters[key.removeprefix("param.")] = value
            else:
                settings[key] = value
        for draw in draws:
            runs.append(
                planner.run(
                    workload,
                    machine,
                    designs,
                    settings,
                    int(str(each_seed)),
                    draw,
                    settings_text(parameters),
                    each_size,
                )
            )
    return Results(
        _perform(
            runs,
            store=store,
            jobs=jobs,
            timeout=timeout,
            threads=threads,
            check=check,
            per_unit=per_unit,
            progress=progress,
        )
    )


def _variants(
    systems: Sequence[object], designs: Sequence[str], vary: Mapping[str, Sequence[object]]
) -> list[tuple[str, object, str, dict[str, object]]]:
    """What differs between variants is in their labels, and what is varied, be it one value."""
    variants: list[tuple[str, object, str, dict[str, object]]] = []
    for system, design, *values in itertools.product(systems, designs, *vary.values()):
        settings = dict(zip(vary, values))
        label = []
        if len(systems) > 1:
            label.append(system.name if isinstance(system, System) else str(system))
        if len(designs) > 1 or (len(systems) == 1 and not settings):
            label.append(design)
        label += settings_text(settings)
        text = " ".join(label)
        if any(text == other[0] for other in variants):
            raise _nearfar.InputError(f"`{text}` is named twice; variants to compare must differ.")
        variants.append((text, system, design, settings))
    return variants


def compare(
    workloads: str | Sequence[str],
    *,
    system: str | System | Sequence[str | System] = DEFAULT_SYSTEM,
    design: str | Sequence[str] = "baseline",
    vary: Mapping[str, Sequence[object]] | None = None,
    set: Settings | None = None,
    size: str = "medium",
    param: Settings | None = None,
    seed: int = 1,
    repeat: int = 1,
    input: Path_ | None = None,
    timing: str | None = None,
    threads: int = 1,
    check: bool = False,
    per_unit: bool = False,
    store: Path_ | None = DEFAULT_STORE,
    jobs: int = 0,
    timeout: float = 0,
    progress: bool | Listener = True,
) -> Comparison:
    """Workloads on several systems, designs or settings, side by side; what comes first is what the others are measured
    against. All arguments are those of `run` and `sweep`."""
    names = _words(workloads)
    _refuse_repeated("workload", names)
    if not names:
        raise _nearfar.InputError("`compare` needs workloads.")
    varied = {key: _many(values) for key, values in (vary or {}).items()}
    for key in varied:
        if key in (set or {}):
            raise _nearfar.InputError(f"vary and set both decide `{key}`; give one of them.")
    draws = _draws(repeat, set, varied)
    variants = _variants(_many(system), _words(design), varied)
    planner = _Planner(names, size, param, input, timing)
    runs = [
        planner.run(workload, machine, designs, {**(set or {}), **settings}, seed, draw)
        for workload in names
        for _, machine, designs, settings in variants
        for draw in draws
    ]
    results = _perform(
        runs,
        store=store,
        jobs=jobs,
        timeout=timeout,
        threads=threads,
        check=check,
        per_unit=per_unit,
        progress=progress,
    )
    by_variant = [results[i : i + len(draws)] for i in range(0, len(results), len(draws))]
    by_workload = [by_variant[i : i + len(variants)] for i in range(0, len(by_variant), len(variants))]
    return Comparison(names, [label for label, *_ in variants], by_workload)
