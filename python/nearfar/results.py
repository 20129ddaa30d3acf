"""Results: of one run, of many, and of a comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import _nearfar

if TYPE_CHECKING:
    import pandas

Number = int | float


def _frame(records: list[dict[str, Any]], columns: Sequence[str] | None = None) -> pandas.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("A frame needs pandas (python3-pandas); dicts() gives the same without it.") from None
    return pd.DataFrame(records, columns=None if columns is None else list(columns))


class Result:
    """The complete result of one run, as `nearfar run --json` writes it."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The JSON, byte for byte as the run wrote it."""
        self.json: Mapping[str, Any] = json.loads(text)

    @property
    def key(self) -> str:
        """What the store finds it by: a hash of all that it depends on."""
        return str(self.json["key"])

    @property
    def workload(self) -> str:
        return str(self.json["workload"])

    @property
    def size(self) -> str:
        return str(self.json["size"])

    @property
    def system(self) -> str:
        return str(self.json["system"])

    @property
    def design(self) -> str:
        """The designs as `--design` takes them: "baseline", "a+b"."""
        return "+".join(self.json["designs"]) or "baseline"

    @property
    def seed(self) -> int:
        return int(self.json["seed"])

    @property
    def cycles(self) -> int:
        """Simulated time, in cycles of the GPUs."""
        return int(self.json["cycles"])

    @property
    def instructions(self) -> int:
        """Instructions of wavefronts."""
        return int(self.json["instructions"])

    @property
    def accesses(self) -> int:
        """Lines that vector memory instructions touched, instruction by instruction."""
        return int(self.json["accesses"])

    @property
    def host_seconds(self) -> float:
        """How long it took to simulate."""
        return float(self.json["host_seconds"])

    @property
    def parameters(self) -> Mapping[str, int]:
        """The parameters of the workload; of several applications with the name of each in front."""
        parameters: Mapping[str, int] = self.json["parameters"]
        return parameters

    @property
    def configuration(self) -> Mapping[str, str]:
        """Every parameter of the machine, as a person writes it."""
        configuration: Mapping[str, str] = self.json["configuration"]
        return configuration

    @property
    def applications(self) -> Sequence[Mapping[str, Any]]:
        """What each application was and did: workload, gpus, parameters, cycles, instructions, accesses, launches."""
        applications: Sequence[Mapping[str, Any]] = self.json["applications"]
        return applications

    @property
    def launches(self) -> Sequence[Mapping[str, Any]]:
        """Each kernel launch: application, kernel, start, end, instructions, accesses."""
        launches: Sequence[Mapping[str, Any]] = self.json["launches"]
        return launches

    @property
    def series(self) -> Mapping[str, Any]:
        """Values over time, where the run was to note some."""
        return self.json.get("series", {})

    @property
    def statistics(self) -> Mapping[str, Number]:
        """Every statistic, by name; `nearfar.statistics()` says what they mean."""
        statistics: Mapping[str, Number] = self.json["statistics"]
        return statistics

    def __getitem__(self, name: str) -> Number:
        """A statistic. An InputError names the nearest right one."""
        value = self.statistics.get(name)
        if value is None:
            raise _nearfar.InputError(f"The result has no statistic `{name}`.{_nearfar.nearest_statistic(name)}")
        return value

    def __repr__(self) -> str:
        return f"<Result {self.workload} {self.size} on {self.system}, {self.design}: {self.cycles:,} cycles>"


