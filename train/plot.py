"""The command `bgai plot`: learning curves of runs as a picture, from their metrics.jsonl. Knows nothing of learning.

matplotlib (the extra "plot") is imported when a picture is drawn. The same metrics give the same bytes.
"""

from __future__ import annotations

import argparse
import io
import math
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bgai.files import write_atomically
from bgai.progress import printable

ENDINGS = (".svg", ".png")
SMALL_PANELS = {"loss": "loss", "games_per_second": "games per second", "gammon_rate": "gammons, share of games"}

# Okabe and Ito's colours, which stay apart for colour-blind eyes; lines also differ in dashes and markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "svg.hashsalt": "bgai",
}
# For letters that matplotlib's own font lacks; whichever of these is installed.
MORE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",  # by which matplotlib knows the file that holds them all
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
)
_NO_GLYPH = "Glyph .* missing from"
SIZE = (8.0, 5.6)  # inches; in a README about 800 pixels wide
PNG_DPI = 200


class NothingToPlot(ValueError):
    """A run has no curve yet, or the picture cannot be written as asked; the message says why."""


LESS_LUCK = ", less luck"
"""Behind an opponent's name where the luck of the dice is taken out of the scores: a curve of its own."""


class Strength(NamedTuple):
    """Measurements against one opponent, in the order of the run."""

    games: list[int]
    minutes: list[float]
    points: list[float]  # per game
    intervals: list[float]  # half width of the 95 % interval; NaN where it is not finite


class Curves(NamedTuple):
    """What is drawn of one run."""

    name: str
    strength: dict[str, Strength]  # by opponent, scores less luck apart from plain ones
    learning: dict[str, tuple[list[int], list[float]]]  # of each small panel: games, values


def add_parser(subparsers: Any) -> None:
    """Add the command `plot`."""
    parser = subparsers.add_parser(
        "plot",
        help="draw the learning curves of runs",
        description=(
            "Draw learning curves: strength against fixed opponents over games and over minutes, with 95% "
            "intervals, and below them loss, speed and gammons. Several runs share one picture."
        ),
        epilog="Example: bgai plot runs/quick --out quick.svg",
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="folder of a run, such as runs/quick")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        default=Path("curves.svg"),
        help="picture to write, .svg or .png (default: %(default)s)",
    )
    parser.set_defaults(run_command=run)


def run(args: argparse.Namespace) -> int:
    """Errors are raised: NothingToPlot, OSError, ModuleNotFoundError."""
    ending = args.out.suffix.lower()
    if ending not in ENDINGS:
        raise NothingToPlot(f"{args.out} should end in .svg or .png: the ending says what kind of picture it is")
    if args.out.is_dir():
        raise NothingToPlot(f"{args.out} is a folder; --out must be a file")
    if not args.out.parent.is_dir():
        raise NothingToPlot(f"there is no folder {args.out.parent} to write {args.out.name} to")
    names = [path.resolve().name for path in args.runs]
    unique = len(set(names)) == len(names)
    curves = [read_curves(path, name if unique else str(path)) for path, name in zip(args.runs, names, strict=True)]
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", _NO_GLYPH)
        drawn = picture(curves, ending)
    write_atomically(args.out, drawn)
    if any(re.match(_NO_GLYPH, str(warning.message)) for warning in told):
        print(
            "bgai plot: no installed font has all letters of the names, which stand as boxes; for Chinese "
            f"{MORE_FONTS[0]} is one",
            file=sys.stderr,
        )
    print(f"wrote {args.out}")
    return 0


def read_curves(path: Path, name: str) -> Curves:
    """The curves of a run's folder. Raises NothingToPlot when there are not two measurements of strength."""
    from train.folder import RunFolder, read_metrics

    folder = RunFolder(path)
    if not folder.metrics.is_file():
        missing = "its metrics.jsonl is missing" if path.is_dir() else "there is no such folder"
        raise NothingToPlot(f"{path} holds no run with metrics: {missing}")
    lines = read_metrics(folder.metrics)
    strength: dict[str, Strength] = {}
    learning: dict[str, tuple[list[int], list[float]]] = {key: ([], []) for key in SMALL_PANELS}
    try:
        for line in lines:
            less_luck = LESS_LUCK if line.get("luckless") else ""
            for opponent, score in line.get("strength", {}).items():
                curve = strength.setdefault(printable(opponent) + less_luck, Strength([], [], [], []))
                interval = float(score["interval"])
                curve.games.append(line["games"])
                curve.minutes.append(float(line["seconds"]) / 60)
                curve.points.append(float(score["points_per_game"]))
                curve.intervals.append(interval if math.isfinite(interval) else math.nan)
            for key, (games, values) in learning.items():
                if key in line:
                    games.append(line["games"])
                    values.append(float(line[key]))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        raise NothingToPlot(f"{folder.metrics} is not as bgai writes it: see the line {str(line)[:60]}...") from None
    longest = max((len(curve.games) for curve in strength.values()), default=0)
    if longest < 2:
        count = "no measurement" if not longest else "only one measurement"
        if len({name.endswith(LESS_LUCK) for name in strength}) == 2:
            count = "only one plain measurement and one less luck"
        raise NothingToPlot(
            f"{path} has {count} of strength yet, and a curve needs two; "
            "report.strength_first and report.strength_games of its config say when it is measured"
        )
    return Curves(name, strength, learning)


