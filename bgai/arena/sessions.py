"""Matches and money games with the cube, in lockstep: what is played and counted. Knows nothing of files or printing.

As in bgai.arena.duplicate, everything is played twice with the same dice and changed seats, and intervals are over
these pairs. Games of a pair part ways with the first cube or play that differs, so less luck cancels than without a
cube. An engine that gives no legal answer loses that game as if it had resigned a single one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bgai.arena.duplicate import MAX_PLIES, ArenaError, Forfeit, check_games_and_seed
from bgai.arena.stats import Score, score
from bgai.bots import Bot
from bgai.engines.engine import EngineFailure
from bgai.evaluation.cube import CENTRE, MINE, MOST_AWAY, THEIRS, Stakes
from bgai.rules.dice import rolls
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import start_board

CAP = 8  # points a money game counts at most where results are capped, so that few cubes do not decide everything
MOST_CUBE = 1024  # nobody doubles beyond
_MOST_GAMES = 4 * MOST_AWAY  # of a match: more than can be
_PAIRS_AT_ONCE = 512


@dataclass(frozen=True)
class Session:
    """What is played: matches to `length` points, or money games (length 0), with or without Jacoby's rule."""

    length: int = 0
    jacoby: bool = False
    cube: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.length <= MOST_AWAY:
            raise ArenaError(f"a match goes to 1 to {MOST_AWAY} points, not {self.length}")
        if self.length and self.jacoby:
            raise ArenaError("Jacoby's rule is for money games, not for matches")


@dataclass(frozen=True)
class SessionResult:
    """What bot A scored against bot B."""

    bot_a: str
    bot_b: str
    session: Session
    points: np.ndarray
    """[games] int64: A's points of each money game, or 1 for a match that A won and -1 for one it lost; game 2i and
    2i + 1 are pair i."""
    cubes: np.ndarray
    """[games] int64: value of the cube at the end of the (last) game."""
    seconds: float
    forfeits: tuple[Forfeit, ...] = ()
    """Games that an engine lost because it gave no legal answer; in a match there can be several."""

    @property
    def games(self) -> int:
        return len(self.points)

    @property
    def score(self) -> Score:
        """A's points per game, or the share of the matches that A won, with the 95% interval over pairs."""
        return self._score((self.points + 1) / 2 if self.session.length else self.points)

    @property
    def capped(self) -> Score:
        """A's points per money game when none counts more than CAP."""
        return self._score(np.clip(self.points, -CAP, CAP))

    @staticmethod
    def _score(values: np.ndarray) -> Score:
        return score(values.reshape(-1, 2).mean(axis=1))


