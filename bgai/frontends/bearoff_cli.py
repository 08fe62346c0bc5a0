"""`bgai bearoff`: make the bearoff tables, say where they are, and ask them about a position."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bgai.evaluation.bearoff_tables import (
    BearoffTables,
    DamagedTables,
    bearoff_outcomes,
    build_tables,
    read_tables,
    table_file,
    turned_off,
    write_tables,
)
from bgai.evaluation.two_sided import DEFAULT_MEN, FEWEST_MEN, MOST_MEN, Cube, positions_of
from bgai.files import check_can_be_written
from bgai.notation.ids import parse_id
from bgai.progress import progress_bar
from bgai.rules.outcome import Outcomes
from bgai.rules.position import BAR, HOME, Position

BUILD = "`bgai bearoff --build` makes them in seconds"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `bearoff` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bearoff",
        help="exact endgame tables: make them, ask them",
        description=(
            "Exact tables for positions where all men are home. Bots use them when they are there: the rolls that "
            "up to 15 men need, and equities without and with the cube (money, no beavers) of few men a side."
        ),
        epilog="BGAI_BEAROFF=off keeps bots from using them. Example: bgai bearoff --build",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--build", action="store_true", help="make the tables, unless they are there already")
    what.add_argument("--info", action="store_true", help="say where the tables are and what they hold (default)")
    what.add_argument("position", metavar="ID", nargs="?", help="what the tables know of a position")
    parser.add_argument(
        "--men",
        type=int,
        metavar="N",
        help=f"with --build: most men a side of the two-sided table, {FEWEST_MEN} to {MOST_MEN} (default "
        f"{DEFAULT_MEN}; 8 takes 150 MB)",
    )
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Do it. Raises ValueError and OSError with one sentence."""
    path = table_file(os.environ)
    if args.men is not None and not args.build:
        raise ValueError("--men goes with --build")
    if args.men is not None and not FEWEST_MEN <= args.men <= MOST_MEN:
        raise ValueError(f"--men must be from {FEWEST_MEN} to {MOST_MEN}, not {args.men}")
    if args.build:
        return _build(path, args.men)
    if args.position is not None:
        match = parse_id(args.position)
        lines = position_lines(_tables(path), match.position)
        if match.length or match.dice:
            aside = " and ".join(["the score"] * bool(match.length) + ["the dice"] * bool(match.dice))
            counts = "counts" if aside == "the score" else "count"
            print(
                f"for money and before the roll: {aside} of the identifier {counts} for nothing here", file=sys.stderr
            )
    elif path.is_file():
        lines = info_lines(path, _tables(path), os.environ)
    else:
        lines = [f"There are no bearoff tables in {path.parent}; {BUILD}."]
    print("\n".join(lines))
    return 0


def _tables(path: Path) -> BearoffTables:
    try:
        return read_tables(path)
    except FileNotFoundError:
        raise ValueError(f"there are no bearoff tables in {path.parent}; {BUILD}") from None
    except DamagedTables as error:
        raise DamagedTables(f"{error}; `bgai bearoff --build` makes it anew") from error


def _build(path: Path, men: int | None) -> int:
    try:
        there = read_tables(path).two.men
        if men in (None, there):
            print(f"The tables are there already: {path}, two-sided for up to {there} men a side.")
            return 0
    except FileNotFoundError:
        pass
    except DamagedTables as error:
        print(f"{error}; it is made anew")
    began = time.perf_counter()
    wanted = men or DEFAULT_MEN
    path.parent.mkdir(parents=True, exist_ok=True)
    check_can_be_written(path, "--build")
    with progress_bar(total=positions_of(wanted), unit=" positions", desc="bearoff") as bar:
        tables = build_tables(wanted, bar.update)
    write_tables(path, tables)
    seconds = time.perf_counter() - began
    print(f"wrote {path} ({path.stat().st_size / 1e6:.0f} MB) after {seconds:.1f} s")
    return 0


def info_lines(path: Path, tables: BearoffTables, environment: Mapping[str, str]) -> list[str]:
    """Where the tables are and what they hold."""
    use = "bots use them; BGAI_BEAROFF=off keeps them from it"
    if turned_off(environment):
        use = "bots do not use them, because BGAI_BEAROFF is off"
    positions = len(tables.two.hold)
    return [
        f"{path} ({path.stat().st_size / 1e6:.0f} MB, checksum right)",
        f"one side: {len(tables.one.mean):,} positions of up to 15 men, chances of the number of rolls",
        f"two sides: {positions:,} x {positions:,} positions of up to {tables.two.men} men a side, equities without "
        "and with the cube",
        use,
    ]


def position_lines(tables: BearoffTables, position: Position) -> list[str]:
    """What the tables know of a position. Raises ValueError where they know nothing."""
    board = position.board
    mask, outcomes = bearoff_outcomes(tables, board[None])
    mine, theirs = board[1 : HOME + 1], -board[BAR - 1 : BAR - 1 - HOME : -1]
    if not mask[0] or not theirs.any():
        raise ValueError(f"{position.id} is no bearoff: all men must be in the homes, and both players have some")
    lines = [_side("to roll", tables, mine), _side("opponent", tables, theirs)]
    chances = Outcomes(*outcomes[0].tolist())
    both_few = max(mine.sum(), theirs.sum()) <= tables.two.men
    how = "exact" if both_few else "as if both played for speed alone"
    lines.append(
        f"wins {chances.win_chance:.2%}, gammons {chances.gammon:.2%}, gammons lost {chances.gammon_loss:.2%} ({how})"
    )
    if both_few:
        lines += [_cube(tables, mine, theirs, cube) for cube in (Cube.CENTRED, Cube.MINE, Cube.THEIRS)]
    return lines


def _side(who: str, tables: BearoffTables, men: np.ndarray) -> str:
    pips = int(men @ np.arange(1, HOME + 1))
    rolls, effective = float(tables.one.mean_rolls(men)), float(tables.one.effective_pips(men))
    return f"{who}: {int(men.sum())} men, {pips} pips, {rolls:.3f} rolls, {effective:.2f} effective pips"


def _cube(tables: BearoffTables, mine: np.ndarray, theirs: np.ndarray, cube: Cube) -> str:
    where = {
        Cube.CENTRED: "cube in the middle",
        Cube.MINE: "cube of the player to roll",
        Cube.THEIRS: "cube of the opponent",
    }[cube]
    equity = f"{where}: {float(tables.two.equity(mine, theirs, cube)):+.4f}"
    if cube is Cube.THEIRS:
        return equity
    decision = tables.two.decision(mine, theirs, cube)
    double = "redouble" if cube is Cube.MINE else "double"
    action = f"{'' if decision.doubles else 'no '}{double}, {'take' if decision.takes else 'pass'}"
    hold, taken = float(decision.hold), float(decision.taken)
    return f"{equity}, {action} (no {double} {hold:+.4f}, {double} and take {taken:+.4f})"
