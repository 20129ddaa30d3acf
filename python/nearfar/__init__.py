"""nearfar simulates the memory system of machines with several GPUs.

    import nearfar

    result = nearfar.run("MT", size="small", system="mmu-4gpu")
    result["gpus.l2_tlb.hits"]

    comparison = nearfar.compare(["MT", "PR"], size="small", design=["baseline", "idyll"], system="mmu-4gpu")
    comparison.frame()
    nearfar.plot.bars(comparison)

The words are those of the command line: what `nearfar run` calls `--system`, `--design`, `--set`, `--size` and `--param`
is `system`, `design`, `set`, `size` and `param` here, with the same defaults, and a result is the same to the last bit.
Runs are processes of their own, one for each core, and results are kept in a store (`nearfar.db`), so that the same run
is never made twice. A mistake is an `InputError` with the sentence that the command line has for it. docs/python.md has
examples of everything.
"""

from __future__ import annotations

from . import plot
from ._nearfar import InputError, SimulationError, StoreError
from ._nearfar import model_version, version
from .accesses import KINDS, Buffer, accesses, buffers, characterize
from .catalogue import (
    Design,
    Mix,
    Parameter,
    Statistic,
    StudyTitle,
    System,
    SystemTitle,
    Workload,
    WorkloadParameter,
    designs,
    mixes,
    statistics,
    studies,
    systems,
    workloads,
)
from .program import program_path
from .results import Comparison, Interval, Result, Results, read_store
from .runs import DEFAULT_STORE, compare, run, sweep
from .traces import Launch, Program, write_accesses

__version__ = version()
for _error in (InputError, SimulationError, StoreError):
    _error.__module__ = __name__  # where a person finds them
del _error

__all__ = [
    "Buffer",
    "Comparison",
    "DEFAULT_STORE",
    "Design",
    "InputError",
    "Interval",
    "KINDS",
    "Launch",
    "Mix",
    "Parameter",
    "Program",
    "Result",
    "Results",
    "SimulationError",
    "Statistic",
    "StoreError",
    "StudyTitle",
    "System",
    "SystemTitle",
    "Workload",
    "WorkloadParameter",
    "accesses",
    "buffers",
    "characterize",
    "compare",
    "designs",
    "mixes",
    "model_version",
    "plot",
    "program_path",
    "read_store",
    "run",
    "statistics",
    "studies",
    "sweep",
    "systems",
    "version",
    "workloads",
    "write_accesses",
]
