"""Programs written in Python, as trace files that `nearfar run trace:FILE` runs (docs/traces.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _nearfar

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Addresses = numpy.typing.ArrayLike

TRACE_PREFIX = "trace:"


class Launch:
    """A kernel launch, written an instruction at a time for all of its items: addresses are arrays with an element for
    each item. Items i to i + lanes - 1 are a wavefront. A wavefront of which no item takes part in an access leaves it
    out."""

    def __init__(self, builder: _nearfar.TraceBuilder, items: int, padded: int) -> None:
        self._builder = builder
        self._padded = padded
        self.items = items

    def _access(self, kind: str, addresses: Addresses, bytes: int, where: Addresses | None) -> Launch:
        import numpy as np

        given = np.asarray(addresses)
        if given.dtype.kind not in "iu":
            raise _nearfar.InputError(f"Addresses are whole numbers; the array has {given.dtype}.")
        if given.dtype.kind == "i" and given.size and int(given.min()) < 0:
            raise _nearfar.InputError("An address is negative; `where` leaves items out.")
        given = np.broadcast_to(given.astype(np.uint64), given.shape or (self.items,)).ravel()
        if len(given) != self.items:
            raise _nearfar.InputError(f"The launch has {self.items} items, and the array has {len(given)} addresses.")
        padded = np.full(self._padded, _nearfar.IDLE, dtype=np.uint64)
        padded[: self.items] = given
        if where is not None:
            mask = np.broadcast_to(np.asarray(where, dtype=bool).ravel(), (self.items,))
            padded[: self.items][~mask] = _nearfar.IDLE
        self._builder.access(kind, bytes, padded)
        return self

    def load(self, addresses: Addresses, bytes: int = 4, where: Addresses | None = None) -> Launch:
        """Each item loads `bytes` from its address; with `where`, only the items for which it is true."""
        return self._access("load", addresses, bytes, where)

    def store(self, addresses: Addresses, bytes: int = 4, where: Addresses | None = None) -> Launch:
        """Each item stores `bytes` at its address."""
        return self._access("store", addresses, bytes, where)

    def atomic(self, addresses: Addresses, bytes: int = 4, where: Addresses | None = None) -> Launch:
        """Each item makes an atomic operation on `bytes` at its address."""
        return self._access("atomic", addresses, bytes, where)

    def scalar_load(self, address: int, bytes: int = 4) -> Launch:
        """Each wavefront loads `bytes` from one address."""
        self._builder.scalar_load(bytes, int(address))
        return self

    def _other(self, kind: str, count: int) -> Launch:
        self._builder.other(kind, count)
        return self

    def valu(self, instructions: int = 1) -> Launch:
        """Vector arithmetic."""
        return self._other("valu", instructions)

    def salu(self, instructions: int = 1) -> Launch:
        """Scalar arithmetic and branches."""
        return self._other("salu", instructions)

    def local(self, instructions: int = 1) -> Launch:
        """Instructions of local memory."""
        return self._other("local", instructions)

    def barrier(self) -> Launch:
        """All wavefronts of a workgroup meet."""
        return self._other("barrier", 1)

    def wait(self, outstanding: int = 0) -> Launch:
        """Until at most so many loads are outstanding."""
        return self._other("wait", outstanding)

    def fence(self, scope: str = "system") -> Launch:
        """Release and acquire: "workgroup", "gpu" or "system"."""
        scopes = ("workgroup", "gpu", "system")
        if scope not in scopes:
            raise _nearfar.InputError(f"The scope of a fence is one of {', '.join(scopes)}, not `{scope}`.")
        return self._other("fence", scopes.index(scope))


class Program:
    """A program: buffers, and steps over them one after the other.

        program = nearfar.Program("saxpy")
        n = 1 << 16
        x, y = program.buffer("x", 4 * n), program.buffer("y", 4 * n)
        i = numpy.arange(n)
        program.launch("saxpy", n).load(x + 4 * i).load(y + 4 * i).wait().valu(2).store(y + 4 * i)
        nearfar.run(program.write("saxpy.nft"))

    Without any buffer the pages that are touched are buffers, and addresses may be any.
    """

    def __init__(self, name: str = "python", *, lanes: int = 64) -> None:
        self._builder = _nearfar.TraceBuilder(name, lanes)

    def buffer(self, name: str, bytes: int, placement: str = "distribute") -> int:
        """Allocates a buffer and returns its address. placement: "distribute" (a part on each GPU), "interleave" (page
        by page), "private" (a copy on each GPU) or "host"."""
        return self._builder.buffer(name, bytes, placement)

    def launch(
        self, kernel: str, items: int, *, workgroup: int = 256, local_bytes: int = 0, split: str = "offset"
    ) -> Launch:
        """A kernel over `items` items, in workgroups of `workgroup`. split says which workgroups go to which GPU:
        "offset", "blocks", "round_robin" or "greedy"."""
        if items < 1 or workgroup < 1:
            raise _nearfar.InputError(f"The launch `{kernel}` has no items.")
        groups = (items + workgroup - 1) // workgroup
        padded = self._builder.launch(kernel, groups, workgroup, local_bytes, split)
        return Launch(self._builder, items, padded)

    def copy_in(self, buffer: str) -> None:
        """The host's DMA copies a buffer in from memory of its own."""
        self._builder.copy_in(buffer)

    def copy_out(self, buffer: str) -> None:
        """The host's DMA copies a buffer out."""
        self._builder.copy_out(buffer)

    def host(self, cycles: int) -> None:
        """The host computes for so long, and the GPUs wait."""
        self._builder.host(cycles)

    def write(self, path: str | os.PathLike[str]) -> str:
        """Writes the trace file and returns the name by which it is run, "trace:FILE". The file is complete or not
        there."""
        self._builder.write(os.fspath(path))
        return TRACE_PREFIX + os.fspath(path)


