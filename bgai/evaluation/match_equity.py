"""Chances to win a match before a game, by the points both players still need. Knows no positions.

The table is bgai's own: computed by tools/make_match_equity.py from how often its bots win gammons and backgammons
and from its cube model (bgai.evaluation.cube), and shipped as match_equity.csv.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from bgai.evaluation.cube import MOST_AWAY, Stakes, cube_values


class MatchEquity(NamedTuple):
    """The table; index 0 is not used."""

    pre: np.ndarray
    """[26, 26] float64: chance of the player who needs `row` points against one who needs `column`, before the
    Crawford game has been played; row or column 1 is the Crawford game."""
    post: np.ndarray
    """[26] float64: chance of the player who needs so many points, after the Crawford game, against one who needs
    one."""


@cache
def match_equity() -> MatchEquity:
    """The shipped table, read once."""
    text = (files("bgai.evaluation") / "match_equity.csv").read_text(encoding="utf-8")
    return parse_table(text)


def parse_table(text: str) -> MatchEquity:
    """The table from its file: 25 lines of 25 chances, and a 26th after the Crawford game. Raises ValueError."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    numbers = np.array([[float(cell) for cell in line.split(",")] for line in lines])
    if numbers.shape != (MOST_AWAY + 1, MOST_AWAY):
        raise ValueError(f"a match equity table has 26 lines of 25 numbers, not the shape {list(numbers.shape)}")
    pre = np.full((MOST_AWAY + 1, MOST_AWAY + 1), np.nan)
    pre[1:, 1:] = numbers[:-1]
    post = np.full(MOST_AWAY + 1, np.nan)
    post[1:] = numbers[-1]
    pre.setflags(write=False)
    post.setflags(write=False)
    return MatchEquity(pre, post)


def compute_table(first: np.ndarray, second: np.ndarray, weights: np.ndarray, efficiency: float) -> MatchEquity:
    """A whole table from how games between equals begin.

    first [6]: outcomes of the player who rolls first, before his roll; second [S, 6]: those of the player behind
    after the Crawford game when he may first double, in every way the game can have begun, with chances weights
    [S]. Score by score, from the end of the match: the chance before a game is the cube model's value of the even
    start at that score. The Crawford game has no cube; after it the player behind doubles at once.
    """
    even = (first + np.roll(first, 3)) / 2
    pre = np.full((MOST_AWAY + 1, MOST_AWAY + 1), np.nan)
    post = np.full(MOST_AWAY + 1, np.nan)
    post[1] = pre[1, 1] = 0.5
    for away in range(2, MOST_AWAY + 1):
        # The leader takes where that leaves the other less than a pass would: the free drop.
        taken = sum(second[:, k] * _reached(post, away - 2 * (k + 1)) for k in range(3))
        post[away] = weights @ np.minimum(taken, post[away - 1])
        pre[away, 1] = sum(even[k] * _reached(post, away - k - 1) for k in range(3))
        pre[1, away] = 1 - pre[away, 1]
    for total in range(4, 2 * MOST_AWAY + 1):
        for mine in range(max(2, total - MOST_AWAY), min(MOST_AWAY, total - 2) + 1):
            stakes = _before_a_game(mine, total - mine)
            values = [
                cube_values(even[None], np.array([efficiency]), seen, pre, post)[0, 0]
                for seen in (stakes, stakes.turned())
            ]
            pre[mine, total - mine] = (values[0] + 1 - values[1]) / 2
    return MatchEquity(pre, post)


def table_text(table: MatchEquity, note: str) -> str:
    """The table as `parse_table` reads it, `note` above it."""
    lines = [f"# {line}" for line in note.splitlines()]
    lines += [",".join(f"{chance:.5f}" for chance in row[1:]) for row in (*table.pre[1:], table.post)]
    return "\n".join(lines) + "\n"


def _reached(post: np.ndarray, away: int) -> float:
    return 1.0 if away <= 0 else post[away]


def _before_a_game(mine: int, theirs: int) -> Stakes:
    one = np.ones(1, dtype=np.int64)
    no = np.zeros(1, dtype=np.bool_)
    return Stakes(mine * one, theirs * one, one, 0 * one, no, no)
