"""How a game ends, and the one order of outcomes: six exclusive chances that sum to one.

Order: win, gammon, backgammon, loss, gammon loss, backgammon loss; each single game counted once (a gammon
is not also a "win"). gnubg's five cumulative numbers exist only through `Outcomes.cumulative`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from bgai.rules.position import BAR, HOME, MEN, Position

OUTCOMES = 6
POINTS_WON = np.array([1, 2, 3, -1, -2, -3], dtype=np.float32)


class Outcomes(NamedTuple):
    """Chances of the six ways a game can end, for the player to roll; they exclude each other and sum to one."""

    win: float
    gammon: float
    backgammon: float
    loss: float
    gammon_loss: float
    backgammon_loss: float

    @property
    def equity(self) -> float:
        """Expected points per game without cube: single games count 1, gammons 2, backgammons 3."""
        return float(sum(chance * points for chance, points in zip(self, POINTS_WON.tolist(), strict=True)))

    @property
    def win_chance(self) -> float:
        """Chance to win in any way."""
        return self.win + self.gammon + self.backgammon

    @property
    def cumulative(self) -> tuple[float, float, float, float, float]:
        """gnubg's five: any win, gammon or better, backgammon, gammon loss or worse, backgammon loss."""
        return (
            self.win_chance,
            self.gammon + self.backgammon,
            self.backgammon,
            self.gammon_loss + self.backgammon_loss,
            self.backgammon_loss,
        )

    def turned(self) -> Outcomes:
        """The same chances seen by the other player."""
        return Outcomes(*self[3:], *self[:3])


def turn_outcomes(outcomes: np.ndarray) -> np.ndarray:
    """The same chances seen by the other player: [..., 6] -> [..., 6] (a copy)."""
    return np.roll(outcomes, OUTCOMES // 2, axis=-1)


@njit(cache=True, nogil=True)
def points_lost(board):
    """Points that the player to roll has lost by the board int8[26] before him: 0 while the game goes on.

    3 with a man on the bar or in the winner's home and none borne off, 2 with none borne off, else 1.
    """
    mine = 0
    theirs = 0
    for point in range(BAR + 1):
        if board[point] > 0:
            mine += board[point]
        else:
            theirs -= board[point]
    if theirs > 0:
        return 0
    if mine < MEN:
        return 1
    for point in range(BAR - HOME, BAR + 1):
        if board[point] > 0:
            return 3
    return 2


@njit(cache=True, nogil=True)
def points_lost_many(boards):
    """`points_lost` of every row: boards [N, 26] int8 -> [N] int8."""
    lost = np.empty(boards.shape[0], dtype=np.int8)
    for i in range(boards.shape[0]):
        lost[i] = points_lost(boards[i])
    return lost


def result(position: Position) -> int:
    """Points of a finished game, for the player to roll: 1 to 3 won, -1 to -3 lost, 0 while it goes on.

    Where neither has men left, the player to roll has lost: the other one moved last.
    """
    lost = int(points_lost(position.board))
    return -lost if lost else int(points_lost(position.turned().board))