def write_accesses(
    path: str | os.PathLike[str],
    accesses: Any,
    *,
    source: str = "python",
    lanes: int = 64,
    kernels: Sequence[str] | None = None,
) -> str:
    """Writes accesses as a trace file and returns the name by which it is run.

    accesses: an array of addresses, of which the first `lanes` are the lanes of the first wavefront and so on, four
        wavefronts a workgroup; or what has columns: a structured array such as `nearfar.accesses` yields, a DataFrame,
        or a mapping of arrays. `address` is needed; the others are `bytes` (4), `kind` (a number of `nearfar.KINDS` or
        a name of them; load), `launch`, `workgroup`, `wavefront`, `instruction` (0) and `lane` (0). Rows of a wavefront
        with the same instruction are its lanes. With `gpu` each workgroup has its GPU, which holds where
        `dispatch.policy` is `workload`.
    kernels: names of the launches

    Buffers are the pages that are touched. Nothing stands between accesses: no arithmetic, no waits.
    """
    import numpy as np

    columns = _columns(accesses, lanes)
    builder = _nearfar.TraceBuilder(source, lanes)
    order = np.lexsort([columns[name] for name in ("lane", "instruction", "wavefront", "workgroup", "launch")])
    columns = {name: column[order] for name, column in columns.items()}
    for number in np.unique(columns["launch"]):
        rows = {name: column[columns["launch"] == number] for name, column in columns.items()}
        kernel = f"kernel{number}" if kernels is None else str(kernels[int(number)])
        gpus = _places(rows) if "gpu" in rows else None
        builder.log(
            kernel,
            rows["workgroup"],
            rows["wavefront"],
            rows["instruction"],
            rows["lane"],
            rows["kind"],
            rows["bytes"],
            rows["address"],
            gpus,
        )
    builder.write(os.fspath(path))
    return TRACE_PREFIX + os.fspath(path)


_TYPES = {
    "address": "u8",
    "workgroup": "u8",
    "launch": "u4",
    "wavefront": "u4",
    "instruction": "u4",
    "lane": "u1",
    "kind": "u1",
    "bytes": "u1",
}
_WAVEFRONTS = 4
"""Of a workgroup, where nothing but addresses is given."""


def _columns(accesses: Any, lanes: int) -> dict[str, Any]:
    import numpy as np

    if isinstance(accesses, np.ndarray) and accesses.dtype.names:
        given: dict[str, Any] = {name: accesses[name] for name in accesses.dtype.names}
    elif isinstance(accesses, Mapping) or hasattr(accesses, "columns"):
        given = {str(name): np.asarray(accesses[name]) for name in accesses}
    else:
        address = np.asarray(accesses)
        i = np.arange(address.size)
        given = {
            "address": address.ravel(),
            "lane": i % lanes,
            "wavefront": i // lanes % _WAVEFRONTS,
            "workgroup": i // (lanes * _WAVEFRONTS),
        }
    if "address" not in given:
        raise _nearfar.InputError("Accesses need a column `address`.")
    rows = len(given["address"])
    if rows == 0:
        raise _nearfar.InputError("There are no accesses.")
    if "kind" in given and given["kind"].dtype.kind in "OUS":
        given["kind"] = _kinds(given["kind"])
    columns = {}
    for name, type_ in [*_TYPES.items(), ("gpu", "u2")]:
        if name == "gpu" and "gpu" not in given:
            continue
        column = given.get(name, np.full(rows, 4 if name == "bytes" else 0))
        if len(column) != rows or column.dtype.kind not in "iu":
            raise _nearfar.InputError(f"The column `{name}` is to have {rows} whole numbers.")
        limit = np.iinfo(type_).max
        if int(column.min()) < 0 or int(column.max()) > limit:
            raise _nearfar.InputError(f"The column `{name}` has numbers that are not from 0 to {limit}.")
        columns[name] = column.astype(type_)
    if int(columns["kind"].max()) >= len(_nearfar.KINDS):
        raise _nearfar.InputError(f"A kind is a number from 0 to {len(_nearfar.KINDS) - 1}.")
    return columns


def _kinds(names: Any) -> Any:
    import numpy as np

    known = {name: number for number, name in enumerate(_nearfar.KINDS)}
    for name in np.unique(names):
        if str(name) not in known:
            raise _nearfar.InputError(f"A kind is one of {', '.join(_nearfar.KINDS)}, not `{name}`.")
    return np.array([known[str(name)] for name in names], dtype="u1")


def _places(rows: Mapping[str, Any]) -> list[int]:
    """The GPU of each workgroup of a launch; those without accesses are on the first."""
    import numpy as np

    places = np.zeros(int(rows["workgroup"].max()) + 1, dtype="u2")
    places[rows["workgroup"]] = rows["gpu"]
    if (places[rows["workgroup"]] != rows["gpu"]).any():
        raise _nearfar.InputError("A workgroup has accesses on two GPUs.")
    return [int(each) for each in places]
