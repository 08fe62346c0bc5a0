"""What a bot plays like: blots, points, hits and structure in its games with itself. Knows no referee and no value.

Counted over the decisions (rolls with two or more plays) with contact; all numbers are the mover's after his play.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from bgai.arena.duplicate import MAX_SEED, ArenaError
from bgai.arena.judges import candidates
from bgai.arena.phases import contact
from bgai.arena.rating import Decisions, mean_over_games, played_decisions
from bgai.arena.report import report
from bgai.arena.stats import Score
from bgai.arena.table import aligned, distinct_labels
from bgai.bots import Bot, open_bot
from bgai.files import check_can_be_written
from bgai.progress import progress_bar
from bgai.rules.position import BAR, HOME, start_board, turn

DEFAULT_GAMES = 300
TRAITS = {
    "blots": "blots a turn",
    "points": "points made of those it could make",
    "hits": "hits of those it could hit",
    "breaks": "points broken a turn",
    "anchor": "turns that end with an anchor",
    "prime": "turns that end with four points in a row",
    "back": "men in the opponent's home",
}
NEVER = Score(math.nan, math.inf)  # there was no such decision
_SHARES = {"points", "hits", "anchor", "prime"}


def traits(decisions: Decisions, chosen: np.ndarray) -> dict[str, Score]:
    """Each of TRAITS with its 95% interval over games: `chosen` [N, 26] are the boards after the plays, seen by the
    opponent. "points" and "hits" are shares of the decisions in which some play makes a new point, or hits."""
    decisive = np.flatnonzero(contact(decisions.boards))
    decisions, chosen = decisions.take(decisive), chosen[decisive]
    rows, starts = candidates(decisions.boards, decisions.dice)
    before = np.repeat(turn(decisions.boards), np.diff(starts), axis=0)
    could_point = np.logical_or.reduceat(_new_points(before, rows) > 0, starts[:-1])
    could_hit = np.logical_or.reduceat(_hits(before, rows), starts[:-1])
    before = turn(decisions.boards)
    mine = turn(chosen)  # the mover's view again
    held = mine[:, 1:BAR] >= 2
    run = np.logical_and.reduce([held[:, k : k + 21] for k in range(4)])
    values = {
        "blots": (mine[:, 1:BAR] == 1).sum(axis=1),
        "points": _new_points(before, chosen)[could_point] > 0,
        "hits": _hits(before, chosen)[could_hit],
        "breaks": _new_points(chosen, before),
        "anchor": held[:, BAR - HOME - 1 :].any(axis=1),
        "prime": run.any(axis=1),
        "back": np.maximum(mine[:, BAR - HOME : BAR], 0).sum(axis=1),
    }
    games = {name: decisions.games for name in values}
    games["points"], games["hits"] = decisions.games[could_point], decisions.games[could_hit]
    return {
        name: mean_over_games(values[name].astype(np.float64), games[name]) if len(values[name]) else NEVER
        for name in TRAITS
    }


def _new_points(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How many points the mover, whose men are negative here, holds after and did not before: [N, 26] -> [N]."""
    return ((after[:, 1:BAR] <= -2) & (before[:, 1:BAR] > -2)).sum(axis=1)


def _hits(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether men came to the bar of the player who is to roll: [N, 26] -> [N] bool."""
    return after[:, BAR] > before[:, BAR]


def own_traits(bot: Bot, games: int, seed: int) -> dict[str, Score]:
    """The traits of a bot in `games` games with itself. Raises ArenaError."""
    numbers = np.arange(games, dtype=np.int64)
    starts = np.repeat(start_board()[None], games, axis=0)
    met = played_decisions([bot], np.zeros((games, 2), dtype=np.int64), starts, numbers, seed)
    return traits(met, bot.choose_boards(met.boards, met.dice))


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `character` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "character",
        help="what bots play like",
        description=(
            "Blots, points, hits, anchors and primes of each bot in games with itself, in positions with contact, "
            "with 95% intervals over games."
        ),
        epilog="Example: bgai character beginner normal strong gnubg:0 gnubg:0:0.06",
    )
    parser.add_argument("bots", metavar="BOT", nargs="+", help="any bot that the arena takes")
    parser.add_argument("--games", type=int, default=DEFAULT_GAMES, metavar="N", help="games (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the dice (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Play, count and print: 0, or 130 after Ctrl-C, with the bots that were done. Raises ValueError and OSError
    with one sentence."""
    if not 2 <= args.games <= 100_000:
        raise ArenaError(f"--games must be from 2 to 100,000, not {args.games}")
    if not 0 <= args.seed <= MAX_SEED:
        raise ArenaError(f"the seed must be from 0 to {MAX_SEED}, not {args.seed}")
    if args.json is not None:
        check_can_be_written(args.json, "--json")
    bots = [open_bot(text) for text in args.bots]
    labels = distinct_labels([bot.name for bot in bots])
    found: dict[str, dict[str, Score]] = {}
    interrupted = False
    try:
        for label, bot in zip(progress_bar(labels, unit=" bots"), bots, strict=True):
            found[label] = own_traits(bot, args.games, args.seed)
    except KeyboardInterrupt:
        interrupted = True
    lines = _lines(found, args.games) if found else []
    return report(lines, _data(found, args, interrupted), args.json, interrupted=interrupted)


def _lines(found: dict[str, dict[str, Score]], games: int) -> list[str]:
    table = [[f"{games} games with itself", *TRAITS]]
    table += [[label, *(_cell(name, score) for name, score in each.items())] for label, each in found.items()]
    return [*aligned(table, left=(0,)), "", *(f"{name}: {meaning}" for name, meaning in TRAITS.items())]


def _data(found: dict[str, dict[str, Score]], args: argparse.Namespace, interrupted: bool) -> dict[str, Any]:
    bots = {
        label: {
            name: {"mean": _number(score.mean), "interval": _number(score.half_width)} for name, score in each.items()
        }
        for label, each in found.items()
    }
    return {"games": args.games, "seed": args.seed, "interrupted": interrupted, "bots": bots}


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _cell(name: str, score: Score) -> str:
    if math.isnan(score.mean):
        return "."
    if name in _SHARES:
        return f"{100 * score.mean:.1f} ± {100 * score.half_width:.1f} %"
    return f"{score.mean:.2f} ± {score.half_width:.2f}"