def play_session(
    bot_a: Bot,
    bot_b: Bot,
    games: int,
    seed: int,
    session: Session,
    progress: Callable[[SessionResult], None] | None = None,
) -> SessionResult:
    """Play `games` matches or money games, an even number. Raises ArenaError.

    The result depends on the bots, the numbers and the seed, never on the batches. `progress` gets the result so
    far.
    """
    check_games_and_seed(games, seed)
    began = time.monotonic()
    points = cubes = np.zeros(0, dtype=np.int64)
    forfeits: tuple[Forfeit, ...] = ()
    result = SessionResult(bot_a.name, bot_b.name, session, points, cubes, 0.0)
    for begin in range(0, games // 2, _PAIRS_AT_ONCE):
        pairs = np.arange(begin, min(begin + _PAIRS_AT_ONCE, games // 2), dtype=np.int64)
        table = Tables(bot_a, bot_b, pairs, seed, session)
        table.play()
        forfeits += tuple(lost._replace(game=2 * begin + lost.game) for lost in table.forfeits)
        points, cubes = np.concatenate([points, table.won]), np.concatenate([cubes, table.last_cube])
        seconds = time.monotonic() - began
        result = SessionResult(bot_a.name, bot_b.name, session, points, cubes, seconds, forfeits)
        if progress is not None:
            progress(result)
    return result


class Tables:
    """Many tables at which the same two bots play, all a roll at a time; seats are 0 (bot A) and 1 (bot B)."""

    def __init__(self, bot_a: Bot, bot_b: Bot, pairs: np.ndarray, seed: int, session: Session) -> None:
        self.bots, self.seed, self.session = (bot_a, bot_b), seed, session
        count = 2 * len(pairs)
        self.pair, self.second = np.repeat(pairs, 2), np.arange(count) % 2
        self.score = np.zeros((count, 2), dtype=np.int64)
        self.game = np.zeros(count, dtype=np.int64)
        self.crawford = np.zeros(count, dtype=np.bool_)  # this is the Crawford game
        self.crawford_played = np.zeros(count, dtype=np.bool_)
        self.won = np.zeros(count, dtype=np.int64)
        self.last_cube = np.ones(count, dtype=np.int64)
        self.live = np.ones(count, dtype=np.bool_)
        self.board = np.empty((count, 26), dtype=np.int8)
        self.ply = np.zeros(count, dtype=np.int64)
        self.roller = np.zeros(count, dtype=np.int64)
        self.cube = np.ones(count, dtype=np.int64)
        self.owner = np.full(count, -1)  # a seat, or -1
        self.forfeits: list[Forfeit] = []
        self._begin(np.arange(count))

    def play(self) -> None:
        """Until every table is done."""
        for _ in range(MAX_PLIES * _MOST_GAMES):
            if not self.live.any():
                return
            if self.session.cube:
                self._cube()
            self._roll()
        raise ArenaError("the games do not end")

    def _begin(self, rows: np.ndarray) -> None:
        """A new game at these tables; the opening roll says who begins. In the second game of a pair the bots have
        changed seats, so the same dice favour the other one."""
        self.board[rows] = start_board()
        self.ply[rows], self.cube[rows], self.owner[rows] = 0, 1, -1
        opening = self._dice(rows)
        first_die_higher = opening[:, 0] > opening[:, 1]
        self.roller[rows] = np.where(first_die_higher, self.second[rows], 1 - self.second[rows])

    def _dice(self, rows: np.ndarray) -> np.ndarray:
        dice = np.empty((len(rows), 2), dtype=np.int8)
        numbers = self.pair[rows] * _MOST_GAMES + self.game[rows]
        for ply in np.unique(self.ply[rows]):
            same = self.ply[rows] == ply
            dice[same] = rolls(self.seed, numbers[same], ply)
        return dice

    def stakes(self, rows: np.ndarray) -> Stakes:
        """What is at stake at these tables, seen by the player on roll."""
        roller, count = self.roller[rows], len(rows)
        away = self.session.length - self.score[rows] if self.session.length else np.zeros((count, 2), dtype=np.int64)
        owner = self.owner[rows]
        mine = np.where(owner == roller, MINE, THEIRS)
        return Stakes(
            away[np.arange(count), roller],
            away[np.arange(count), 1 - roller],
            self.cube[rows],
            np.where(owner < 0, CENTRE, mine),
            self.crawford[rows] | (not self.session.cube),
            np.full(count, self.session.jacoby),
        )

    def _may_double(self) -> np.ndarray:
        """Tables whose player on roll may double to some use: not before the opening roll, with the cube in the
        middle or his, not in the Crawford game, and not where the cube already wins him the match."""
        mine = (self.owner < 0) | (self.owner == self.roller)
        may = self.live & (self.ply > 0) & mine & ~self.crawford & (self.cube < MOST_CUBE)
        if self.session.length:
            may &= self.session.length - self.score[np.arange(len(self.roller)), self.roller] > self.cube
        return np.flatnonzero(may)

    def _cube(self) -> None:
        asked = self._may_double()
        stakes = self.stakes(asked)
        failed: dict[int, str] = {}
        doubled = np.zeros(len(asked), dtype=np.bool_)
        taken = np.zeros(len(asked), dtype=np.bool_)
        for seat, bot in enumerate(self.bots):
            own = np.flatnonzero(self.roller[asked] == seat)
            if len(own):
                doubled[own] = _answers(failed, own, bot.doubles, self.board[asked[own]], stakes.take(own))
        doubled[list(failed)] = False
        self._forfeit({int(asked[row]): (int(self.roller[asked[row]]), why) for row, why in failed.items()})
        failed = {}
        for seat, bot in enumerate(self.bots):
            own = np.flatnonzero(doubled & (self.roller[asked] != seat))
            if len(own):
                taken[own] = _answers(failed, own, bot.takes, self.board[asked[own]], stakes.take(own))
        doubled[list(failed)] = False
        self._forfeit({int(asked[row]): (int(1 - self.roller[asked[row]]), why) for row, why in failed.items()})
        rows = asked[doubled & taken]
        self.cube[rows] *= 2
        self.owner[rows] = 1 - self.roller[rows]
        passed = asked[doubled & ~taken]
        self._end(passed, self.roller[passed], self.cube[passed])

    def _roll(self) -> None:
        rows = np.flatnonzero(self.live)
        dice, stakes = self._dice(rows), self.stakes(rows)
        failed: dict[int, str] = {}
        after = np.empty((len(rows), 26), dtype=np.int8)
        for seat, bot in enumerate(self.bots):
            own = np.flatnonzero(self.roller[rows] == seat)
            if len(own):
                boards, here = self.board[rows[own]], stakes.take(own)
                after[own] = _answers(failed, own, bot.choose_at, boards, dice[own], here)
        self._forfeit({int(rows[row]): (int(self.roller[rows[row]]), why) for row, why in failed.items()})
        played = np.ones(len(rows), dtype=np.bool_)
        played[list(failed)] = False
        rows, after = rows[played], after[played]
        self.board[rows] = after
        self.ply[rows] += 1
        points = points_lost_many(after).astype(np.int64)
        winner = self.roller[rows]
        self.roller[rows] = 1 - winner
        over = points > 0
        if self.session.jacoby:
            points[self.owner[rows] < 0] = np.minimum(points[self.owner[rows] < 0], 1)
        self._end(rows[over], winner[over], (points * self.cube[rows])[over])

    def _forfeit(self, lost: dict[int, tuple[int, str]]) -> None:
        """At these tables the player in a seat gave no legal answer, so the other one wins what the cube says."""
        if not lost:
            return
        self.forfeits += [Forfeit(table, seat, why) for table, (seat, why) in lost.items()]
        rows = np.array(list(lost))
        self._end(rows, np.array([1 - seat for seat, _ in lost.values()]), self.cube[rows])

    def _end(self, rows: np.ndarray, winner: np.ndarray, points: np.ndarray) -> None:
        """These tables' games are over."""
        self.score[rows, winner] += points
        self.last_cube[rows] = self.cube[rows]
        length = self.session.length
        done = np.ones(len(rows), dtype=np.bool_) if not length else self.score[rows, winner] >= length
        self.live[rows[done]] = False
        gain = 1 if length else points[done]
        self.won[rows[done]] = np.where(winner[done] == 0, gain, -gain)
        going = rows[~done]
        if len(going):
            self.game[going] += 1
            self.crawford_played[going] |= self.crawford[going]
            one_away = (length - self.score[going]).min(axis=1) == 1
            self.crawford[going] = one_away & ~self.crawford_played[going]
            self._begin(going)


def _answers(failed: dict[int, str], rows: np.ndarray, ask: Callable[..., np.ndarray], *given: Any) -> np.ndarray:
    """What a bot answers for these rows; where it gave no answer, `failed` is told what it did instead."""
    try:
        return ask(*given)
    except EngineFailure as failure:
        failed |= {int(rows[row]): why for row, why in failure.sentences.items()}
        return failure.answers
