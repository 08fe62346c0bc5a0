"""λ-returns over outcome chances. Knows arrays only."""

from __future__ import annotations

import numpy as np
from numba import njit

from bgai.rules.outcome import OUTCOMES


def lambda_returns(next_outcomes: np.ndarray, over: np.ndarray, lam: float) -> np.ndarray:
    """Targets of positions that come game after game, ply after ply (Sutton 1988, forward view).

    next_outcomes [M, 6] float32: after the play, seen by the next player, exact where over [M] bool. The return
    of a position is, turned to its own player, the exact outcome when its play ended the game, else
    (1 - λ) x the next position's estimate + λ x the next position's return. -> [M, 6] float32.
    """
    targets = np.empty_like(next_outcomes)
    _returns(next_outcomes, over, np.float32(lam), targets)
    return targets


@njit(cache=True, nogil=True)
def _returns(next_outcomes, over, lam, targets):
    half = OUTCOMES // 2
    for i in range(next_outcomes.shape[0] - 1, -1, -1):
        for k in range(OUTCOMES):
            later = next_outcomes[i, k]
            if not over[i]:
                later = (np.float32(1) - lam) * later + lam * targets[i + 1, k]
            targets[i, (k + half) % OUTCOMES] = later
