"""How far runs are, for a person who watches: a bar that stays in its place."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol

_WIDTH = 30
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Listener(Protocol):
    """What is told, a few times a second and whenever a run ends, how far runs are."""

    def __call__(
        self,
        total: int,
        done: int,
        failed: int,
        active: Sequence[tuple[str, float, float]],
        seconds_left: float,
        event: str,
    ) -> None:
        """`active` are the runs under way: what each is, its share that is done, and seconds since its start."""


def bar(share: float) -> str:
    """A bar of which `share` is filled."""
    eighths = int(max(0.0, min(1.0, share)) * _WIDTH * 8)
    text = "█" * (eighths // 8)
    if eighths % 8:
        text += _EIGHTHS[eighths % 8]
    return text.ljust(_WIDTH)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class ProgressBar:
    """Draws on a terminal or in a notebook; anywhere else it is silent, but for runs that failed."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._display: Any = None
        self._shown = ""
        self._done = 0
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._notebook = self._in_notebook()

    @staticmethod
    def _in_notebook() -> bool:
        shell = sys.modules.get("IPython")
        if shell is None or shell.get_ipython() is None:
            return False
        return "IPKernelApp" in getattr(shell.get_ipython(), "config", {})

    def __call__(
        self,
        total: int,
        done: int,
        failed: int,
        active: Sequence[tuple[str, float, float]],
        seconds_left: float,
        event: str,
    ) -> None:
        self._done = done
        if ": failed" in event:
            self._show("")
            print(f"nearfar: {event}", file=sys.stderr)
        if total == 0:
            return
        share = (done + failed + sum(each[1] for each in active)) / total
        text = f"{bar(share)} {done + failed}/{total} runs"
        if failed:
            text += f", {failed} failed"
        if active:
            text += f", {len(active)} under way"
        if seconds_left >= 1:
            text += f", about {duration(seconds_left)} left"
        self._show(text)

    def close(self) -> None:
        """Leaves one line in a notebook and nothing on a terminal."""
        if self._notebook and self._display is not None:
            self._show(f"{self._done} new runs in {duration(time.monotonic() - self._start)}")
        else:
            self._show("")

    def _show(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        if self._notebook:
            self._show_in_notebook(text)
        elif self._terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def _show_in_notebook(self, text: str) -> None:
        from IPython.display import display

        data = {"text/plain": text}
        if self._display is None:
            self._display = display(data, raw=True, display_id=True)
        else:
            self._display.update(data, raw=True)
