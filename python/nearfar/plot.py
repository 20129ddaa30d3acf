"""Figures with matplotlib: bars of speedups, lines of sweeps. Each function draws into `axes`, or makes them, and
returns them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _nearfar
from .results import Comparison, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#3a6ea5", "#e08e2b", "#4c9a5a", "#b4485f", "#7a62a8", "#44a5b0", "#8a6f4d", "#7d848c")
"""Of series: they stay apart for readers who see red and green alike."""
_INK, _GRID, _AXIS = "#1d2126", "#e6e8eb", "#8d949c"


def _axes(axes: Axes | None, width: float) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Figures need matplotlib (python3-matplotlib).") from None
    if axes is None:
        _, axes = plt.subplots(figsize=(width, 3.4), layout="constrained")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_AXIS)
    axes.tick_params(colors=_INK)
    axes.grid(axis="y", color=_GRID)
    return axes


def _legend(axes: Axes, entries: int) -> None:
    if entries > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(entries, 4), frameon=False, borderaxespad=0.2)


def bars(comparison: Comparison, *, axes: Axes | None = None, mean: bool = True, first: bool = False) -> Axes:
    """Speedups as bars: workloads along the axis, a bar for each variant, error bars where runs were repeated. `mean`
    adds the geometric mean; `first` shows the variant that the others are measured against, too."""
    variants = list(comparison.variants) if first or len(comparison.variants) == 1 else list(comparison.variants[1:])
    groups = list(comparison.workloads) + (["geometric\nmean"] if mean and len(comparison.workloads) > 1 else [])
    axes = _axes(axes, max(4.5, 1.5 + 0.28 * len(groups) * (len(variants) + 1)))
    width = 0.8 / len(variants)
    for v, variant in enumerate(variants):
        intervals = [comparison.speedup(workload, variant) for workload in comparison.workloads]
        if len(groups) > len(intervals):
            intervals.append(comparison.geometric_means[variant])
        heights = [each.speedup for each in intervals]
        ends = [
            [each.speedup - each.low for each in intervals],
            [each.high - each.speedup for each in intervals],
        ]
        places = [g + (v - (len(variants) - 1) / 2) * width for g in range(len(groups))]
        axes.bar(
            places,
            heights,
            width * 0.92,
            label=variant,
            color=COLOURS[v % len(COLOURS)],
            yerr=ends if comparison.repeats > 1 else None,
            ecolor=_INK,
            capsize=2.5,
        )
    axes.axhline(1, color=_AXIS, linewidth=1)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(f"speedup over {comparison.variants[0]}")
    _legend(axes, len(variants))
    if len(variants) == 1:
        axes.set_title(variants[0], loc="left", fontsize="medium")
    return axes


def _value_of(result: Result, name: str) -> Any:
    """What stands in a column of a frame: a setting, a parameter of the workload, what ran on what, a statistic."""
    if name.startswith("set."):
        path = name.removeprefix("set.")
        if path not in result.configuration:
            raise _nearfar.InputError(f"The machine has no parameter `{path}`.")
        return result.configuration[path]
    if name.startswith("param."):
        return result.parameters.get(name.removeprefix("param."))
    if name in ("workload", "size", "system", "design", "seed", "cycles", "instructions", "accesses", "host_seconds"):
        return getattr(result, name)
    return result[name]


def lines(
    results: Sequence[Result],
    x: str,
    y: str | Callable[[Result], float] = "cycles",
    *,
    by: str | Sequence[str] = "workload",
    speedup: bool = False,
    axes: Axes | None = None,
) -> Axes:
    """A sweep as lines: along the axis the values of `x` in the order in which they were run, such as
    "set.iommu.walkers" or "param.width"; a line for each value of `by`. `y` is a name (of a statistic, "cycles") or a
    function of a result; with `speedup` it is 1 / y, over the first value of each line. Where several results fall on
    one point (repeats, seeds) it is their mean with its 95 % interval."""
    names = [by] if isinstance(by, str) else list(by)
    points: dict[str, dict[str, list[float]]] = {}
    ticks: list[str] = []
    for result in results:
        label = " ".join(str(_value_of(result, name)) for name in names)
        tick = str(_value_of(result, x))
        if tick not in ticks:
            ticks.append(tick)
        value = float(y(result) if callable(y) else _value_of(result, y))
        points.setdefault(label, {}).setdefault(tick, []).append(value)
    axes = _axes(axes, 5.5)
    for number, (label, line) in enumerate(points.items()):
        present = [tick for tick in ticks if tick in line]
        values = [line[tick] for tick in present]
        if speedup:
            base = values[0]
            # Repeats come in the order of their draws, so that each is set against its own.
            values = [[b / v for b, v in zip(base, each)] for each in values]
        measured = [_nearfar.interval(each, speedup) for each in values]
        means = [each[0] for each in measured]
        spread = any(len(each) > 1 for each in values)
        ends = [[m - low for m, low, _ in measured], [high - m for m, _, high in measured]]
        axes.errorbar(
            [ticks.index(tick) for tick in present],
            means,
            yerr=ends if spread else None,
            label=label,
            color=COLOURS[number % len(COLOURS)],
            marker="o",
            markersize=4,
            capsize=2.5,
        )
    axes.set_xticks(range(len(ticks)), ticks)
    axes.set_xlabel(x.removeprefix("set.").removeprefix("param."))
    name = "" if callable(y) else y
    axes.set_ylabel(f"speedup over {ticks[0]}" if speedup else name)
    if not speedup:
        axes.set_ylim(bottom=0)
    _legend(axes, len(points))
    return axes
