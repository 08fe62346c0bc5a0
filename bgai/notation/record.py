"""A whole match, money session or single game as it was played: the value that .mat and SGF files hold.

A `Record` is checked when it is made: every play is legal, every cube action possible, every score follows from
the games before. Knows no file format; `mat` and `sgf` read and write it, and share the `GameBuilder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from bgai.notation.plays import parse_play
from bgai.rules.match import KINDS, MAX_CUBE, Match
from bgai.rules.plays import Play, legal_plays

Kind = Literal["play", "roll", "double", "take", "drop", "beaver", "resign"]
Headers = tuple[tuple[str, str], ...]


class InvalidRecord(ValueError):
    """This is no record of a match; the message says where (line, or game and action) and why."""


@dataclass(frozen=True)
class Action:
    """What one player did. A roll and what was played with it are one action."""

    player: int
    kind: Kind
    dice: tuple[int, int] | None = None
    """The roll of "play" and "roll", the higher die first."""
    play: Play | None = None
    """What was played; a `Play` without moves where the roll allowed none. "roll" is a roll left unplayed."""
    points: int = 0
    """What "resign" gave up: 1 a single game, 2 a gammon, 3 a backgammon."""


@dataclass(frozen=True)
class Game:
    """One game: how it began (before the opening throw) and what was done. Raises InvalidRecord."""

    start: Match
    actions: tuple[Action, ...]

    def __post_init__(self) -> None:
        if self.start.decision != "opening":
            raise InvalidRecord(f"a game begins before the opening throw, not with decision {self.start.decision!r}")
        _ = self.states

    @cached_property
    def states(self) -> tuple[Match, ...]:
        """The table before each action, and at last after all of them."""
        states = [self.start]
        for number, action in enumerate(self.actions, start=1):
            try:
                states.append(follow(states[-1], action))
            except ValueError as error:
                raise InvalidRecord(f"action {number}: {error}") from None
        return tuple(states)

    @property
    def score(self) -> tuple[int, int]:
        """Points of player 0 and player 1 before this game."""
        return self.start.score

    @property
    def end(self) -> Match:
        """The table after the last action."""
        return self.states[-1]

    @property
    def winner(self) -> int | None:
        """Who won; None when the game was left unfinished."""
        return self.end.winner

    @property
    def points(self) -> int:
        """What was won, cube counted; 0 when the game was left unfinished."""
        return self.end.points


@dataclass(frozen=True)
class Record:
    """Games of two players in their order, with the rules that they were played by. Raises InvalidRecord."""

    players: tuple[str, str]
    """Names of player 0 (left in .mat, White in SGF) and player 1."""
    games: tuple[Game, ...]
    length: int = 0
    """Points that win the match; 0 for money and for a single game."""
    crawford: bool = True
    """Whether the match has a Crawford game."""
    jacoby: bool = False
    beavers: bool = False
    max_cube: int = MAX_CUBE
    headers: Headers = ()
    """What the file says besides, (name, value), in its order: ("Event", "Spring Cup"), ("Site", "Paris")."""

    def __post_init__(self) -> None:
        for number, (game, following) in enumerate(zip(self.games, self.games[1:], strict=False), start=1):
            if following.start.score != game.end.score:
                raise InvalidRecord(_score_jump(number + 1, game.end.score, following.start.score))
        for number, game in enumerate(self.games, start=1):
            rules = (game.start.length, game.start.jacoby, game.start.beavers, game.start.max_cube)
            if rules != (self.length, self.jacoby, self.beavers, self.max_cube):
                raise InvalidRecord(f"game {number} has other rules than the record (length, Jacoby, beavers, cube)")

    @property
    def score(self) -> tuple[int, int]:
        """Points of player 0 and player 1 after the last game."""
        return self.games[-1].end.score if self.games else (0, 0)


def follow(match: Match, action: Action) -> Match:
    """The table after an action. Raises ValueError when it is not this player's turn or against the rules.

    The opening throw is taken from the first roll, whoever has it. A player may resign at any moment, also out of
    turn, as players do; the resignation counts as accepted.
    """
    if action.kind == "resign":
        return _resigned(match, action)
    if match.decision == "opening":
        if action.dice is None:
            raise ValueError(f"the game must begin with a roll, not with {action.kind}")
        match = replace(match, turn=action.player, decision="play", dice=action.dice)
    elif match.decision == "play" or action.player != match.decider:
        raise ValueError(_not_his_turn(match, action))
    elif action.kind in ("play", "roll"):
        match = match.roll(action.dice or ())
    if action.kind == "roll":
        return match
    if action.kind == "play":
        if action.play is None:
            raise ValueError("an action of kind 'play' needs its play")
        return match.play(action.play)
    cube_actions = {"double": match.double, "take": match.take, "drop": match.drop, "beaver": match.beaver}
    return cube_actions[action.kind]()


class GameBuilder:
    """Puts a game together from what a file says, action by action. Every method raises ValueError."""

    def __init__(self, start: Match) -> None:
        self.start = start
        self.now = start
        self.actions: list[Action] = []

    def add(self, action: Action) -> None:
        """The next action."""
        self.now = follow(self.now, action)
        self.actions.append(action)

    def add_roll(self, player: int, dice: tuple[int, int], text: str) -> None:
        """A roll and the text of its play. Without a text, nothing was played or nothing was recorded."""
        high, low = max(dice), min(dice)
        if self.now.decision != "opening" and (self.now.decision == "play" or player != self.now.decider):
            raise ValueError(_not_his_turn(self.now, Action(player, "play")))
        position = self.now.view(player)
        if not text and legal_plays(position, dice)[0].moves:
            self.add(Action(player, "roll", (high, low)))
        else:
            self.add(Action(player, "play", (high, low), parse_play(text, position, dice)))

    def add_double(self, player: int) -> None:
        """A double, or a beaver where the player has just been doubled."""
        beavered = self.now.decision == "take" and player == self.now.decider
        self.add(Action(player, "beaver" if beavered else "double"))

    def add_take(self, player: int) -> None:
        """A take. After a beaver the doubler's own "take" only says that he plays on."""
        if not (self.actions and self.actions[-1].kind == "beaver" and player == self.now.turn):
            self.add(Action(player, "take"))

    def end(self, winner: int, points: int) -> None:
        """The file says who won how many points. Where nothing at the table ended the game, the loser resigned.

        At the end of a match some files count no more points than the winner needed.
        """
        needed = self.start.needs(winner)
        if self.now.decision != "over":
            kind = next((kind for kind in KINDS if kind * self.now.cube >= points), 3)
            self.add(Action(1 - winner, "resign", points=kind))
        if self.now.winner != winner:
            raise ValueError("the file says that the other player won this game")
        if points != self.now.points and (needed is None or points != min(self.now.points, needed)):
            raise ValueError(f"the file says that {points} points were won; it must be {self.now.points}")

    def game(self) -> Game:
        """The game as it is now."""
        return Game(self.start, tuple(self.actions))


