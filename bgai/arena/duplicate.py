"""Duplicate games in lockstep: what is played and counted. Knows nothing of files, printing or the bots.

Games come in pairs. Both games of a pair use the same dice, and the bots change seats in between, so luck that
depends on the dice alone cancels. What luck is left may be measured roll by roll and taken out. Seat 0 owns the first
die of the opening roll; the higher die starts. Points are those of cubeless money games: 1 single, 2 gammon, 3
backgammon. An engine that gives no legal answer loses that game as a single one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bgai.arena.stats import Score, Verdict, check_sprt_bounds, score, sprt
from bgai.bots import Bot
from bgai.engines.engine import EngineFailure
from bgai.referees import illegal_rows
from bgai.rules.dice import rolls
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import POINTS, Position, start_board

Luck = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""What rolls [N, 2] brought the players who rolled on boards [N, 26], in points [N]; its mean over all rolls must be
zero for every board, as that of `bgai.evaluation.lookahead.luck_in_points`."""

MAX_PLIES = 10_000
MAX_SEED = 2**63 - 1

_MOST_PAIRS_AT_ONCE = 1024
_FIRST_PAIRS_AT_ONCE = 4
_BATCH_SECONDS = 5.0


class ArenaError(ValueError):
    """A match that cannot be played or counted: wrong numbers asked for, or a bot that breaks the rules."""


class Forfeit(NamedTuple):
    """A game that an engine lost because it gave no legal answer."""

    game: int
    """Number of the game, as in the points."""
    seat: int
    """Who lost it: 0 is bot A, 1 bot B."""
    why: str
    """What the engine did, in a sentence."""


@dataclass(frozen=True)
class MatchResult:
    """What bot A scored against bot B; every number is A's unless its name says otherwise."""

    bot_a: str
    bot_b: str
    seed: int
    points: np.ndarray
    """[games] int8, A's points of each game: game 2i and 2i + 1 are pair i, A in seat 0 first."""
    seconds: float
    luck: np.ndarray | None = None
    """[games] float64, what the rolls of both brought A in each game, where that was measured; `pair_means`, and with
    them the score, are then less this luck."""
    verdict: Verdict | None = None
    """What the sequential test said, if there was one."""
    forfeits: tuple[Forfeit, ...] = ()
    """Games that an engine lost, as a single game each, because it gave no legal answer; they count in the points."""

    @property
    def games(self) -> int:
        return len(self.points)

    @property
    def pair_means(self) -> np.ndarray:
        """[pairs] float64, A's points per game in each pair, less the luck where it was measured."""
        points = self.points if self.luck is None else self.points - self.luck
        return points.reshape(-1, 2).mean(axis=1)

    @property
    def score(self) -> Score:
        """A's points per game with the 95% interval over pairs. Raises ValueError before the first pair."""
        return score(self.pair_means)

    @property
    def wins(self) -> tuple[int, int, int]:
        """Single games, gammons and backgammons won by A."""
        return self._won(self.points)

    @property
    def losses(self) -> tuple[int, int, int]:
        """Single games, gammons and backgammons won by B."""
        return self._won(-self.points)

    @property
    def games_per_second(self) -> float:
        return self.games / self.seconds if self.seconds > 0 else 0.0

    @staticmethod
    def _won(points: np.ndarray) -> tuple[int, int, int]:
        return int((points == 1).sum()), int((points == 2).sum()), int((points == 3).sum())


