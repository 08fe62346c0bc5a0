"""`bgai rate`: what bots lose per decision by a referee, on their own games or on the benchmark; prints tables."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bgai.arena.benchmark import Benchmark, load_benchmark
from bgai.arena.duplicate import MAX_SEED, ArenaError
from bgai.arena.judges import open_judge
from bgai.arena.phases import PHASES
from bgai.arena.rating import (
    BLUNDERS,
    Decisions,
    Rating,
    asked,
    errors,
    mean_over_games,
    own_decisions,
    rate,
    rate_phases,
)
from bgai.arena.report import report
from bgai.arena.stats import CONFIDENCE, Score
from bgai.arena.table import aligned, distinct_labels
from bgai.bots import Bot, has_tables, open_bot, told_of_tables
from bgai.files import check_can_be_written
from bgai.progress import progress_bar

DEFAULT_DECISIONS = 2_000
MOST_DECISIONS = 1_000_000  # days, and memory for all their games at once
DEFAULT_REFEREE = "gnubg:2"
_BENCHMARK_BATCH = 200
_OWN_BATCH = 20


class Result(NamedTuple):
    """One bot's errors by one referee."""

    label: str
    referee: str
    decisions: Decisions
    errors: np.ndarray  # [N] float64
    estimated: np.ndarray  # [N] bool
    seconds: float
    failed: tuple[str, ...] = ()  # what an engine did instead of a legal answer; these decisions are left out

    @property
    def rating(self) -> Rating:
        return rate(self.errors, self.decisions.games)


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `rate` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "rate",
        help="what bots lose per decision, by a referee",
        description=(
            "Mean equity error per unforced decision (cubeless money) with the 95% interval over games, "
            "PR (500 times that), and shares of blunders; by phase of the game too. "
            "Without --benchmark the decisions come from each bot's own games, so bots are rated on different ones."
        ),
        epilog="Example: bgai rate strong gnubg:0 bgsage:1 --benchmark",
    )
    parser.add_argument(
        "bots",
        metavar="BOT",
        nargs="+",
        help="beginner, normal, strong, a bot file or a run folder, with @2 or @3 behind it to look ahead; random, "
        "pubeval, gnubg:PLIES or bgsage:PLIES; an engine as ubgi:COMMAND, http:URL or python:MODULE:FUNCTION",
    )
    parser.add_argument(
        "--referee",
        metavar="REF",
        help=f"gnubg:0, 1, 2 or bgsage:1, 2, 3 (default {DEFAULT_REFEREE}; with --benchmark all that it holds)",
    )
    parser.add_argument(
        "--decisions", type=int, metavar="N", help=f"how many decisions of each bot (default {DEFAULT_DECISIONS})"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="seed of dice and selection (default 0)")
    parser.add_argument("--benchmark", action="store_true", help="rate on the shipped benchmark, in seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Rate and print: 0, or 130 after Ctrl-C, with what was rated. Raises ValueError, OSError with a sentence."""
    _check(args)
    bots = [open_bot(text) for text in args.bots]
    labels = distinct_labels([bot.name for bot in bots])
    benchmark = load_benchmark() if args.benchmark else None
    results: dict[tuple[str, str], Result] = {}
    interrupted = False
    try:
        if benchmark is None:
            _rate_own_games(bots, labels, args, results)
        else:
            _rate_on_benchmark(bots, labels, benchmark, args.referee, results)
    except KeyboardInterrupt:
        interrupted = True
    rated = list(results.values())
    lines = [*result_lines(rated), *told_of_tables(bots)] if rated else []
    if rated and benchmark is not None:
        lines = [benchmark_line(benchmark), *lines]
    return report(lines, _data(args, bots, rated, benchmark, interrupted), args.json, interrupted=interrupted)


def _check(args: argparse.Namespace) -> None:
    """Everything that can be wrong is said before the first game."""
    if args.benchmark and (args.decisions is not None or args.seed is not None):
        raise ArenaError("the benchmark's decisions are fixed: --decisions and --seed do not go with --benchmark")
    if args.decisions is not None and args.decisions < 1:
        raise ArenaError(f"--decisions must be at least 1, not {args.decisions}")
    if args.decisions is not None and args.decisions > MOST_DECISIONS:
        raise ArenaError(f"--decisions must be at most {MOST_DECISIONS:,}, not {args.decisions}")
    if args.seed is not None and not 0 <= args.seed <= MAX_SEED:
        raise ArenaError(f"the seed must be from 0 to {MAX_SEED}, not {args.seed}")
    if args.json is not None:
        check_can_be_written(args.json, "--json")


def _rate_own_games(
    bots: list[Bot], labels: list[str], args: argparse.Namespace, results: dict[tuple[str, str], Result]
) -> None:
    """Fill `results`, by bot and referee, again after every few decisions: when Ctrl-C comes they hold what was
    rated."""
    judge = open_judge(args.referee or DEFAULT_REFEREE)
    count = DEFAULT_DECISIONS if args.decisions is None else args.decisions
    for bot, label in zip(bots, labels, strict=True):
        began = time.monotonic()
        with progress_bar(desc=f"games of {label}", unit=" rolls") as bar:
            decisions = own_decisions(bot, count, args.seed or 0, progress=bar.update)
        lost = np.full(len(decisions.games), np.nan)  # where no legal answer came, or none yet
        failed: list[str] = []
        # They stand in the order of the rolls; at random, so that a part of them is like the whole.
        order = np.random.default_rng(args.seed or 0).permutation(len(lost))
        with progress_bar(total=len(lost), desc=label, unit=" decisions") as bar:
            for first in range(0, len(lost), _OWN_BATCH):
                rows = order[first : first + _OWN_BATCH]
                lost[rows] = errors(bot, judge, decisions.take(rows), progress=bar.update, failed=failed)
                if not (answered := ~np.isnan(lost)).any():
                    continue
                none = np.zeros(int(answered.sum()), dtype=bool)
                seconds = time.monotonic() - began
                kept = decisions.take(answered)
                results[label, judge.name] = Result(
                    label, judge.name, kept, lost[answered], none, seconds, tuple(failed)
                )
        _check_answers(label, ~np.isnan(lost), failed)


def _rate_on_benchmark(
    bots: list[Bot],
    labels: list[str],
    benchmark: Benchmark,
    referee: str | None,
    results: dict[tuple[str, str], Result],
) -> None:
    """Fill `results`, by bot and referee, bot by bot."""
    if referee is not None and referee not in benchmark.referees:
        raise ArenaError(f"the benchmark holds the values of {' and '.join(benchmark.referees)}, not of {referee}")
    decisions = benchmark.decisions
    for bot, label in zip(bots, labels, strict=True):
        began = time.monotonic()
        chosen = np.empty_like(decisions.boards)
        failed: dict[int, str] = {}
        with progress_bar(total=len(benchmark), desc=label, unit=" decisions") as bar:
            for first in range(0, len(benchmark), _BENCHMARK_BATCH):
                part = slice(first, first + _BENCHMARK_BATCH)
                chosen[part], wrong = asked(bot, decisions.boards[part], decisions.dice[part])
                failed |= {first + row: why for row, why in wrong.items()}
                bar.update(len(decisions.boards[part]))
        answered = np.ones(len(benchmark), dtype=bool)
        answered[list(failed)] = False
        _check_answers(label, answered, list(failed.values()))
        choice = benchmark.choices(chosen)
        seconds = time.monotonic() - began
        for name in benchmark.referees if referee is None else (referee,):
            lost, estimated = benchmark.errors(choice, name)
            kept = decisions.take(answered) if failed else decisions
            told = tuple(failed.values())
            results[label, name] = Result(label, name, kept, lost[answered], estimated[answered], seconds, told)


def _check_answers(label: str, answered: np.ndarray, failed: list[str]) -> None:
    """Raises ArenaError for an engine that has not given a single legal answer."""
    if failed and not answered.any():
        raise ArenaError(f"{label} gave no legal answer in any decision: {failed[0]}")


def benchmark_line(benchmark: Benchmark) -> str:
    """How much the benchmark holds."""
    games = len(np.unique(benchmark.decisions.games))
    note = str(benchmark.about.get("note", ""))
    return f"benchmark: {len(benchmark):,} decisions from {games:,} games{'; ' + note if note else ''}"


def result_lines(results: list[Result]) -> list[str]:
    """All tables: a line for every bot and referee, differences to the first bot, and a table by phase for each
    referee."""
    referees = list(dict.fromkeys(result.referee for result in results))
    lines = _summary(results)
    for referee in referees:
        ours = [result for result in results if result.referee == referee]
        lines += ["", *_differences(ours)] if len(ours) > 1 and ours[0].decisions is ours[1].decisions else []
        lines += ["", *_phase_table(ours)]
    for result in results:
        if result.failed and result.referee == referees[0]:
            of = f"{len(result.failed):,} of {len(result.failed) + len(result.errors):,} decisions"
            lines += ["", f"{result.label} gave no legal answer in {of}, which are left out: {result.failed[0]}"]
    if any(result.estimated.any() for result in results):
        lines += ["", "estimated: share of choices that the referee valued by its quicker look alone"]
    return lines


def _summary(results: list[Result]) -> list[str]:
    with_estimates = any(result.estimated.any() for result in results)
    header = ["bot", "referee", "decisions", "error per decision, 95%", "PR"]
    header += [f"errors > {least:g}" for least in BLUNDERS] + ["estimated"] * with_estimates
    table = [header]
    for result in results:
        rating = result.rating
        row = [result.label, result.referee, f"{rating.decisions:,}", _text(rating.error), _text(rating.pr, 2)]
        row += [_percent(share) for share in rating.blunders]
        table.append(row + [f"{result.estimated.mean():.1%}"] * with_estimates)
    return aligned(table, left=(0, 1))


def _differences(results: list[Result]) -> list[str]:
    """Error of each further bot minus the first one's, decision by decision."""
    first = results[0]
    table = [[f"error minus that of {first.label}, by {first.referee}", "95%"]]
    for result in results[1:]:
        difference = mean_over_games(result.errors - first.errors, first.decisions.games)
        table.append([result.label, _text(difference, sign="+")])
    return aligned(table, left=(0,))


def _phase_table(results: list[Result]) -> list[str]:
    """Phases down, bots across; how many decisions, once where all bots met the same ones."""
    ratings = [rate_phases(result.errors, result.decisions) for result in results]
    same = all(result.decisions is results[0].decisions for result in results)
    header = [f"error by {results[0].referee}"] + ["decisions"] * same + [result.label for result in results]
    table = [header]
    for phase in PHASES:
        row = [phase]
        if same:
            row.append(f"{ratings[0][phase].decisions:,}" if phase in ratings[0] else "0")
        for rating in ratings:
            cell = _text(rating[phase].error) if phase in rating else "."
            row.append(cell if same or phase not in rating else f"{cell} ({rating[phase].decisions:,})")
        table.append(row)
    return aligned(table, left=(0,))


def _text(score: Score, digits: int = 4, sign: str = "") -> str:
    width = "?" if math.isinf(score.half_width) else f"{score.half_width:.{digits}f}"
    return f"{round(score.mean, digits) + 0.0:{sign}.{digits}f} ± {width}"


def _percent(share: Score) -> str:
    width = "?" if math.isinf(share.half_width) else f"{100 * share.half_width:.2f}"
    return f"{100 * share.mean:.2f} ± {width} %"


def _data(
    args: argparse.Namespace, bots: list[Bot], results: list[Result], benchmark: Benchmark | None, interrupted: bool
) -> dict[str, Any]:
    return {
        "benchmark": None if benchmark is None else {"decisions": len(benchmark), **benchmark.about},
        "seed": None if args.benchmark else args.seed or 0,
        "confidence": CONFIDENCE,
        "interrupted": interrupted,
        "bots": [
            {"bot": text, "name": bot.name, "description": bot.description, "bearoff_tables": has_tables(bot)}
            for text, bot in zip(args.bots, bots, strict=True)
        ],
        "ratings": [
            {
                "bot": result.label,
                "referee": result.referee,
                "seconds": round(result.seconds, 3),
                "estimated": round(float(result.estimated.mean()), 6),
                "failed": list(result.failed),
                **_rating_data(result.rating),
                "phases": {
                    name: _rating_data(rating)
                    for name, rating in rate_phases(result.errors, result.decisions).items()
                },
                "games_of_decisions": result.decisions.games.tolist(),
                "errors": [round(float(error), 5) for error in result.errors],
            }
            for result in results
        ],
    }


def _rating_data(rating: Rating) -> dict[str, Any]:
    return {
        "decisions": rating.decisions,
        "games": rating.games,
        "error": _score_data(rating.error),
        "pr": _score_data(rating.pr),
        "blunders": {
            f"{least:g}": _score_data(share) for least, share in zip(BLUNDERS, rating.blunders, strict=True)
        },
    }


def _score_data(score: Score) -> dict[str, float | None]:
    width = None if math.isinf(score.half_width) else round(score.half_width, 6)
    return {"mean": round(score.mean, 6), "interval": width}