def next_start(record_so_far: Sequence[Game], start: Match, crawford_rule: bool) -> Match:
    """`start`, known but for the Crawford rule, as the beginning of the game after these.

    Where the games before are not known, a player one point from the match is taken to have just got there.
    Raises InvalidRecord when the score does not follow.
    """
    if record_so_far:
        last = record_so_far[-1]
        if last.end.score != start.score:
            raise InvalidRecord(_score_jump(len(record_so_far) + 1, last.end.score, start.score))
        if last.winner is None:
            return replace(start, crawford=last.start.crawford)
        if last.end.match_winner is not None:
            raise InvalidRecord("there is a game after the end of the match")
        return replace(start, crawford=last.end.next_game(crawford_rule=crawford_rule).crawford)
    one_away = [start.needs(player) for player in (0, 1)].count(1) == 1
    return replace(start, crawford=crawford_rule and one_away and start.length > 1)


def _resigned(match: Match, action: Action) -> Match:
    if match.decision in ("over", "resign"):
        raise ValueError("the game is over")
    if match.decision == "opening" or match.turn != action.player or match.decision == "take":
        match = replace(match, turn=action.player, position=match.view(action.player), decision="roll", dice=None)
    return match.resign(action.points).accept()


def _not_his_turn(match: Match, action: Action) -> str:
    if match.decision == "over":
        return "the game is over"
    if match.decision == "play":
        return "the roll {}-{} before this was not played, and it could be".format(*(match.dice or ()))
    due = "must answer a double" if match.decision == "take" else "is on roll"
    return f"player {action.player} cannot {action.kind} now: player {match.decider} {due}"


def _score_jump(number: int, before: tuple[int, int], given: tuple[int, int]) -> str:
    return f"game {number} begins at {given[0]}-{given[1]}, but after the games before it is {before[0]}-{before[1]}"
