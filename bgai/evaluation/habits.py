"""Habits of a weaker player: what he likes too much, and how far he misjudges. Turns a strong network into a level.

Of the plays that the network finds at most `margin` worse than the best, the one is taken that is worth most to a
player with these habits. So every play has an idea, and none is absurd; weaker networks err less often, but worse.
Knows outcomes and boards only.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numba import njit, uint64

from bgai.evaluation.search import equity_of
from bgai.rules.dice import board_bits
from bgai.rules.position import BAR, HOME


@dataclass(frozen=True)
class Habits:
    """All in points of equity. Raises ValueError for numbers that are none or out of bounds."""

    margin: float
    """No play that the network finds this much worse than the best is made."""
    noise: float = 0.0
    """Standard deviation of the misjudgement of a board, decided by board and `seed` alone."""
    blots: float = 0.0
    """Liked for each blot that is left."""
    points: float = 0.0
    """Liked for each point that is held."""
    back: float = 0.0
    """Liked for each man in the opponent's home; below zero he runs early."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("margin", "noise", "blots", "points", "back"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"habits.{name} should be a number, not {value!r}")
            if not abs(value) <= 10 or (value < 0 and name in ("margin", "noise")):  # also what is not finite
                raise ValueError(f"habits.{name} is out of bounds: {value!r:.30}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            raise ValueError(f"habits.seed should be a whole number from 0 to 2^63 - 1, not {self.seed!r:.30}")

    def as_card(self) -> dict[str, float]:
        """Plain numbers for a bot's card."""
        return asdict(self)

    @staticmethod
    def of_card(card: dict[str, Any]) -> Habits | None:
        """The habits that a bot's card tells of, None when it has none. Raises ValueError."""
        told = card.get("habits")
        if told is None:
            return None
        if not isinstance(told, dict) or not set(told) <= set(Habits.__dataclass_fields__) or "margin" not in told:
            raise ValueError(f"the card's habits should say {', '.join(Habits.__dataclass_fields__)}, not {told!r}")
        return Habits(**told)


def habitual_rows(habits: Habits, rows: np.ndarray, starts: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """The row that a player with these habits chooses in every game: afterstates rows [N, 26] and the chances [N, 6]
    of the opponent, who sees them; starts [B + 1] -> [B]."""
    h = habits
    return _choose(h.margin, h.noise, h.blots, h.points, h.back, h.seed, rows, starts, outcomes)


@njit(cache=True, nogil=True)
def _choose(margin, noise, blots, points, back, seed, rows, starts, outcomes):
    chosen = np.empty(starts.shape[0] - 1, dtype=np.int64)
    for game in range(starts.shape[0] - 1):
        lowest = equity_of(outcomes, starts[game])
        for row in range(starts[game] + 1, starts[game + 1]):
            lowest = min(lowest, equity_of(outcomes, row))
        best = -1e9
        for row in range(starts[game], starts[game + 1]):
            equity = equity_of(outcomes, row)
            if equity > lowest + margin:
                continue
            liked = -equity
            for place in range(1, BAR):
                men = -rows[row, place]  # the player's, whose home is at the far end here
                liked += blots * (men == 1) + points * (men > 1)
                if place <= HOME and men > 0:
                    liked += back * men
            if noise > 0:
                liked += noise * _normal(seed, rows[row])
            if liked > best:
                best = liked
                chosen[game] = row
    return chosen


@njit(cache=True, nogil=True)
def _normal(seed, board):
    """Nearly a normal number, by a hash of the board: the sum of four even ones (Irwin and Hall)."""
    bits = board_bits(seed, board)
    total = 0.0
    for k in range(4):
        total += np.float64((bits >> uint64(16 * k)) & uint64(0xFFFF)) / 65536.0
    return (total - 2) * math.sqrt(3)
