"""What there is: workloads, systems, designs, statistics, studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _nearfar
from . import program as _program  # noqa: F401  tells where the folders are


@dataclass(frozen=True)
class WorkloadParameter:
    """A parameter of a workload, and its value in each size."""

    name: str
    sentence: str
    small: int
    medium: int
    paper: int


@dataclass(frozen=True)
class Workload:
    """A program that can be run."""

    name: str
    title: str
    suite: str
    sentence: str
    parameters: tuple[WorkloadParameter, ...]
    footprint: Mapping[str, int]
    """Bytes of all buffers, by size."""
    accesses: Mapping[str, int]
    """Lines touched, by size, instruction by instruction."""


@dataclass(frozen=True)
class Mix:
    """Applications that run together, one on each GPU."""

    name: str
    workloads: tuple[str, ...]
    classes: str
    """How often each misses in the TLBs."""


@dataclass(frozen=True)
class SystemTitle:
    """A system that can be named."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Design:
    """A named change to the baseline machine."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Statistic:
    """A number that results have."""

    name: str
    unit: str
    sentence: str


@dataclass(frozen=True)
class StudyTitle:
    """A study of the folder studies/."""

    name: str
    title: str


def workloads() -> list[Workload]:
    """All workloads, by name."""
    return [
        Workload(
            each["name"],
            each["title"],
            each["suite"],
            each["sentence"],
            tuple(WorkloadParameter(**parameter) for parameter in each["parameters"]),
            each["footprint"],
            each["accesses"],
        )
        for each in _nearfar.list_workloads()
    ]


def mixes() -> list[Mix]:
    """The mixes, which can be run like workloads."""
    return [Mix(each["name"], tuple(each["workloads"]), each["classes"]) for each in _nearfar.list_mixes()]


def systems() -> list[SystemTitle]:
    """The systems of the folder systems/."""
    return [SystemTitle(*each) for each in _nearfar.list_systems()]


def designs() -> list[Design]:
    """The designs, the baseline first."""
    return [Design(*each) for each in _nearfar.list_designs()]


def statistics() -> list[Statistic]:
    """Every statistic that a result can have, with its unit and what it means."""
    return [Statistic(*each) for each in _nearfar.list_statistics()]


def studies() -> list[StudyTitle]:
    """The studies of the folder studies/."""
    return [StudyTitle(*each) for each in _nearfar.list_studies()]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a system, as `nearfar explain` shows it."""

    path: str
    value: str
    typed: str
    """What was written where the clock made the value of it, such as 106.7ns; else empty."""
    default: str
    unit: str
    range: str
    sentence: str
    origin: str
    """Where the value comes from: the default, a line of a file, `--set`."""


def settings_text(settings: Mapping[str, object] | None) -> list[str]:
    """Settings as `--set` and `--param` take them."""
    texts = []
    for name, value in (settings or {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        texts.append(f"{name}={text}")
    return texts


@dataclass(frozen=True)
class System:
    """A machine: a system of systems/ or a file that ends in .yaml, with designs and settings. It is read and checked
    when it is made.

        system = nearfar.System("ats-4gpu", design="least-tlb", set={"iommu.walkers": 16})
        system["iommu.walkers"]
        nearfar.run("MT", system=system.override({"gpus": 2}))
    """

    name: str = "ideal-4gpu"
    design: str = "baseline"
    set: Mapping[str, object] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(init=False, repr=False, compare=False)
    """All parameters, in the order in which they are declared, by path."""

    def __post_init__(self) -> None:
        read: list[dict[str, Any]] = _nearfar.parameters_of(self.name, self.design, settings_text(self.set))
        object.__setattr__(self, "set", dict(self.set))
        object.__setattr__(self, "parameters", {each["path"]: Parameter(**each) for each in read})

    def __getitem__(self, path: str) -> str:
        """The value of a parameter, as a person writes it."""
        if path not in self.parameters:
            System(self.name, self.design, {**self.set, path: ""})  # whose mistake has the nearest right name
        return self.parameters[path].value

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters.values())

    def override(self, settings: Mapping[str, object]) -> System:
        """The same machine with other settings over those it has."""
        return System(self.name, self.design, {**self.set, **settings})

    def with_design(self, design: str) -> System:
        """The same machine with other designs."""
        return System(self.name, design, self.set)

    def changed(self) -> list[Parameter]:
        """The parameters that differ from their defaults."""
        return [each for each in self if each.value != each.default]
