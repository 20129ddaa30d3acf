"""What a workload does to memory: its accesses one by one, and in numbers. No machine, no time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _nearfar
from . import program as _program  # noqa: F401  tells where the folders are
from .catalogue import settings_text

if TYPE_CHECKING:
    import numpy

KINDS: tuple[str, ...] = _nearfar.KINDS
"""What the numbers of the field `kind` mean: load, store, atomic, scalar load."""


@dataclass(frozen=True)
class Buffer:
    """A range of addresses that a workload allocates."""

    name: str
    address: int
    bytes: int


def buffers(
    workload: str,
    *,
    size: str = "medium",
    param: Mapping[str, object] | None = None,
    seed: int = 1,
    input: str | os.PathLike[str] | None = None,
) -> list[Buffer]:
    """The buffers of a workload, or of a trace as "trace:FILE", by address."""
    return [Buffer(*each) for each in _reader(workload, size, param, seed, input).buffers()]


def accesses(
    workload: str,
    *,
    size: str = "medium",
    param: Mapping[str, object] | None = None,
    seed: int = 1,
    input: str | os.PathLike[str] | None = None,
    gpus: int = 4,
    cus_per_gpu: int = 64,
    lanes: int = 64,
    rows: int = 1 << 20,
) -> Iterator[numpy.ndarray[Any, Any]]:
    """The accesses of a workload, or of a trace as "trace:FILE", as structured NumPy arrays of about `rows` rows.

    A row is what one lane touches:

    address, bytes: where, and how much
    kind: place in `nearfar.KINDS`
    launch, workgroup, wavefront, lane: who
    instruction: instructions of the wavefront before this one, arithmetic and all
    gpu: which of `gpus` GPUs runs the workgroup, as the program splits its launches

    The order is launches, workgroups, wavefronts. `pandas.DataFrame(array)` makes a frame of each array.
    """
    if rows < 1:
        raise _nearfar.InputError("rows must be at least 1.")
    return _blocks(_reader(workload, size, param, seed, input, gpus, cus_per_gpu, lanes), rows)


def _reader(
    workload: str,
    size: str,
    param: Mapping[str, object] | None,
    seed: int,
    input: str | os.PathLike[str] | None,
    gpus: int = 1,
    cus_per_gpu: int = 64,
    lanes: int = 64,
) -> _nearfar.AccessReader:
    return _nearfar.AccessReader(
        workload=workload,
        size=size,
        parameters=settings_text(param),
        seed=seed,
        input="" if input is None else os.fspath(input),
        gpus=gpus,
        cus_per_gpu=cus_per_gpu,
        lanes=lanes,
    )


def _blocks(reader: _nearfar.AccessReader, rows: int) -> Iterator[numpy.ndarray[Any, Any]]:
    while True:
        block = reader.next(rows)
        if len(block) == 0:
            return
        yield block


def characterize(
    workload: str,
    *,
    size: str = "medium",
    param: Mapping[str, object] | None = None,
    seed: int = 1,
    input: str | os.PathLike[str] | None = None,
    gpus: int = 4,
    resident: int = 256,
) -> dict[str, Any]:
    """What a workload does to memory, as `nearfar characterize --json` writes it: counts, footprint, sharing among
    GPUs, buffers, reuse distances, strides. `resident` wavefronts take turns on a GPU."""
    text = _nearfar.characterize(
        workload=workload,
        size=size,
        parameters=settings_text(param),
        seed=seed,
        input="" if input is None else os.fspath(input),
        gpus=gpus,
        resident=resident,
    )
    return dict(json.loads(text))
