"""What a bot says of positions and whole matches: every play and cube action valued, errors, luck, PR.

All equities are cubeful, at the score, per unit of the present cube (in a match: winning chances on that scale),
seen by the player whose action it is. Knows no printing and no files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bgai.bots import ValueBot
from bgai.evaluation.cube import Stakes
from bgai.evaluation.cube_decision import CubeDecision, cube_plies, per_cube, stakes_of
from bgai.evaluation.cubeful import play_values
from bgai.evaluation.lookahead import look_ahead
from bgai.evaluation.search import value_afterstates
from bgai.notation.record import Action, Record, follow
from bgai.rules.dice import ROLL_CHANCES, ROLLS
from bgai.rules.match import Match
from bgai.rules.outcome import Outcomes, turn_outcomes
from bgai.rules.plays import Play, legal_plays

PR_PER_ERROR = 500
CLOSE = 0.16  # cube actions nearer than this to the other choice are decisions; the rest nobody thinks about
MARKS = ((0.16, "??"), (0.08, "?"), (0.02, "?!"))  # as gnubg marks very bad, bad and doubtful plays


@dataclass(frozen=True)
class RankedPlay:
    """A legal play and what it leaves the mover."""

    play: Play
    equity: float
    outcomes: Outcomes


def rank_plays(bot: ValueBot, match: Match) -> list[RankedPlay]:
    """All plays of the roll, best first, with cube and score counted, as deep as the bot looks. Raises ValueError
    when there is no roll to play."""
    if match.decision != "play" or match.dice is None:
        raise ValueError(f"there is no roll to play: decision is {match.decision!r}")
    plays = {play.after.men: play for play in legal_plays(match.position, match.dice)}
    rows, outcomes, values = _valued(bot, match, np.array([match.dice], dtype=np.int8))[:3]
    mine = turn_outcomes(outcomes)
    return [
        RankedPlay(plays[tuple(rows[row].tolist())], float(values[row]), Outcomes(*mine[row].tolist()))
        for row in np.argsort(-values, kind="stable")
    ]


def luck_of(bot: ValueBot, match: Match) -> float:
    """How much better the roll of this match was than the mean of all, each played best at one ply."""
    if match.dice is None:
        raise ValueError("there is no roll")
    shallow = ValueBot(bot.network, name=bot.name, bearoff=bot.bearoff)
    _, _, values, starts = _valued(shallow, match, ROLLS)
    best = np.maximum.reduceat(values, starts[:-1])
    high, low = match.dice
    rolled = np.flatnonzero((ROLLS[:, 0] == high) & (ROLLS[:, 1] == low))[0]
    return float(best[rolled] - ROLL_CHANCES @ best)


def _valued(bot: ValueBot, match: Match, dice: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Afterstates of rolls [R, 2] in this match, the opponent's chances there, the mover's equities, and starts."""
    boards = np.repeat(match.position.board[None], len(dice), axis=0)
    rows, starts, outcomes = value_afterstates(bot.outcomes, boards, dice)
    if bot.plies > 1:
        outcomes = look_ahead(bot.outcomes, rows, bot.plies - 1)
    stakes = stakes_of(match)
    each = Stakes(*(np.repeat(array, len(rows)) for array in stakes))
    return rows, outcomes, per_cube(play_values(rows, outcomes, each), stakes), starts


@dataclass(frozen=True)
class Choice:
    """One decision of a player."""

    game: int
    """Number of the game, from 1."""
    number: int
    """Number of the action in its game, from 1."""
    player: int
    kind: str
    """"play", "double", "no double", "take" or "drop"."""
    before: Match
    made: str
    best: str
    equity: float
    best_equity: float
    counted: bool
    """Whether it is a decision for the PR: a roll with several plays, a cube action that somebody thinks about."""
    luck: float | None = None
    """Of the roll, for plays."""
    ranked: tuple[RankedPlay, ...] = field(default=(), repr=False)
    cube: CubeDecision | None = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """What the choice lost, never below zero."""
        return max(0.0, self.best_equity - self.equity)

    @property
    def mark(self) -> str:
        """ "??", "?", "?!" or nothing, by the size of the error."""
        return next((mark for least, mark in MARKS if self.error >= least), "")


@dataclass(frozen=True)
class Summary:
    """One player's side of an analysis."""

    decisions: int
    error: float
    """Sum of all errors."""
    play_error: float
    cube_error: float
    luck: float
    """Sum over his rolls."""
    marks: tuple[int, int, int]
    """How many "??", "?" and "?!"."""

    @property
    def pr(self) -> float | None:
        """500 times the mean error per decision; None without a decision."""
        return PR_PER_ERROR * self.error / self.decisions if self.decisions else None