def picture(curves: Sequence[Curves], ending: str) -> bytes:
    """The curves as a picture, ".svg" or ".png". Raises ModuleNotFoundError without matplotlib."""
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    with rc_context():
        rcdefaults()  # a person's own matplotlibrc changes nothing
        with rc_context(STYLE | {"font.family": _fonts(curves)}):
            figure = Figure(figsize=SIZE, layout="constrained")
            _draw(figure, curves)
            out = io.BytesIO()
            if ending == ".svg":
                figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "bgai plot"})
            else:
                figure.savefig(out, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return out.getvalue()


def _fonts(curves: Sequence[Curves]) -> list[str]:
    """matplotlib's own font, and where names are not plain letters those behind it."""
    if all(name.isascii() for run in curves for name in (run.name, *run.strength)):
        return ["sans-serif"]
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return ["sans-serif", *(font for font in MORE_FONTS if font in installed)]


def _plain(text: str) -> str:
    """The text for matplotlib, which would read what stands between two $ as a formula."""
    return text.replace("$", r"\$")


def _draw(figure: Any, curves: Sequence[Curves]) -> None:
    """Strength in two panels above, the small panels below, one legend for all."""
    above, below = figure.subfigures(2, 1, height_ratios=(1.75, 1))
    by_games, by_minutes = above.subplots(1, 2, sharey=True)
    opponents = list(dict.fromkeys(name for run in curves for name in run.strength))
    labelled = {}
    for number, run in enumerate(curves):
        for opponent, curve in run.strength.items():
            look = _look(number, opponents.index(opponent), several_runs=len(curves) > 1)
            label = f"against {opponent}" if len(curves) == 1 else f"{run.name} against {opponent}"
            label = _plain(label)
            low = [points - width for points, width in zip(curve.points, curve.intervals, strict=True)]
            high = [points + width for points, width in zip(curve.points, curve.intervals, strict=True)]
            for axes, x in ((by_games, curve.games), (by_minutes, curve.minutes)):
                # On the logarithmic axis there is no place for the random network of game 0.
                first = 1 if axes is by_games and x[0] == 0 else 0
                axes.fill_between(x[first:], low[first:], high[first:], color=look["color"], alpha=0.2, linewidth=0)
                (labelled[label],) = axes.plot(x[first:], curve.points[first:], **look)
    for axes, title in ((by_games, "games of self-play"), (by_minutes, "minutes")):
        axes.set_xlabel(title)
        axes.axhline(0, color="#777777", linewidth=0.8, zorder=1)
    by_games.set_ylabel("points per game")
    by_minutes.set_xlim(left=0)
    whose = f" of {_plain(curves[0].name)}" if len(curves) == 1 else ""
    above.suptitle(f"Strength{whose}, with 95% intervals", fontsize=10.5)
    above.legend(
        labelled.values(), labelled.keys(), loc="outside lower center", ncols=min(len(labelled), 3), frameon=False
    )
    small = below.subplots(1, len(SMALL_PANELS))
    for axes, (key, title) in zip(small, SMALL_PANELS.items(), strict=True):
        for number, run in enumerate(curves):
            colour = COLOURS[number % len(COLOURS)] if len(curves) > 1 else "#333333"
            x, y = run.learning[key]
            marker = MARKERS[0] if len(x) == 1 else ""  # a line of one point would not be seen
            axes.plot(x, y, color=colour, linestyle=DASHES[number % len(DASHES)], marker=marker)
        axes.set_title(title)
        axes.set_xlabel("games")
    for axes in (by_games, *small):
        if axes.dataLim.x1 >= 10 * axes.dataLim.minposx:
            axes.set_xscale("log")
        else:  # within a decade the labels of a logarithmic axis would overprint
            axes.locator_params(axis="x", nbins=4)
    small[1].set_ylim(bottom=0)
    small[2].set_ylim(bottom=0)


def _look(run: int, opponent: int, *, several_runs: bool) -> dict[str, Any]:
    """How a line looks: with several runs the colour and marker are the run's, the dashes the opponent's."""
    number = run if several_runs else opponent
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[opponent % len(DASHES)],
    }