class Results(Sequence[Result]):
    """Results of many runs, in the order in which they were asked for."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = list(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Results: ...

    def __getitem__(self, index: int | slice) -> Result | Results:
        if isinstance(index, slice):
            return Results(self._results[index])
        return self._results[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return f"<{len(self)} results>"

    def dicts(self) -> list[dict[str, Any]]:
        """A dictionary a run, as `nearfar export --jsonl` has them: what ran on what, the parameters in which the runs
        differ (`set.…` of the machine, `param.…` of the workload), and every statistic."""
        columns, rows = _nearfar.table_of([each.text for each in self])
        return [{name: cell for name, cell in zip(columns, row) if cell is not None} for row in rows]

    def frame(self) -> pandas.DataFrame:
        """The same as a DataFrame, a row a run, ordered as `nearfar export` orders them."""
        columns, _ = _nearfar.table_of([each.text for each in self])
        return _frame(self.dicts(), columns)


@dataclass(frozen=True)
class Interval:
    """A speedup: the mean over repeats, and the ends of its 95 % interval (the mean itself without repeats)."""

    speedup: float
    low: float
    high: float
    within_noise: bool
    """Whether it cannot be told from no effect."""


class Comparison:
    """Every workload on every variant of the machine, and how the variants do against the first."""

    def __init__(
        self,
        workloads: Sequence[str],
        variants: Sequence[str],
        results: Sequence[Sequence[Sequence[Result]]],
    ) -> None:
        self.workloads = tuple(workloads)
        self.variants = tuple(variants)
        """What the variants are called; the others are measured against the first."""
        self._results = results
        self.repeats = len(results[0][0])
        measured, means = _nearfar.compare([[self._cycles(draws) for draws in row] for row in results])
        self._measured: list[list[tuple[dict[str, Any], list[dict[str, Any]]]]] = measured
        self.geometric_means: Mapping[str, Interval] = {
            variant: Interval(**mean) for variant, mean in zip(self.variants, means)
        }
        """Of all workloads, by variant."""

    @staticmethod
    def _cycles(draws: Sequence[Result]) -> tuple[list[int], list[list[int]]]:
        parts = draws[0].applications
        applications = (
            [[int(draw.applications[i]["cycles"]) for draw in draws] for i in range(len(parts))] if len(parts) > 1 else []
        )
        return [draw.cycles for draw in draws], applications

    @property
    def results(self) -> Results:
        """All results: by workload, by variant, by repeat."""
        return Results(result for row in self._results for draws in row for result in draws)

    def result(self, workload: str, variant: str) -> Result:
        """One result; of repeated runs the first, which is the run as it is."""
        return self._results[self.workloads.index(workload)][self.variants.index(variant)][0]

    def speedup(self, workload: str, variant: str) -> Interval:
        """Cycles of the first variant over those of this one."""
        measured = self._measured[self.workloads.index(workload)][self.variants.index(variant)][0]
        return Interval(**{name: measured[name] for name in ("speedup", "low", "high", "within_noise")})

    def dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each workload on each variant: workload, variant, cycles, speedup, low, high,
        within_noise."""
        return [
            {"workload": workload, "variant": variant, **measured}
            for workload, row in zip(self.workloads, self._measured)
            for variant, (measured, _) in zip(self.variants, row)
        ]

    def frame(self) -> pandas.DataFrame:
        """The same as a DataFrame."""
        return _frame(self.dicts())

    def application_dicts(self) -> list[dict[str, Any]]:
        """Likewise for each application of the workloads that are several, with gpu and application."""
        out = []
        for w, row in enumerate(self._measured):
            for v, (_, applications) in enumerate(row):
                for gpu, measured in enumerate(applications):
                    name = self._results[w][v][0].applications[gpu]["workload"]
                    place = {"workload": self.workloads[w], "gpu": gpu, "application": name}
                    out.append({**place, "variant": self.variants[v], **measured})
        return out

    def application_frame(self) -> pandas.DataFrame:
        """The same as a DataFrame."""
        return _frame(self.application_dicts())

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.workloads)} on {', '.join(self.variants)}>"


def read_store(path: str | os.PathLike[str] = "nearfar.db", *, all_models: bool = False) -> Results:
    """The results of a store: those of this version of the model, or of all versions. What made it, `nearfar study`,
    `nearfar compare` or this package, does not matter."""
    return Results(Result(text) for text in _nearfar.read_store(os.fspath(path), all_models))
