"""Mean equity error per decision: which decisions, what a bot loses in them, how sure that is. Knows no files.

A decision is a roll with at least two afterstates. The error is the judge's equity of its best candidate minus that
of the chosen one, cubeless money, never below zero. Decisions of one game are correlated, so all intervals are over
games.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgai.arena.duplicate import MAX_PLIES, ArenaError
from bgai.arena.judges import MARGIN, Judge, candidates, indices, judge_one
from bgai.arena.phases import PHASES, phases
from bgai.arena.stats import CONFIDENCE, Score, t_quantile
from bgai.bots import Bot
from bgai.engines.engine import EngineFailure
from bgai.rules.dice import rolls
from bgai.rules.moves import trusted_afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import POINTS, start_board

BLUNDERS = (0.08, 0.25, 0.5)
PR_PER_ERROR = 500
DECISIONS_PER_GAME = 8


class Decisions(NamedTuple):
    """Boards [N, 26] int8 seen by the player to roll, dice [N, 2] int8, and the number of each one's game [N]."""

    boards: np.ndarray
    dice: np.ndarray
    games: np.ndarray

    def take(self, rows: np.ndarray) -> Decisions:
        """The decisions of these rows, or of a mask."""
        return Decisions(self.boards[rows], self.dice[rows], self.games[rows])