@dataclass(frozen=True)
class Analysis:
    """All choices of a record, in order."""

    record: Record
    bot: str
    plies: int
    """How deep plays were looked at."""
    cube_plies: int
    """How deep cube actions were looked at."""
    bearoff: bool
    """Whether exact tables valued pure bearoffs."""
    choices: tuple[Choice, ...]

    def summary(self, player: int, game: int | None = None) -> Summary:
        """A player's errors and luck, in one game or in all."""
        own = [c for c in self.choices if c.player == player and game in (None, c.game)]
        plays = [c for c in own if c.kind == "play"]
        return Summary(
            decisions=sum(c.counted for c in own),
            error=sum(c.error for c in own),
            play_error=sum(c.error for c in plays),
            cube_error=sum(c.error for c in own if c.kind != "play"),
            luck=sum(c.luck or 0.0 for c in plays),
            marks=tuple(sum(c.mark == mark for c in own) for _, mark in MARKS),  # type: ignore[arg-type]
        )


def analyze_record(bot: ValueBot, record: Record, progress: Callable[[], object] | None = None) -> Analysis:
    """Every choice in a record; `progress` is called after each action."""
    choices: list[Choice] = []
    for number, game in enumerate(record.games, start=1):
        for index, (action, state) in enumerate(zip(game.actions, game.states, strict=False), start=1):
            where = (number, index, action.player)
            if action.kind in ("play", "roll", "double") and state.decision == "roll":
                choices += _cube_choice(bot, state, where, doubled=action.kind == "double")
            if action.kind in ("take", "drop", "beaver"):
                double = next((c for c in choices[-1:] if (c.kind, c.game) == ("double", number)), None)
                choices += _answer(bot, state, where, taken=action.kind != "drop", double=double)
            if action.kind == "play" and action.dice is not None and action.play is not None:
                choices.append(_play_choice(bot, _rolled(state, action.player, action.dice), where, action.play))
            if progress is not None:
                progress()
    return Analysis(record, bot.name, bot.plies, cube_plies(bot.plies), bot.bearoff is not None, tuple(choices))


def _rolled(state: Match, player: int, dice: tuple[int, int]) -> Match:
    """The table with the roll to be played; the opening throw is taken from the first roll, as records take it."""
    return follow(state, Action(player, "roll", dice)) if state.decision in ("opening", "roll") else state


def _play_choice(bot: ValueBot, match: Match, where: tuple[int, int, int], made: Play) -> Choice:
    ranked = rank_plays(bot, match)
    own = next(each for each in ranked if each.play.after.men == made.after.men)
    return Choice(
        *where,
        kind="play",
        before=match,
        made=str(made),
        best=str(ranked[0].play),
        equity=own.equity,
        best_equity=ranked[0].equity,
        counted=len(ranked) > 1,
        luck=luck_of(bot, match),
        ranked=tuple(ranked),
    )


def _cube_choice(bot: ValueBot, match: Match, where: tuple[int, int, int], doubled: bool) -> list[Choice]:
    if "double" not in match.actions and not doubled:
        return []
    cube = bot.cube(match)
    if cube.double_take is None or cube.double_pass is None:  # doubled with a dead cube: nothing to compare
        return []
    offered = min(cube.double_take, cube.double_pass)
    equity = offered if doubled else cube.no_double
    return [
        Choice(
            *where,
            kind="double" if doubled else "no double",
            before=match,
            made="double" if doubled else "no double",
            best=cube.action,
            equity=equity,
            best_equity=max(cube.no_double, offered),
            counted=doubled or abs(cube.no_double - offered) < CLOSE or offered > cube.no_double,
            cube=cube,
        )
    ]


def _answer(
    bot: ValueBot, match: Match, where: tuple[int, int, int], *, taken: bool, double: Choice | None
) -> list[Choice]:
    """The choice of the player who was doubled; it hangs on the same numbers as the double just before."""
    cube = bot.cube(match) if double is None or double.cube is None else double.cube
    if cube.double_take is None or cube.double_pass is None:
        return []
    return [
        Choice(
            *where,
            kind="take" if taken else "drop",
            before=match,
            made="take" if taken else "drop",
            best="take" if cube.takes else "drop",
            equity=-(cube.double_take if taken else cube.double_pass),
            best_equity=-min(cube.double_take, cube.double_pass),
            counted=True,
            cube=cube,
        )
    ]
