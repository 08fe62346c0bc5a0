"""Fits the cube's efficiency (EFFICIENCY in bgai/evaluation/cube.py) on a bot's own money games with the cube.

    .venv/bin/python tools/fit_cube.py strong --games 100000 --rounds 3

At every roll of the games the cubeful equity is taken to lie between that of a dead cube and that of a live one:
value = dead + x (live - dead). What AHEAD rolls later has come of it, the result or the value there, per unit of
the cube, is regressed on that: x = sum (later - dead)(live - dead) / sum (live - dead)^2, for each class of
positions, with a standard error over games. Each round plays and values with the efficiencies of the round before,
until they stay. (Regressed on the results alone the error is three times as large.)
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import bgai
from bgai.arena.sessions import Session, Tables
from bgai.evaluation import cube
from bgai.evaluation.cube import CLASSES, EFFICIENCY, Stakes, classes, cube_values
from bgai.evaluation.cubeful import roll_outcomes
from bgai.evaluation.match_equity import match_equity

PAIRS_AT_ONCE = 1024
AHEAD = 12


class Watched(Tables):
    """Tables that note what the models say before each roll."""

    def __init__(self, bot: bgai.bots.ValueBot, pairs: np.ndarray, seed: int) -> None:
        super().__init__(bot, bot, pairs, seed, Session())
        self.bot = bot
        self.notes: list[tuple[np.ndarray, ...]] = []

    def _roll(self) -> None:
        rows = np.flatnonzero(self.live & (self.ply > 0))
        if len(rows):
            boards, stakes = self.board[rows], self.stakes(rows)
            outcomes = roll_outcomes(self.bot.outcomes, boards)
            dead, live = (_values(outcomes, x, stakes) for x in (0.0, 1.0))
            self.notes.append((rows, self.roller[rows], self.cube[rows], classes(boards), dead, live))
        super()._roll()


def _values(outcomes: np.ndarray, x: float, stakes: Stakes) -> np.ndarray:
    table = match_equity()
    return cube_values(outcomes, np.full(len(outcomes), x), stakes, table.pre, table.post)[:, 0]


def fitted(bot: bgai.bots.ValueBot, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Efficiency of each class and its standard error."""
    above = np.zeros((games, len(CLASSES)))
    below = np.zeros((games, len(CLASSES)))
    for begin in tqdm(range(0, games // 2, PAIRS_AT_ONCE), unit_scale=2 * PAIRS_AT_ONCE, unit=" games"):
        pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, games // 2), dtype=np.int64)
        tables = Watched(bot, pairs, seed)
        tables.play()
        rows, roller, cubes, kind, dead, live = (np.concatenate(parts) for parts in zip(*tables.notes, strict=True))
        order = np.argsort(rows, kind="stable")  # table after table, roll after roll
        rows, roller, cubes, kind, dead, live = (each[order] for each in (rows, roller, cubes, kind, dead, live))
        value = np.where(roller == 0, 1, -1) * cubes * (dead + EFFICIENCY[kind] * (live - dead))  # for seat 0
        later = np.arange(len(rows)) + AHEAD
        still = (later < len(rows)) & (rows[np.minimum(later, len(rows) - 1)] == rows)
        result = np.where(still, value[np.minimum(later, len(rows) - 1)], tables.won[rows])
        result *= np.where(roller == 0, 1, -1) / cubes
        np.add.at(above, (2 * begin + rows, kind), (result - dead) * (live - dead))
        np.add.at(below, (2 * begin + rows, kind), (live - dead) ** 2)
    x = above.sum(axis=0) / below.sum(axis=0)
    error = np.sqrt(((above - x * below) ** 2).sum(axis=0)) / below.sum(axis=0)
    return x, error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot")
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bot = bgai.load(args.bot, bearoff=False)
    for number in range(args.rounds):
        x, error = fitted(bot, args.games, args.seed + number)
        print(
            ", ".join(f"{name} {a:.3f} ± {b:.3f}" for name, a, b in zip(CLASSES, x, error, strict=True)), flush=True
        )
        EFFICIENCY[:] = np.clip(x, 0, 1)
    print(f"EFFICIENCY = np.array({[round(float(x), 3) for x in cube.EFFICIENCY]})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