def play_match(
    bot_a: Bot,
    bot_b: Bot,
    games: int,
    seed: int,
    progress: Callable[[MatchResult], None] | None = None,
    *,
    sprt_bounds: Sequence[float] | None = None,
    check_plays: bool = True,
    pairs_at_once: int | None = None,
    luck: Luck | None = None,
) -> MatchResult:
    """Play `games` duplicate games (an even number, or fewer once the sequential test has decided).

    The result depends on the bots, the number of games and the seed, never on the batches. `progress` gets
    the result so far after every batch; `sprt_bounds` are LOW and HIGH in points per game. `check_plays`
    makes sure that every board is legal; bots that choose among bgai's own afterstates do not need it. With `luck`
    the score is less the luck of the dice: its mean stays the same, its interval shrinks to a quarter or less.
    Raises ArenaError, and ValueError for bounds of which LOW is not below HIGH.
    """
    check_games_and_seed(games, seed)
    if pairs_at_once is not None and pairs_at_once < 1:
        raise ArenaError(f"a batch needs at least one pair of games, not {pairs_at_once}")
    if sprt_bounds is not None:
        low, high = sprt_bounds
        check_sprt_bounds(low, high)
    began = time.monotonic()
    points = np.zeros(0, dtype=np.int8)
    lucks = np.zeros(0)
    forfeits: tuple[Forfeit, ...] = ()
    result = MatchResult(bot_a.name, bot_b.name, seed, points, 0.0)
    for batch in _batches(bot_a, bot_b, games // 2, seed, check_plays, pairs_at_once, luck):
        forfeits += tuple(lost._replace(game=len(points) + lost.game) for lost in batch.forfeits)
        points = np.concatenate([points, batch.points.ravel()])
        lucks = np.concatenate([lucks, batch.luck])
        result = MatchResult(
            bot_a.name,
            bot_b.name,
            seed,
            points,
            time.monotonic() - began,
            luck=None if luck is None else lucks,
            forfeits=forfeits,
        )
        if sprt_bounds is not None:
            result = _up_to_verdict(result, sprt(result.pair_means, low, high))
        if progress is not None:
            progress(result)
        if result.verdict is not None and result.verdict.accepted:
            break
    return result


def check_games_and_seed(games: int, seed: int) -> None:
    """Raises ArenaError unless `games` is an even number from 2 on and `seed` fits in 63 bits."""
    if games < 2 or games % 2:
        raise ArenaError(
            f"games come in pairs with the same dice: their number must be even and at least 2, not {games}"
        )
    if not 0 <= seed <= MAX_SEED:
        raise ArenaError(f"the seed must be from 0 to {MAX_SEED}, not {seed}")


def play_pairs(bot_a: Bot, bot_b: Bot, pairs: np.ndarray, seed: int, *, check_plays: bool = True) -> np.ndarray:
    """Both games of each pair in lockstep: pairs [P] int64 (their numbers pick the dice) -> [P, 2] int8.

    Column 0 holds A's points with A in seat 0, column 1 with A in seat 1. Raises ArenaError.
    """
    return _play_batch(bot_a, bot_b, pairs, seed, check_plays, None).points


class _Batch(NamedTuple):
    points: np.ndarray  # [P, 2] int8, as of play_pairs
    luck: np.ndarray  # [2P] float64, what the rolls brought A; zero where luck is not measured
    forfeits: list[Forfeit]  # their games counted in this batch


def _play_batch(bot_a: Bot, bot_b: Bot, pairs: np.ndarray, seed: int, check_plays: bool, luck: Luck | None) -> _Batch:
    games = 2 * len(pairs)
    points = np.zeros(games, dtype=np.int8)
    lucks = np.zeros(games)
    live = np.arange(games)
    boards = np.repeat(start_board()[None], games, axis=0)
    opening = np.repeat(rolls(seed, pairs, 0), 2, axis=0)
    seat_to_roll = (opening[:, 1] > opening[:, 0]).astype(np.int8)
    a_to_roll = seat_to_roll == live % 2
    forfeits: list[Forfeit] = []
    for ply in range(MAX_PLIES):
        dice = rolls(seed, pairs[live // 2], ply)
        if luck is not None and ply:  # who begins, and with which roll, is the same for both bots
            lucks[live] += np.where(a_to_roll, 1.0, -1.0) * luck(boards, dice)
        boards, failed = _played(bot_a, bot_b, boards, dice, a_to_roll, check_plays)
        won = points_lost_many(boards)
        for row, why in failed.items():
            won[row] = -1  # the player who was to move has lost
            forfeits.append(Forfeit(int(live[row]), int(not a_to_roll[row]), why))
        over = won != 0
        points[live[over]] = np.where(a_to_roll[over], won[over], -won[over])
        going = ~over
        live, boards, a_to_roll = live[going], boards[going], ~a_to_roll[going]
        if len(live) == 0:
            return _Batch(points.reshape(-1, 2), lucks, forfeits)
    raise ArenaError(
        f"a game between {bot_a.name} and {bot_b.name} is not over after {MAX_PLIES:,} rolls "
        f"(seed {seed}, pair {int(pairs[live[0] // 2])})"
    )


def _batches(
    bot_a: Bot,
    bot_b: Bot,
    pairs: int,
    seed: int,
    check_plays: bool,
    at_once: int | None,
    luck: Luck | None,
) -> Iterator[_Batch]:
    """The pairs in order. Batches grow while they take less than seconds: slow bots report early,
    fast ones run in large batches."""
    size = at_once or _FIRST_PAIRS_AT_ONCE
    done = 0
    while done < pairs:
        began = time.monotonic()
        batch = np.arange(done, min(done + size, pairs), dtype=np.int64)
        yield _play_batch(bot_a, bot_b, batch, seed, check_plays, luck)
        done += len(batch)
        if at_once is None and time.monotonic() - began < _BATCH_SECONDS / 2:
            size = min(2 * size, _MOST_PAIRS_AT_ONCE)


def _up_to_verdict(result: MatchResult, verdict: Verdict) -> MatchResult:
    """The result at the moment of the decision, with its share of the time."""
    points = result.points[: 2 * verdict.pairs]
    seconds = result.seconds * len(points) / len(result.points)
    forfeits = tuple(lost for lost in result.forfeits if lost.game < len(points))
    luck = None if result.luck is None else result.luck[: len(points)]
    return replace(result, points=points, luck=luck, seconds=seconds, verdict=verdict, forfeits=forfeits)


def _played(
    bot_a: Bot, bot_b: Bot, boards: np.ndarray, dice: np.ndarray, a_to_roll: np.ndarray, check_plays: bool
) -> tuple[np.ndarray, dict[int, str]]:
    """The boards after each bot's play: every bot is asked once, for all its boards. And the rows in which an engine
    gave no answer, with what it did instead."""
    after, failed = np.empty_like(boards), dict[int, str]()
    for bot, rows in ((bot_a, np.flatnonzero(a_to_roll)), (bot_b, np.flatnonzero(~a_to_roll))):
        if len(rows):
            try:
                after[rows] = _choice(bot, boards[rows], dice[rows], check_plays)
            except EngineFailure as failure:
                after[rows] = failure.answers
                failed |= {int(rows[row]): why for row, why in failure.sentences.items()}
    return after, failed


def _choice(bot: Bot, boards: np.ndarray, dice: np.ndarray, check_plays: bool) -> np.ndarray:
    # A bot under check gets copies: what it writes there must not deceive the check.
    chosen = bot.choose_boards(*((boards.copy(), dice.copy()) if check_plays else (boards, dice)))
    if not isinstance(chosen, np.ndarray) or chosen.shape != boards.shape or chosen.dtype != np.int8:
        given = np.asarray(chosen)
        raise ArenaError(
            f"{bot.name} must return one board per roll, an array int8[{len(boards)}, {POINTS}], "
            f"not {type(chosen).__name__} {given.dtype}{list(given.shape)}"
        )
    if check_plays:
        wrong = illegal_rows(boards, dice, chosen)
        if len(wrong):
            row = int(wrong[0])
            position = Position(boards[row].tolist())
            raise ArenaError(
                f"{bot.name} returned a board that no legal play leads to: position {position.id}, "
                f"roll {dice[row, 0]}{dice[row, 1]}"
            )
    return chosen
