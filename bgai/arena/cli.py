"""`bgai arena`: every pair of the named bots plays duplicate games; prints the scores. Knows no rules."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bgai.arena.duplicate import ArenaError, check_games_and_seed, play_match
from bgai.arena.luck import luck_seen_by, open_eyes
from bgai.arena.report import report
from bgai.arena.sessions import Session, play_session
from bgai.arena.stats import check_sprt_bounds
from bgai.arena.table import (
    Pairing,
    cross_table,
    distinct_labels,
    match_data,
    match_lines,
    session_data,
    session_lines,
)
from bgai.bots import Bot, has_tables, open_bot, told_of_tables
from bgai.evaluation.cube import MOST_AWAY
from bgai.files import check_can_be_written
from bgai.progress import progress_bar

DEFAULT_GAMES = 10_000


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `arena` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "arena",
        help="play bots against each other, with intervals",
        description=(
            "Every pair of the named bots plays cubeless money games, two by two with the same dice and "
            "changed seats. "
            "Scores are points per game of the first bot with the 95% interval over pairs; "
            "a game counts 1, a gammon 2, a backgammon 3. With --money they play with the doubling cube, with "
            "--match whole matches, with cube and Crawford rule; bots that know no cube never double and always take."
        ),
        epilog="Example: bgai arena strong normal random --games 2000",
    )
    parser.add_argument(
        "bots",
        metavar="BOT",
        nargs="+",
        help="beginner, normal, strong, a bot file or a run folder, with @2 or @3 behind it to look ahead; random, "
        "pubeval, gnubg:PLIES or bgsage:PLIES; an engine as ubgi:COMMAND, http:URL or python:MODULE:FUNCTION",
    )
    parser.add_argument(
        "--games",
        type=int,
        default=DEFAULT_GAMES,
        metavar="N",
        help="games of each match, even (default %(default)s)",
    )
    parser.add_argument("--money", action="store_true", help="money games with the cube")
    parser.add_argument("--jacoby", action="store_true", help="with --money: gammons count only with a turned cube")
    parser.add_argument("--match", type=int, metavar="POINTS", help="matches to so many points, 1 to 25")
    parser.add_argument("--cubeless", action="store_true", help="with --match: without the cube")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the dice (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    parser.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="stop a match once it is decided whether the first bot scores at most LOW or at least HIGH "
        "points per game (error rates 5%%); --games is then the most that are played",
    )
    parser.add_argument(
        "--luckless",
        action="store_true",
        help="take the luck of every roll, as the shipped strong bot sees it, out of the scores: the mean stays, the "
        "interval shrinks, between good bots as by twenty times the games",
    )
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Play and print: 0, or 130 after Ctrl-C, with what was played. Raises ValueError, OSError with a sentence."""
    _check(args)
    bots = [open_bot(text) for text in args.bots]
    labels = distinct_labels([bot.name for bot in bots])
    results: dict[Pairing, Any] = {}
    interrupted = False
    session = _session(args)
    try:
        _play_all(bots, labels, args, session, results)
    except KeyboardInterrupt:
        interrupted = True
    lines = [*_result_lines(labels, args, session, results), *told_of_tables(bots)] if results else []
    data = _data(bots, labels, args, session, results, interrupted)
    return report(lines, data, args.json, interrupted=interrupted)


def _check(args: argparse.Namespace) -> None:
    """Everything that can be wrong is said before the first game."""
    if len(args.bots) < 2:
        raise ArenaError("the arena needs at least two bots; a bot may be named twice to play itself")
    check_games_and_seed(args.games, args.seed)
    session = _session(args)
    if args.sprt is not None:
        if session is not None:
            raise ArenaError("--sprt is for cubeless games, not for --money or --match")
        check_sprt_bounds(*args.sprt)
    if args.luckless and session is not None:
        raise ArenaError("--luckless is for cubeless games, not for --money or --match")
    if args.json is not None:
        check_can_be_written(args.json, "--json")


def _session(args: argparse.Namespace) -> Session | None:
    """What is played when it is not cubeless games. Raises ArenaError for options that do not go together."""
    if args.match is not None:
        if args.money:
            raise ArenaError("--money and --match do not go together")
        if args.match < 1:
            raise ArenaError(f"--match wants 1 to {MOST_AWAY} points, not {args.match}")
        return Session(length=args.match, jacoby=args.jacoby, cube=not args.cubeless)
    if args.cubeless:
        raise ArenaError("--cubeless goes with --match; single games are cubeless without --money")
    if args.jacoby and not args.money:
        raise ArenaError("--jacoby goes with --money")
    return Session(jacoby=args.jacoby) if args.money else None


def _play_all(
    bots: list[Bot],
    labels: list[str],
    args: argparse.Namespace,
    session: Session | None,
    results: dict[Pairing, Any],
) -> None:
    """Fill `results` match by match after every batch: when Ctrl-C comes they hold what was played."""
    eyes = open_eyes() if args.luckless else None
    for a, b in itertools.combinations(range(len(bots)), 2):
        with progress_bar(total=args.games, desc=f"{labels[a]} - {labels[b]}", unit=" games") as bar:

            def note(result: Any, pairing: Pairing = (a, b), bar: Any = bar) -> None:
                results[pairing] = result
                bar.set_postfix_str(str(result.score), refresh=False)
                bar.update(result.games - bar.n)

            if session is not None:
                play_session(bots[a], bots[b], args.games, args.seed, session, note)
                continue
            # open_bot's bots choose among bgai's own afterstates, so their plays need no second check.
            play_match(
                bots[a],
                bots[b],
                args.games,
                args.seed,
                note,
                sprt_bounds=args.sprt,
                check_plays=False,
                luck=None if eyes is None else luck_seen_by(eyes, bots[a], bots[b]),
            )


def _result_lines(
    labels: list[str], args: argparse.Namespace, session: Session | None, results: dict[Pairing, Any]
) -> list[str]:
    if session is not None:
        return session_lines(labels, results)
    return [*match_lines(labels, results, args.sprt), "", *cross_table(labels, results)]


def _data(
    bots: list[Bot],
    labels: list[str],
    args: argparse.Namespace,
    session: Session | None,
    results: dict[Pairing, Any],
    interrupted: bool,
) -> dict[str, Any]:
    return {
        "bgai": _version(),
        "seed": args.seed,
        "games": args.games,
        "session": None if session is None else dataclasses.asdict(session),
        "luckless": args.luckless,
        "sprt": None if args.sprt is None else {"low": args.sprt[0], "high": args.sprt[1]},
        "interrupted": interrupted,
        "bots": [
            {
                "label": label,
                "bot": text,
                "name": bot.name,
                "description": bot.description,
                "bearoff_tables": has_tables(bot),
            }
            for label, text, bot in zip(labels, args.bots, bots, strict=True)
        ],
        "matches": [
            (match_data if session is None else session_data)(labels, pairing, result)
            for pairing, result in results.items()
        ],
    }


def _version() -> str:
    try:
        return version("bgai")
    except PackageNotFoundError:
        return "unknown"
