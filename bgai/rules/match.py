"""A game as it stands at the table: the men, the score, the cube, the dice, and who may do what now.

A `Match` is a frozen value; every action returns the next one. The players are 0 and 1 and stay so from game to
game; `turn` says who is on roll, and `position` is always seen by him. Money is a match of length 0. Knows
nothing of value: which action is good is not said here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from bgai.rules.moves import afterstates
from bgai.rules.outcome import result
from bgai.rules.plays import IllegalPlay, Play, check_roll, legal_plays
from bgai.rules.position import MEN, Position

Decision = Literal["opening", "roll", "play", "take", "resign", "over"]

MOST_LENGTH = 999
MOST_SCORE = 32767  # what the 15 bits of a gnubg Match ID hold
MOST_CUBE = 32768  # what the 4 bits of a gnubg Match ID hold
MAX_CUBE = 1024
KINDS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}

_DUE = {
    "opening": "each player must throw one die",
    "roll": "the player on roll must roll or double",
    "play": "the roll must be played",
    "take": "the double must be taken or dropped",
    "resign": "the resignation must be accepted or declined",
    "over": "the game is over",
}


class InvalidMatch(ValueError):
    """These values do not fit each other; the message says which and what would be right."""


class IllegalAction(ValueError):
    """The rules do not allow this action now; the message says why."""


def game_points(kind: int, cube: int, *, turned: bool = True, jacoby: bool = False) -> int:
    """Points of a game won: kind 1, 2 or 3 (single, gammon, backgammon) times the cube.

    Under the Jacoby rule (money only) every game counts single while nobody has turned the cube.
    """
    return cube if jacoby and not turned else kind * cube


@dataclass(frozen=True, kw_only=True)
class Match:
    """One moment of a match or money session, checked. Raises InvalidMatch for what cannot be.

    `Match(length=5)` is the beginning of a 5-point match, `Match()` that of a money session.
    """

    position: Position = field(default_factory=Position.start)
    """The men, seen by the player on roll."""
    length: int = 0
    """Points that win the match; 0 for money."""
    score: tuple[int, int] = (0, 0)
    """Points of player 0 and player 1; those of a game that is over are counted already."""
    turn: int = 0
    """The player on roll, 0 or 1: who rolls or has rolled, who has doubled, who offers to resign."""
    decision: Decision = "opening"
    """What is due: both throw a die, roll (or double), play the dice, answer a double, answer a resignation."""
    dice: tuple[int, int] | None = None
    """The roll that is to be played, the higher die first."""
    cube: int = 1
    """What the game is played for. A double that waits for its answer is not counted yet."""
    cube_owner: int | None = None
    """The player who alone may double; None while the cube is in the middle."""
    crawford: bool = False
    """Whether this is the Crawford game, in which nobody doubles."""
    jacoby: bool = False
    """Money only: gammons count once the cube has been turned."""
    beavers: bool = False
    """Money only: who is doubled may redouble at once and keep the cube. The answer to it, a raccoon, is left out on
    purpose: hardly anybody plays it, no bot values it and few programs write it."""
    max_cube: int = MAX_CUBE
    """The highest value that the cube may reach."""
    resigned: int = 0
    """What the player on roll offers to lose, or lost by resigning: 1, 2 or 3 times the cube; 0 nothing."""

    def __post_init__(self) -> None:
        _check_types(self)
        _check_score(self)
        _check_cube(self)
        _check_decision(self)
        if self.decision == "over":
            _check_counted(self)

    # What stands on the table

    @property
    def decider(self) -> int | None:
        """The player who must act; None at the opening throw and when the game is over."""
        if self.decision in ("opening", "over"):
            return None
        return 1 - self.turn if self.decision in ("take", "resign") else self.turn

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts of player 0 and player 1; a man on the bar counts 25."""
        mine, theirs = self.position.pips
        return (mine, theirs) if self.turn == 0 else (theirs, mine)

    def view(self, player: int) -> Position:
        """The men seen by this player, whoever is on roll."""
        return self.position if player == self.turn else self.position.turned()

    def needs(self, player: int) -> int | None:
        """Points that the player still needs to win the match; None in a money session."""
        return self.length - self.score[player] if self.length else None

    @property
    def winner(self) -> int | None:
        """Who has won the game; None while it goes on."""
        if self.decision != "over":
            return None
        if MEN in self.position.off:
            return self.turn if result(self.position) > 0 else 1 - self.turn
        return 1 - self.turn if self.resigned else self.turn  # resigned, or the double was dropped

    @property
    def points(self) -> int:
        """What the game was won by, cube counted; 0 while it goes on. The winner may have needed fewer."""
        if self.decision != "over":
            return 0
        kind = abs(result(self.position)) if MEN in self.position.off else self.resigned
        if not kind:
            return self.cube
        return game_points(kind, self.cube, turned=self.cube_owner is not None, jacoby=self.jacoby)

    @property
    def match_winner(self) -> int | None:
        """Who has won the whole match; None while it goes on, and always in a money session."""
        if self.length:
            for player in (0, 1):
                if self.score[player] == self.length:
                    return player
        return None

    # Who may do what

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the methods that may be called now, those of the player who must act.

        "double" is left out where the cube is dead, though the rules would allow it: see `cube_dead`. A player
        whose turn it is may resign; an offered resignation is accepted or declined by the other one.
        """
        match self.decision:
            case "opening":
                return ("begin",)
            case "roll":
                doubles = self._no_double() is None and not self.cube_dead
                return ("roll", "double", "resign") if doubles else ("roll", "resign")
            case "play":
                return ("play", "resign")
            case "take":
                return ("take", "drop", "beaver") if self._no_beaver() is None else ("take", "drop")
            case "resign":
                return ("accept", "decline")
        return () if self.match_winner is not None else ("next_game",)

    @property
    def cube_dead(self) -> bool:
        """Whether the player on roll gains nothing by a double: the cube as it stands wins him the match."""
        needed = self.needs(self.turn)
        return needed is not None and self.cube >= needed

    def begin(self, die0: int, die1: int) -> Match:
        """The opening throw, a die each: the higher one begins and plays both. A tie is thrown again."""
        self._expect("begin", "opening")
        high, low = check_roll((die0, die1))
        if high == low:
            return self
        return replace(self, turn=0 if die0 > die1 else 1, decision="play", dice=(high, low))

    def roll(self, dice: Iterable[int]) -> Match:
        """The player on roll rolls. Raises ValueError for wrong dice."""
        self._expect("roll", "roll")
        return replace(self, decision="play", dice=check_roll(dice))

    def play(self, play: Play | Position) -> Match:
        """The roll is played: a `Play`, or the position after it seen by the opponent. Raises IllegalPlay."""
        self._expect("play", "play")
        dice = check_roll(self.dice or ())
        after = play.after if isinstance(play, Play) else play
        if not isinstance(after, Position):
            raise IllegalPlay(
                f"a play is a Play (of choose, legal_plays or parse_play) or the Position after it, not {play!r}"
            )
        reached, _ = afterstates(self.position.board[None], np.array([dice]))
        if not (reached == after.board).all(axis=1).any():
            example = legal_plays(self.position, dice)[0]
            raise IllegalPlay(f"{dice[0]}-{dice[1]} does not lead there; a legal play is {example}")
        if MEN not in after.off:
            return replace(self, position=after, turn=1 - self.turn, decision="roll", dice=None)
        turned = self.cube_owner is not None
        points = game_points(-result(after), self.cube, turned=turned, jacoby=self.jacoby)
        score = _counted(self.length, self.score, self.turn, points)
        return replace(self, position=after, turn=1 - self.turn, decision="over", dice=None, score=score)

    def double(self) -> Match:
        """The player on roll offers to double the cube. Allowed with a dead cube too. Raises IllegalAction."""
        self._expect("double", "roll")
        self._allow("double", self._no_double())
        return replace(self, decision="take")

    def take(self) -> Match:
        """The doubled player takes: he owns the cube at twice the value, and the doubler rolls."""
        self._expect("take", "take")
        return replace(self, decision="roll", cube=2 * self.cube, cube_owner=1 - self.turn)

    def beaver(self) -> Match:
        """The doubled player takes, doubles again at once and keeps the cube; the doubler rolls."""
        self._expect("beaver", "take")
        self._allow("beaver", self._no_beaver())
        return replace(self, decision="roll", cube=4 * self.cube, cube_owner=1 - self.turn)

    def drop(self) -> Match:
        """The doubled player gives up the game; the doubler wins what the cube was worth before."""
        self._expect("drop", "take")
        return self._over(self.turn, self.cube)

    def resign(self, kind: int) -> Match:
        """The player on roll offers to lose a single game (1), a gammon (2) or a backgammon (3)."""
        self._expect("resign", "roll", "play")
        if not isinstance(kind, int) or isinstance(kind, bool) or kind not in KINDS:
            raise IllegalAction(f"one resigns 1, 2 or 3 (single game, gammon, backgammon), not {kind!r}")
        return replace(self, decision="resign", resigned=kind)

    def accept(self) -> Match:
        """The resignation is accepted and ends the game."""
        self._expect("accept", "resign")
        turned = self.cube_owner is not None
        return self._over(1 - self.turn, game_points(self.resigned, self.cube, turned=turned, jacoby=self.jacoby))

    def decline(self) -> Match:
        """The resignation is declined; the game goes on where it was."""
        self._expect("decline", "resign")
        return replace(self, decision="play" if self.dice else "roll", resigned=0)

    def next_game(self, *, crawford_rule: bool = True) -> Match:
        """The beginning of the game after this one; the cube is in the middle at 1.

        It is the Crawford game when this game brought a player to one point from the match for the first time;
        the other one, at that score since earlier, has had it already.
        """
        self._expect("next_game", "over")
        winner = self.winner
        if winner is None or self.match_winner is not None:
            raise IllegalAction(f"the match is over: player {self.match_winner} has {self.length} points")
        crawford = crawford_rule and self.length > 1 and self.needs(winner) == 1 and self.needs(1 - winner) != 1
        return Match(
            length=self.length,
            score=self.score,
            crawford=crawford,
            jacoby=self.jacoby,
            beavers=self.beavers,
            max_cube=self.max_cube,
        )

    def _expect(self, action: str, *decisions: str) -> None:
        if self.decision not in decisions:
            raise IllegalAction(f"{action} is not possible now: {_DUE[self.decision]}")

    def _allow(self, action: str, why_not: str | None) -> None:
        if why_not is not None:
            raise IllegalAction(f"{action} is not allowed: {why_not}")

    def _no_double(self) -> str | None:
        if self.crawford:
            return "this is the Crawford game"
        if self.cube_owner == 1 - self.turn:
            return f"player {self.cube_owner} owns the cube"
        if 2 * self.cube > self.max_cube:
            return f"the cube may not go over {self.max_cube}"
        return None

    def _no_beaver(self) -> str | None:
        if not self.beavers:
            return "beavers are not played here"
        if 4 * self.cube > self.max_cube:
            return f"the cube may not go over {self.max_cube}"
        return None

    def _over(self, winner: int, points: int) -> Match:
        return replace(self, decision="over", score=_counted(self.length, self.score, winner, points))


def _counted(length: int, score: tuple[int, int], winner: int, points: int) -> tuple[int, int]:
    """The score after the winner has got his points; nobody gets more than the match is long."""
    most = length or MOST_SCORE
    after = [*score]
    after[winner] = min(score[winner] + points, most)
    return after[0], after[1]


def _check_types(match: Match) -> None:
    """Every field by itself; puts score and dice into their one form."""
    if not isinstance(match.position, Position):
        raise InvalidMatch(f"position must be a Position, not {match.position!r}")
    for name in ("length", "turn", "cube", "max_cube", "cube_owner", "resigned"):
        object.__setattr__(match, name, _plain(getattr(match, name)))
    _whole("length", match.length, 0, MOST_LENGTH, "0 is money")
    score = match.score
    if not isinstance(score, tuple | list) or len(score) != 2:
        raise InvalidMatch(f"score must be two numbers, of player 0 and player 1, not {score!r}")
    score = tuple(map(_plain, score))
    for player, points in enumerate(score):
        _whole(f"the score of player {player}", points, 0, MOST_SCORE)
    object.__setattr__(match, "score", score)
    _whole("turn", match.turn, 0, 1, "the player on roll")
    if not isinstance(match.decision, str) or match.decision not in _DUE:
        raise InvalidMatch(f"decision must be one of {', '.join(_DUE)}, not {match.decision!r}")
    if match.dice is not None:
        try:
            object.__setattr__(match, "dice", check_roll(match.dice))
        except ValueError as error:
            raise InvalidMatch(f"dice: {error}") from None
    for name, value in (("cube", match.cube), ("max_cube", match.max_cube)):
        _whole(name, value, 1, MOST_CUBE)
        if value & (value - 1):
            raise InvalidMatch(f"{name} must be 1, 2, 4, 8 or another power of two, not {value}")
    if match.cube_owner is not None:
        _whole("cube_owner", match.cube_owner, 0, 1, "or None while it is in the middle")
    for name in ("crawford", "jacoby", "beavers"):
        if not isinstance(getattr(match, name), bool):
            raise InvalidMatch(f"{name} must be True or False, not {getattr(match, name)!r}")
    _whole("resigned", match.resigned, 0, 3, "0 is no resignation")


def _plain(value: Any) -> Any:
    """numpy's whole numbers as Python's, which JSON can write."""
    return int(value) if isinstance(value, np.integer) else value


def _whole(name: str, value: Any, low: int, high: int, meaning: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        more = f" ({meaning})" if meaning else ""
        raise InvalidMatch(f"{name} must be a whole number from {low} to {high}{more}, not {value!r}")


def _check_score(match: Match) -> None:
    if not match.length:
        if match.crawford:
            raise InvalidMatch("a money session has no Crawford game; crawford must be False")
        return
    for name in ("jacoby", "beavers"):
        if getattr(match, name):
            raise InvalidMatch(f"{name} belongs to money; in a match it must be False")
    most = match.length if match.decision == "over" else match.length - 1
    for player, points in enumerate(match.score):
        if points > most:
            won = "the match is won then" if points == match.length else "it is never more than the match is long"
            raise InvalidMatch(
                f"player {player} cannot have {points} points of {match.length} while decision is "
                f"{match.decision!r}: {won}"
            )
    if match.score == (match.length, match.length):
        raise InvalidMatch(f"both players have {match.length} points; only one can win the match")
    if not match.crawford:
        return
    if match.length == 1:
        raise InvalidMatch("a match of one point has no Crawford game; crawford must be False")
    if match.decision != "over" and [match.length - points for points in match.score].count(1) != 1:
        raise InvalidMatch(
            f"in the Crawford game exactly one player has {match.length - 1} of {match.length} points; "
            f"the score is {match.score[0]}-{match.score[1]}"
        )


def _check_cube(match: Match) -> None:
    if match.cube > match.max_cube:
        raise InvalidMatch(f"the cube is at {match.cube}, over its limit max_cube {match.max_cube}")
    if match.cube == 1 and match.cube_owner is not None:
        raise InvalidMatch("the cube at 1 is in the middle; cube_owner must be None")
    if match.crawford and match.cube > 1:
        raise InvalidMatch(f"nobody doubles in the Crawford game; the cube must be at 1, not {match.cube}")
    if match.length and match.cube > 1 and match.cube_owner is None:
        raise InvalidMatch(f"in a match the cube at {match.cube} belongs to a player; cube_owner must be 0 or 1")
    if match.decision == "take":
        why_not = match._no_double()
        if why_not is not None:
            raise InvalidMatch(f"player {match.turn} cannot have doubled: {why_not}")


def _check_decision(match: Match) -> None:
    finished = MEN in match.position.off
    if finished and match.decision != "over":
        raise InvalidMatch("a player has borne off all his men; decision must be 'over'")
    if match.decision == "play" and match.dice is None:
        raise InvalidMatch("decision 'play' needs the dice that were rolled")
    if match.dice is not None and match.decision in ("opening", "roll", "take"):
        raise InvalidMatch(f"there can be no dice while decision is {match.decision!r}; dice must be None")
    if match.resigned and match.decision not in ("resign", "over"):
        raise InvalidMatch(f"resigned must be 0 while decision is {match.decision!r}")
    if match.decision == "resign" and not match.resigned:
        raise InvalidMatch("decision 'resign' needs what is offered: resigned must be 1, 2 or 3")
    if match.decision != "opening":
        return
    if match.position != Position.start():
        raise InvalidMatch("before the opening throw the men stand as at the start of a game")
    if match.turn != 0 or match.cube_owner is not None:
        raise InvalidMatch("before the opening throw nobody is on roll or owns the cube; turn must be 0")


def _check_counted(match: Match) -> None:
    """The score of a game that is over must hold the points of its winner."""
    winner, points = match.winner, match.points
    if MEN in match.position.off and match.resigned:
        raise InvalidMatch("the game ended by bearing off; resigned must be 0")
    if MEN not in match.position.off and not match.resigned:
        # Neither borne off nor resigned: the double of the player on roll was dropped.
        why_not = match._no_double()
        if why_not is not None:
            raise InvalidMatch(f"the game cannot be over: nobody has borne off or resigned, and {why_not}")
        if match.dice is not None:
            raise InvalidMatch("the game cannot be over: the dice are still to be played")
    if winner is not None and match.score[winner] < min(points, match.length or points):
        raise InvalidMatch(
            f"player {winner} has won {points} with this game, so his score must be at least "
            f"{min(points, match.length or points)}, not {match.score[winner]}"
        )
