"""`bgai rollout`: what a position, or each play of a roll, is worth when a bot plays it out. Knows no rules."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bgai.arena.duplicate import MAX_SEED
from bgai.arena.report import report
from bgai.arena.table import aligned
from bgai.bots import ValueBot, open_bot
from bgai.evaluation.rollout import FACES, Rollout, roll_out
from bgai.files import check_can_be_written
from bgai.notation.ids import parse_id
from bgai.progress import progress_bar
from bgai.rules.outcome import Outcomes, result
from bgai.rules.position import Position

DEFAULT_GAMES = 1_296
MOST_GAMES = 10_000_000  # months; more is a slip of the finger
DEFAULT_PLAYS = 5


@dataclass(frozen=True)
class Line:
    """One line of the table: the position itself, or a play; all seen by the player whose decision it is."""

    label: str
    position: Position
    """Where its games begin, seen by the player to roll there."""
    estimate: float
    """The equity that the bot gives without a rollout."""
    rollout: Rollout | None = None


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `rollout` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "rollout",
        help="play a position out many times",
        description=(
            "Play a position out many times, cubeless money, and give its equity and chances, each ± one standard "
            "error. With --dice the best plays of the roll are compared, on the same dice for all. Luck is taken "
            "out of the games, so they say as much as many times their number. Time grows with games times lines: "
            "200 games of five plays take the strong bot about a minute."
        ),
        epilog="Example: bgai rollout 4HPwATDgc/ABMA --dice 31 --games 200",
    )
    parser.add_argument(
        "position", metavar="ID", help="XGID, gnubg ID, FIBS board or JSON; score and cube do not count"
    )
    parser.add_argument(
        "--dice", metavar="ROLL", help="compare the plays of this roll, such as 31 (default: the roll of the ID)"
    )
    parser.add_argument(
        "--games", type=int, default=DEFAULT_GAMES, metavar="N", help="games of each line (default %(default)s)"
    )
    parser.add_argument(
        "--bot",
        default="strong",
        metavar="BOT",
        help="who plays: a level, a bot file or a run folder, with @2 or @3 to look ahead (default %(default)s)",
    )
    parser.add_argument(
        "--plays",
        type=int,
        metavar="N",
        help=f"with --dice: roll out the bot's best N plays (default {DEFAULT_PLAYS})",
    )
    parser.add_argument(
        "--truncate", type=int, metavar="PLIES", help="end games after so many rolls with the bot's value"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the dice (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Roll out and print: 0, or 130 after Ctrl-C, with what there was. Raises ValueError, OSError with a sentence."""
    _check(args)
    match = parse_id(args.position)
    position, roll = match.position, match.dice if args.dice is None else _roll(args.dice)
    if args.plays is not None and roll is None:
        raise ValueError("--plays goes with --dice")
    bot = open_bot(args.bot)
    if not isinstance(bot, ValueBot):
        raise ValueError(f"{bot.name} values no positions: a rollout needs a bot with a network")
    lines = _lines(bot, position, roll, DEFAULT_PLAYS if args.plays is None else args.plays)
    interrupted = False
    try:
        with progress_bar(total=args.games, desc=bot.name, unit=" games") as bar:
            for grown in rolled_out(bot, lines, args.games, args.seed, args.truncate):
                lines = grown
                bar.update(_games(lines) - bar.n)
    except KeyboardInterrupt:
        interrupted = True
    text = table(bot.name, lines, args.truncate) if _games(lines) else []
    data = _data(args, bot, position, roll, lines, interrupted)
    return report(text, data, args.json, interrupted=interrupted)


def rolled_out(bot: ValueBot, lines: list[Line], games: int, seed: int, truncate: int | None) -> Iterator[list[Line]]:
    """The lines with their rollouts, again and again with 36 more games, up to `games`."""
    boards = np.array([line.position.men for line in lines], dtype=np.int8)
    mine = lines[0].label == ""  # the position is seen by the player to decide; after plays the opponent rolls
    for begin in range(0, games, FACES):
        numbers = np.arange(begin, min(begin + FACES, games))
        parts = roll_out(bot.outcomes, boards, numbers, seed=seed, plies=bot.plies, truncate=truncate)
        parts = parts if mine else [part.turned() for part in parts]
        lines = [
            replace(line, rollout=part if line.rollout is None else line.rollout.with_more(part))
            for line, part in zip(lines, parts, strict=True)
        ]
        yield lines


