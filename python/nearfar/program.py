"""Where the program `nearfar` is, which carries out the runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from . import _nearfar


def program_path() -> str:
    """The program: the one that the variable NEARFAR_PROGRAM names, else the one that this package was built or
    installed with, else the first in PATH."""
    named = os.environ.get("NEARFAR_PROGRAM", "")
    if named:
        if not os.access(named, os.X_OK):
            raise _nearfar.InputError(f"NEARFAR_PROGRAM names `{named}`, which is no program.")
        return os.path.abspath(named)
    package = Path(__file__).resolve().parent
    beside = [package.parents[1] / "nearfar"]  # of a build folder: build/release/python/nearfar
    if len(package.parents) > 3:  # of an installation: <prefix>/lib/python3.11/dist-packages/nearfar
        beside.append(package.parents[3] / "bin" / "nearfar")
    for path in beside:
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("nearfar")
    if found is None:
        raise _nearfar.InputError("The program nearfar is not found; name it in the variable NEARFAR_PROGRAM.")
    return os.path.abspath(found)


def _find_folders() -> None:
    """The folders systems/, studies/ and the like are found beside and above the program."""
    try:
        _nearfar.set_program(program_path())
    except _nearfar.InputError:
        pass  # said when something is to be run; until then the folder here, or one that is named, may do


_find_folders()
