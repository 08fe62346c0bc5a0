"""How sure a score is: intervals and a sequential test, both over pairs. Knows nothing of games or bots.

The two games of a pair share their dice and are not independent of each other; pairs are. So every number
here is about the means of pairs, in points per game.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
SPRT_ERROR = 0.05
SPRT_FIRST_CHECK = 100

_LAST_EXACT = 100


class Score(NamedTuple):
    """Points per game and half the width of its 95% interval, which is infinite for a single pair."""

    mean: float
    half_width: float

    def turned(self) -> Score:
        """The same score seen by the other bot."""
        return Score(-self.mean, self.half_width)

    def __str__(self) -> str:
        width = "?" if math.isinf(self.half_width) else f"{self.half_width:.3f}"
        return f"{round(self.mean, 3) + 0.0:+.3f} ± {width}"


def score(pair_means: np.ndarray) -> Score:
    """Mean of the pair means [P] with Student's 95% interval. Raises ValueError without a pair."""
    pairs = len(pair_means)
    if pairs == 0:
        raise ValueError("a score needs at least one pair of games")
    mean = float(np.mean(pair_means))
    if pairs == 1:
        return Score(mean, math.inf)
    standard_error = float(np.std(pair_means, ddof=1)) / math.sqrt(pairs)
    return Score(mean, t_quantile((1 + CONFIDENCE) / 2, pairs - 1) * standard_error)


def t_quantile(probability: float, freedom: int) -> float:
    """Where Student's distribution with `freedom` degrees of freedom reaches `probability` (0.5 to below 1).

    Up to 100 degrees by bisection of the exact distribution, beyond that by Fisher's expansion about the
    normal one, which is exact to seven digits there.
    """
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(
            f"the quantile of {probability} at {freedom} degrees of freedom is not known: "
            "the probability must lie from 0.5 to below 1 and there must be at least one degree"
        )
    if freedom > _LAST_EXACT:
        z = NormalDist().inv_cdf(probability)
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / freedom + second / freedom**2 + third / freedom**3
    low, high = 0.0, 1.0
    while _t_distribution(high, freedom) < probability:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if _t_distribution(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return high


def _t_distribution(t: float, freedom: int) -> float:
    """Chance of a value below t >= 0: the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    inside = math.sin(angle) * total
    if odd:
        inside = 2 / math.pi * (angle + inside)
    return 0.5 + inside / 2


def sprt_llr(pairs: np.ndarray, means: np.ndarray, variances: np.ndarray, low: float, high: float) -> np.ndarray:
    """Log likelihood ratios, mean `high` over mean `low`, after so many pairs: [P] or numbers -> [P].

    The generalized test of chess engines' frameworks: pair means are normal with the variance so far.
    Without any variance the ratio is infinite, or 0 for a mean halfway between the bounds.
    """
    distance = (high - low) * (2 * np.asarray(means, dtype=np.float64) - low - high)
    with np.errstate(divide="ignore", invalid="ignore"):
        llr = np.asarray(pairs) * distance / (2 * np.asarray(variances, dtype=np.float64))
    return np.where(distance == 0, 0.0, llr)


class Verdict(NamedTuple):
    """What a sequential test says: `accepted` is "high", "low" or None (undecided), after `pairs` pairs."""

    accepted: str | None
    pairs: int
    llr: float


def sprt(
    pair_means: np.ndarray,
    low: float,
    high: float,
    *,
    error: float = SPRT_ERROR,
    first_check: int = SPRT_FIRST_CHECK,
) -> Verdict:
    """Sequential test of "at least `high`" against "at most `low`" points per game, on pair means [P].

    Looks after every pair from `first_check` on and stops at the first decision, so the verdict depends on
    the pairs alone, not on their batches. Both error rates are `error`. Raises ValueError.
    """
    check_sprt_bounds(low, high)
    bound = math.log((1 - error) / error)
    values = np.asarray(pair_means, dtype=np.float64)
    counts = np.arange(1, len(values) + 1)
    means = np.cumsum(values) / counts
    # Points are small whole numbers, so sums of squares lose nothing here.
    variances = np.maximum(np.cumsum(values**2) / counts - means**2, 0.0)
    llr = sprt_llr(counts, means, variances, low, high)
    decided = np.flatnonzero(np.abs(llr[first_check - 1 :]) >= bound)
    if len(decided) == 0:
        return Verdict(None, len(values), float(llr[-1]) if len(llr) else 0.0)
    at = first_check - 1 + int(decided[0])
    return Verdict("high" if llr[at] > 0 else "low", at + 1, float(llr[at]))


def check_sprt_bounds(low: float, high: float) -> None:
    """Raises ValueError unless both bounds are finite and `low` is below `high`."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(
            f"the sequential test needs LOW below HIGH, in points per game; {low:g} and {high:g} are not"
        )