def table(bot: str, lines: list[Line], truncate: int | None) -> list[str]:
    """The lines as text, the best first."""
    best = _ranked(lines)
    plays = best[0][0].label != ""
    header = ["play", "equity", "minus the best", "bot says"] if plays else ["equity", "bot says"]
    rows = [header + ["wins", "gammons", "backgammons", "gammons lost", "backgammons lost"]]
    for line, rollout in best:
        row = [line.label] * plays + [_text(rollout.equity, rollout.equity_error)]
        if plays:
            row.append("" if rollout is best[0][1] else _text(*rollout.minus(best[0][1])))
        row.append(f"{line.estimate:+.4f}")
        for chance, error in cumulative(rollout):
            row.append(f"{max(100 * chance, 0):.2f} ± {100 * error:.2f} %" if error < math.inf else f"{chance:.2%}")
        rows.append(row)
    cut = "" if truncate is None else f", truncated after {truncate} rolls"
    note = f"{best[0][1].games:,} games of {bot}{cut}; ± is one standard error; gammons include backgammons"
    return [*aligned(rows, left=(0,) if plays else ()), note]


def cumulative(rollout: Rollout) -> list[tuple[float, float]]:
    """Chances of any win, gammon or better, backgammon, gammon loss or worse, backgammon loss, with errors."""
    parts = ((0, 1, 2), (1, 2), (2,), (4, 5), (5,))
    sums = [rollout.samples[:, part].sum(axis=1) for part in parts]
    return [(float(values.mean()), rollout.error_of(values)) for values in sums]


def _lines(bot: ValueBot, position: Position, roll: tuple[int, int] | None, plays: int) -> list[Line]:
    if roll is None:
        if result(position):
            raise ValueError(f"the game is over in {position.id}: there is nothing to play")
        return [Line("", position, bot.evaluate(position).equity)]
    ranked = bot.rank(position, roll)
    return [Line(str(play) or "no play", play.after, equity) for play, _, equity in ranked[:plays]]


def _games(lines: list[Line]) -> int:
    return lines[0].rollout.games if lines[0].rollout is not None else 0


def _ranked(lines: list[Line]) -> list[tuple[Line, Rollout]]:
    done = [(line, line.rollout) for line in lines if line.rollout is not None]
    return sorted(done, key=lambda pair: -pair[1].equity)


def _text(value: float, error: float) -> str:
    return f"{value:+.4f} ± {error:.4f}" if error < math.inf else f"{value:+.4f} ± ?"


def _roll(text: str) -> tuple[int, int]:
    digits = [letter for letter in text if letter not in " ,-"]
    if len(digits) != 2 or not set(digits) <= set("123456"):
        raise ValueError(f"--dice takes a roll such as 31, not {text!r}")
    return int(digits[0]), int(digits[1])


def _check(args: argparse.Namespace) -> None:
    """Everything that can be wrong is said before the first game."""
    for name in ("games", "plays", "truncate"):
        number = getattr(args, name)
        if number is not None and number < 1:
            raise ValueError(f"--{name} must be at least 1, not {number}")
    if args.games > MOST_GAMES:
        raise ValueError(f"--games must be at most {MOST_GAMES:,}, not {args.games}")
    if not 0 <= args.seed <= MAX_SEED:
        raise ValueError(f"the seed must be from 0 to {MAX_SEED}, not {args.seed}")
    if args.json is not None:
        check_can_be_written(args.json, "--json")


def _data(
    args: argparse.Namespace,
    bot: ValueBot,
    position: Position,
    roll: tuple[int, int] | None,
    lines: list[Line],
    interrupted: bool,
) -> dict[str, Any]:
    return {
        "position": position.id,
        "dice": roll,
        "bot": bot.name,
        "games": _games(lines),
        "seed": args.seed,
        "truncate": args.truncate,
        "interrupted": interrupted,
        "lines": [_line_data(line, rollout) for line, rollout in _ranked(lines)],
    }


def _line_data(line: Line, rollout: Rollout) -> dict[str, Any]:
    """Chances and errors of the six outcomes, seen by the player who decides; errors of a single game are null."""
    errors = rollout.outcome_errors
    return {
        "play": line.label or None,
        "after": line.position.id if line.label else None,
        "equity": round(rollout.equity, 6),
        "equity_error": _finite(rollout.equity_error),
        "estimate": round(line.estimate, 6),
        "outcomes": {
            name: {"chance": round(chance, 6), "error": _finite(error)}
            for name, chance, error in zip(Outcomes._fields, rollout.outcomes, errors, strict=True)
        },
    }


def _finite(error: float) -> float | None:
    return round(error, 6) if error < math.inf else None
