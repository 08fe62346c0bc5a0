"""What the learner is to be taught: λ-returns, and averages over all rolls. Knows nothing of torch."""

from __future__ import annotations

import numpy as np
from numba import njit

from bgai.evaluation.lookahead import look_ahead
from bgai.evaluation.search import Evaluator
from bgai.rules.outcome import OUTCOMES


def lambda_returns(
    next_outcomes: np.ndarray, over: np.ndarray, explored: np.ndarray, luck: np.ndarray, lam: float
) -> np.ndarray:
    """Targets of positions that come game after game, ply after ply (Sutton 1988, forward view), less their luck.

    next_outcomes [M, 6] float32: after the best play, seen by the next player, exact where over [M] bool. The return
    of a position is, turned to its own player, the exact outcome when its play ends the game, else
    (1 - λ) x the next position's estimate + λ x the next position's return; where explored [M] bool says that
    another play was made, the estimate alone (Watkins 1989). From each is taken luck [M, 6] float32, what the roll
    brought the player beyond the mean of all rolls by some measure: zero on average by any, so it leaves what is
    learned as it is and takes away noise. A return may then lie outside 0 to 1. -> [M, 6] float32.
    """
    targets = np.empty_like(next_outcomes)
    _returns(next_outcomes, over | explored, luck, np.float32(lam), targets)
    return targets


@njit(cache=True, nogil=True)
def _returns(next_outcomes, cut, luck, lam, targets):
    half = OUTCOMES // 2
    for i in range(next_outcomes.shape[0] - 1, -1, -1):
        for k in range(OUTCOMES):
            later = next_outcomes[i, k]
            if not cut[i]:
                later = (np.float32(1) - lam) * later + lam * targets[i + 1, k]
            mine = (k + half) % OUTCOMES
            targets[i, mine] = later - luck[i, mine]


def all_dice_targets(evaluate: Evaluator, boards: np.ndarray, sketch: Evaluator | None = None) -> np.ndarray:
    """Chances of the player to roll on boards [M, 26] -> [M, 6] float32, looked one roll ahead.

    The mean over the 21 rolls of what the best play of each leaves him: the luck of the dice does not enter, at 21
    times the price of one play, or less where a sketch sifts the plays.
    """
    return look_ahead(evaluate, boards, 1, sketch)