def played_decisions(
    players: Sequence[Bot],
    seats: np.ndarray,
    starts: np.ndarray,
    games: np.ndarray,
    seed: int,
    *,
    first_ply: int = 0,
    most_plies: int = MAX_PLIES,
    progress: Callable[[int], object] | None = None,
) -> Decisions:
    """Every decision of games in lockstep, for at most `most_plies` rolls, ply after ply.

    seats [G, 2] name the player of each game who rolls first and the other one, starts [G, 26] int8 are the boards
    before the first roll, games [G] int64 the numbers that pick the dice. `first_ply` 0 makes the first roll an
    opening roll, which is never a double. `progress` gets the number of rolls after each ply. A game in which an
    engine gives no legal answer ends there. Raises ArenaError for a game without end.
    """
    live = np.arange(len(games))
    boards = starts
    found = [Decisions(np.empty((0, POINTS), np.int8), np.empty((0, 2), np.int8), np.empty(0, np.int64))]
    for ply in range(most_plies):
        dice = rolls(seed, games[live], first_ply + ply)
        unforced = np.diff(trusted_afterstates(boards, dice)[1]) > 1
        found.append(Decisions(boards, dice, games[live]).take(unforced))
        after = np.empty_like(boards)
        to_roll = seats[live, ply % 2]
        failed: list[int] = []
        for number, player in enumerate(players):
            rows = np.flatnonzero(to_roll == number)
            if len(rows):
                after[rows], wrong = asked(player, boards[rows], dice[rows])
                failed += rows[list(wrong)].tolist()
        if progress is not None:
            progress(len(boards))
        going = points_lost_many(after) == 0
        going[failed] = False
        live, boards = live[going], after[going]
        if len(live) == 0:
            break
    else:
        if most_plies == MAX_PLIES:
            raise ArenaError(f"game {games[live[0]]} (seed {seed}) is not over after {MAX_PLIES:,} rolls")
    return Decisions(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def asked(bot: Bot, boards: np.ndarray, dice: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """What the bot chooses, and the rows in which an engine gave no legal answer with what it did instead."""
    try:
        return bot.choose_boards(boards, dice), {}
    except EngineFailure as failure:
        return failure.answers, failure.sentences


def own_decisions(bot: Bot, count: int, seed: int, *, progress: Callable[[int], object] | None = None) -> Decisions:
    """`count` decisions at random from all that the bot meets in games against itself, eight a game on average
    (fewer decisions when the games do not hold so many). `progress` as in `played_decisions`. Raises ArenaError."""
    if count < 1:
        raise ArenaError(f"a rating needs at least one decision, not {count}")
    games = np.arange(-(-count // DECISIONS_PER_GAME), dtype=np.int64)
    starts = np.repeat(start_board()[None], len(games), axis=0)
    seats = np.zeros((len(games), 2), dtype=np.int64)
    met = played_decisions([bot], seats, starts, games, seed, progress=progress)
    order = np.random.default_rng(seed).permutation(len(met.games))[:count]
    return met.take(np.sort(order))


def errors(
    bot: Bot,
    judge: Judge,
    decisions: Decisions,
    *,
    margin: float = MARGIN,
    progress: Callable[[], object] | None = None,
    failed: list[str] | None = None,
) -> np.ndarray:
    """What the bot loses in each decision by the judge, [N] float64; both its choice and the best are at full depth.

    NaN where an engine gives no legal answer; `failed` is told what it did instead. `progress` is called after every
    other decision.
    """
    rows, starts = candidates(decisions.boards, decisions.dice)
    lost = np.empty(len(decisions.boards))
    for i in range(len(lost)):  # one after the other: bots that look ahead take as long as judges do
        here = slice(starts[i], starts[i + 1])
        chosen, wrong = asked(bot, decisions.boards[i : i + 1], decisions.dice[i : i + 1])
        if wrong:
            lost[i] = np.nan
            if failed is not None:
                failed += wrong.values()
            continue
        wanted = np.zeros(starts[i + 1] - starts[i], dtype=bool)
        wanted[indices(rows[here], starts[i : i + 2] - starts[i], chosen)] = True
        values, _ = judge_one(judge, decisions.boards[i], decisions.dice[i], rows[here], wanted, margin)
        lost[i] = values.max() - values[wanted][0]
        if progress is not None:
            progress()
    return lost


@dataclass(frozen=True)
class Rating:
    """How much a bot loses per decision, with 95% intervals over games."""

    decisions: int
    games: int
    error: Score
    """Mean equity error per decision, in points."""
    blunders: tuple[Score, ...]
    """Shares of the decisions with errors above each of BLUNDERS."""

    @property
    def pr(self) -> Score:
        """The error on the scale of the performance rating: 500 times."""
        return Score(PR_PER_ERROR * self.error.mean, PR_PER_ERROR * self.error.half_width)


def rate(lost: np.ndarray, games: np.ndarray) -> Rating:
    """The rating of errors [N] in decisions of games [N]. Raises ValueError without a decision."""
    return Rating(
        decisions=len(lost),
        games=len(np.unique(games)),
        error=mean_over_games(lost, games),
        blunders=tuple(share_over_games(lost > least, games) for least in BLUNDERS),
    )


def rate_phases(lost: np.ndarray, decisions: Decisions) -> dict[str, Rating]:
    """The rating in each phase that occurs, in the order of PHASES."""
    phase = phases(decisions.boards)
    return {
        name: rate(lost[phase == number], decisions.games[phase == number])
        for number, name in enumerate(PHASES)
        if (phase == number).any()
    }


def mean_over_games(values: np.ndarray, games: np.ndarray) -> Score:
    """Mean of values [N] with a 95% interval for clusters: games [N] says which belong together.

    The error of a ratio of sums over games (linearised), Student's quantile; infinite for a single game. Raises
    ValueError without a value.
    """
    if len(values) == 0:
        raise ValueError("a mean needs at least one decision")
    mean = float(np.mean(values))
    _, game = np.unique(games, return_inverse=True)
    surplus = np.bincount(game, weights=values - mean)
    count = len(surplus)
    if count == 1:
        return Score(mean, math.inf)
    standard_error = math.sqrt(count / (count - 1) * float(surplus @ surplus)) / len(values)
    return Score(mean, t_quantile((1 + CONFIDENCE) / 2, count - 1) * standard_error)


def share_over_games(hits: np.ndarray, games: np.ndarray) -> Score:
    """Share of hits [N] bool, as `mean_over_games`; where none or all hit, the interval is 3 / games (the rule of
    three)."""
    share = mean_over_games(hits.astype(np.float64), games)
    if share.mean in (0.0, 1.0):
        return Score(share.mean, min(1.0, 3 / len(np.unique(games))))
    return share
