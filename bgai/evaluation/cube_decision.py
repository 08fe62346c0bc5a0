"""One cube decision, worked out and explained. The numbers come from bgai.evaluation.cube and .cubeful."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import numpy as np

from bgai.evaluation.cube import CENTRE, MINE, MOST_AWAY, THEIRS, Stakes, cash_point, position_efficiency
from bgai.evaluation.cubeful import answer_useless_doubles, chance_after, roll_outcomes, static_values
from bgai.evaluation.lookahead import best_replies
from bgai.evaluation.match_equity import match_equity
from bgai.evaluation.search import Evaluator
from bgai.rules.dice import ROLL_CHANCES, ROLLS
from bgai.rules.match import Match
from bgai.rules.outcome import Outcomes, points_lost_many

CubeValues = Callable[[np.ndarray, Stakes, np.ndarray], np.ndarray]
"""(boards [B, 26], stakes of B games, chances there [B, 6]) -> no double, double and take, double and pass [B, 3]."""
Action = Literal["no double", "double, take", "double, pass", "double, beaver", "too good", "no cube"]
Answer = Literal["take", "pass", "beaver"]


@dataclass(frozen=True)
class CubeDecision:
    """What the player on roll should do with the cube before he rolls, and the other one when he doubles.

    Equities are his, cubeful, per unit of the present cube: in money play points; in a match winning chances put on
    the same scale, 1 being the game won and -1 the game lost at the present cube. Where he may not double, the last
    two are None.
    """

    action: Action
    why: str
    """A sentence."""
    no_double: float
    double_take: float | None
    double_pass: float | None
    match_chances: tuple[float, float, float] | None
    """Chances to win the match without a double, after double and take, after double and pass; None for money, and
    where he may not double."""
    outcomes: Outcomes
    """His chances in this game, without the cube."""
    take_point: float | None
    """Chance to win the game that the doubled player needs to take here, his gammons and the doubler's counted. It
    follows from the values, so it never contradicts them; exact where they are and the cube is dead after a take."""
    plies: int
    """How deep the cube was looked at; see `cube_plies`."""
    answer: Answer | None = field(default=None, compare=False)
    """What the doubled player should do; None while nobody has doubled."""
    answer_why: str | None = field(default=None, compare=False)
    """A sentence, where there is an answer."""
    _market_losers: Callable[[], float] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def market_losers(self) -> float | None:
        """Share of the exchanges (his roll and the answer) after which a double that would be taken now is passed;
        None where he may not double. Worked out when asked for: it takes ten times as long as the rest."""
        return None if self._market_losers is None else self._market_losers()

    @property
    def doubles(self) -> bool:
        """Whether the player on roll should double."""
        return self.action.startswith("double")

    @property
    def takes(self) -> bool:
        """Whether the other player should take a double."""
        return self.double_take is not None and self.double_pass is not None and self.double_take <= self.double_pass

    @property
    def beavers(self) -> bool:
        """Whether the other player should beaver, where that is played: the doubler is the underdog after it. Never
        in a match."""
        return self.match_chances is None and self.double_take is not None and self.double_take < 0


def stakes_of(match: Match) -> Stakes:
    """What a match is played for at this moment, seen by the player on roll. Of more than 25 points still to be made
    no more than 25 are counted; a cube that may go no higher is none, as in the Crawford game."""
    away = [min(match.length - points, MOST_AWAY) if match.length else 0 for points in match.score]
    owner = CENTRE if match.cube_owner is None else MINE if match.cube_owner == match.turn else THEIRS
    return Stakes(
        np.array([away[match.turn]]),
        np.array([away[1 - match.turn]]),
        np.array([match.cube]),
        np.array([owner]),
        np.array([match.crawford or 2 * match.cube > match.max_cube]),
        np.array([match.jacoby]),
    )


def check_match(match: Match) -> None:
    """Raises ValueError for anything else."""
    if not isinstance(match, Match):
        raise ValueError(
            f"decisions with the cube need a bgai.Match, such as Match(position=..., decision='roll'), not {match!r}"
        )


def cube_plies(plies: int) -> int:
    """How deep a bot that looks `plies` deep for plays looks at cube actions: one roll ahead at most."""
    return min(plies, 2)


def decide(evaluate: Evaluator, value: CubeValues, match: Match, plies: int = 1) -> CubeDecision:
    """The cube decision of the player on roll, before he rolls or after he has doubled; `value` gives the cube values
    of boards, looking `plies` ahead. Raises ValueError when no such decision is due."""
    check_match(match)
    if match.decision not in ("roll", "take"):
        raise ValueError(f"there is no cube decision to make: decision is {match.decision!r}")
    boards, stakes = match.position.board[None], stakes_of(match)
    outcomes = roll_outcomes(evaluate, boards)
    found = value(boards, stakes, outcomes)
    if match.decision == "take":
        answer_useless_doubles(found, outcomes, boards, stakes)
    values = found[0]
    if 2 * match.cube > match.max_cube:
        values[1:] = np.nan
    may = not np.isnan(values[2])
    equities = per_cube(values, stakes)
    action = _action(values, equities, match.beavers)
    take_point = None
    if may:
        table = match_equity()
        efficiency = float(position_efficiency(boards)[0])
        take_point = 1 - cash_point(outcomes, efficiency, stakes, values, table.pre, table.post)
    answer, answer_why = _answer(equities, match) if may and match.decision == "take" else (None, None)
    return CubeDecision(
        action=action,
        why=_why(action, equities, match),
        no_double=float(equities[0]),
        double_take=float(equities[1]) if may else None,
        double_pass=float(equities[2]) if may else None,
        match_chances=(float(values[0]), float(values[1]), float(values[2])) if match.length and may else None,
        outcomes=Outcomes(*outcomes[0].tolist()),
        take_point=take_point,
        plies=cube_plies(plies),
        answer=answer,
        answer_why=answer_why,
        _market_losers=partial(market_losers, evaluate, boards, stakes) if may else None,
    )


def market_losers(evaluate: Evaluator, boards: np.ndarray, stakes: Stakes) -> float:
    """Share of the exchanges after which the player on roll in the one board [1, 26] could cash: his roll and the
    other's, each played as well as the cube is worth."""
    after = best_replies(evaluate, boards).boards[0]
    going = points_lost_many(after) == 0
    lost = float(ROLL_CHANCES[~going].sum())  # he has won: the market is gone
    if going.any():
        answers = best_replies(evaluate, after[going])
        rows = answers.boards.reshape(-1, after.shape[1])
        each = stakes.take(np.zeros(len(rows), dtype=np.int64))
        values = static_values(answers.outcomes.reshape(len(rows), -1), rows, each)
        with np.errstate(invalid="ignore"):
            passed = (values[:, 1] > values[:, 2]) & (points_lost_many(rows) == 0)
        lost += float(ROLL_CHANCES[going] @ (passed.reshape(-1, len(ROLLS)) @ ROLL_CHANCES))
    return lost


def per_cube(values: np.ndarray, stakes: Stakes) -> np.ndarray:
    """Values of one game [k], stakes [1], on the scale of the present cube: match chances so that the game won is 1
    and lost -1; money values as they are."""
    if stakes.my_away[0] == 0:
        return values
    won, lost = (chance_after(stakes, winner) for winner in (1, -1))
    return (values - (won + lost) / 2) / ((won - lost) / 2)


def _action(values: np.ndarray, equities: np.ndarray, beavers: bool) -> Action:
    if np.isnan(values[2]):
        return "no cube"
    if values[1] > values[2]:
        return "too good" if values[0] > values[2] else "double, pass"
    if values[1] > values[0]:
        return "double, beaver" if beavers and equities[1] < 0 else "double, take"
    return "no double"


def _why(action: Action, equities: np.ndarray, match: Match) -> str:
    no_double, take, passed = (float(value) for value in equities)
    doubling = "redoubling" if match.cube_owner == match.turn else "doubling"
    if action == "no cube":
        if match.crawford:
            return "this is the Crawford game: nobody doubles"
        if match.cube_owner == 1 - match.turn:
            return "the other player owns the cube"
        if match.cube_dead:
            return "the cube is dead: it wins the match as it stands"
        return "the cube may not go higher"
    if action == "too good":
        return f"too good: playing on for a gammon is worth {no_double:+.3f}, a pass only {passed:+.3f}"
    if action == "double, pass":
        return f"a take would cost the other {take - passed:.3f} more than to pass"
    if action == "double, take":
        gain = f"gains {take - no_double:.3f}"
        if round(take - no_double, 3) == 0:  # as after Crawford, often
            gain = "now or at the next turn is the same"
        return f"{doubling} {gain}; a pass would give {passed - take:.3f} away"
    if action == "double, beaver":
        return f"{doubling} loses less than rolling on, but the other is the favourite: {take:+.3f}"
    if take < 0 and not match.length:
        return f"{doubling} would cost {no_double - take:.3f}, and where beavers are played it is a beaver"
    return f"{doubling} would cost {no_double - min(take, passed):.3f}"


def _answer(equities: np.ndarray, match: Match) -> tuple[Answer, str]:
    """What the doubled player should do, and why."""
    take, passed = float(equities[1]), float(equities[2])
    if take > passed:
        return "pass", f"a take would cost {take - passed:.3f}"
    if match.beavers and take < 0 and "beaver" in match.actions:
        return "beaver", f"a pass would cost {passed - take:.3f}, and the doubler is the underdog"
    return "take", f"a pass would cost {passed - take:.3f}"
