"""JSON from outside -> positions, matches and bots, checked. Every error is a BadRequest with one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from bgai.bots import LEVELS, ValueBot, load
from bgai.notation.ids import parse_id
from bgai.notation.plain import from_dict
from bgai.rules.match import Decision, Match
from bgai.rules.outcome import result
from bgai.rules.plays import check_roll
from bgai.rules.position import Position

DEFAULT_BOT = "strong"
BOTS = (*LEVELS, *(f"{level}@2" for level in LEVELS))
"""Names that may be asked for. Never a path: files of the server are nobody's business."""
MOST_AWAY = 999
_POSITIONS = "an XGID, a gnubg ID, a FIBS board, 26 numbers seen by the player on roll, or the fields of a match"
_TABLE_FIELDS = ("position", "dice", "away", "cube", "cube_owner", "crawford", "jacoby", "doubled")


class BadRequest(ValueError):
    """What was sent cannot be answered; the message says why."""


class OutOfTime(ValueError):
    """There was no time to answer; the message says what to ask instead."""


@cache
def bot_named(name: str) -> ValueBot:
    """The bot of one of BOTS, loaded once. Raises BadRequest."""
    if name not in BOTS:
        raise BadRequest(f"there is no bot {str(name)[:40]!r} here: give {', '.join(BOTS[:-1])} or {BOTS[-1]}")
    return load(name)


def bot_of(body: Mapping[str, Any]) -> ValueBot:
    """The bot that a request asks for."""
    name = body.get("bot", DEFAULT_BOT)
    if not isinstance(name, str):
        raise BadRequest(f"bot must be text such as {DEFAULT_BOT!r}, not {str(name)[:40]!r}")
    return bot_named(name)


def only_level(body: Mapping[str, Any], where: str) -> None:
    """Refuse bots that look ahead where much is asked at once; `where` is that. Raises BadRequest."""
    if body.get("bot", DEFAULT_BOT) not in LEVELS:
        raise BadRequest(f"in {where} the bot is one of {', '.join(LEVELS)}")


def only_known(body: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse fields that mean nothing, with the nearest one that does."""
    for name in body:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise BadRequest(
                f"there is no field {name[:40]!r} here; "
                + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}")
            )


def table_of(body: Mapping[str, Any], *more: str) -> Match:
    """The match of a request: "position" as an identifier, 26 numbers or a match's fields, and what else it says.

    `more` are fields that are allowed besides. Given fields override those of the identifier. Raises BadRequest,
    and the errors of the notation, which are ValueErrors.
    """
    only_known(body, (*_TABLE_FIELDS, *more))
    given = body.get("position")
    if given is None:
        raise BadRequest(f"position is missing: give {_POSITIONS}")
    if isinstance(given, str):
        match = parse_id(given)
    elif isinstance(given, list):
        match = _match_of_men(Position(given))
    elif isinstance(given, dict):
        match = from_dict(given)
    else:
        raise BadRequest(f"position must be {_POSITIONS}, not {str(given)[:20]!r}")
    if not any(match.position.men):
        raise BadRequest("the board is empty: no man of either player stands on it")
    return _with_given(match, body)


def with_dice(match: Match) -> Match:
    """The match, which must have a roll to be played. Raises BadRequest."""
    if match.decision != "play":
        raise BadRequest('there are no dice to be played: give them as "dice": [3, 1] or in the identifier')
    return match


def before_roll(match: Match) -> Match:
    """The same moment without the dice, as the cube decision before them. Raises BadRequest when a game is over."""
    if match.decision in ("opening", "over"):
        raise BadRequest(
            "there is no cube decision: the game " + ("is over" if match.decision == "over" else "has not begun")
        )
    return match if match.decision == "take" else replace(match, decision="roll", dice=None, resigned=0)


def match_at(
    position: Position,
    *,
    away: tuple[int, int] = (0, 0),
    dice: tuple[int, int] | None = None,
    cube: int = 1,
    cube_owner: str | None = None,
    crawford: bool | None = None,
    jacoby: bool = False,
    doubled: bool = False,
) -> Match:
    """A match with the player on roll as player 0. away: points that he and the other need, (0, 0) for money.

    Without `crawford`, a score at which exactly one player needs one point is taken to be the Crawford game.
    """
    length = max(away)
    if length and min(away) < 1:
        raise BadRequest(f"both players need at least one point, or both 0 for money; away is {away[0]}, {away[1]}")
    if crawford is None:
        crawford = length > 1 and min(away) == 1 and cube == 1 and not doubled
    decision: Decision = "take" if doubled else "play" if dice else "roll"
    return Match(
        position=position,
        length=length,
        score=(length - away[0], length - away[1]) if length else (0, 0),
        decision=decision,
        dice=dice,
        cube=cube,
        cube_owner={"mine": 0, "theirs": 1, None: None}[cube_owner],
        crawford=crawford,
        jacoby=jacoby,
    )


def _match_of_men(position: Position) -> Match:
    """Money, the player on roll as player 0; the score of a finished game holds its points."""
    points = result(position)
    if points:
        return Match(position=position, decision="over", score=(max(points, 0), max(-points, 0)))
    return Match(position=position, decision="roll")


def _with_given(match: Match, body: Mapping[str, Any]) -> Match:
    if not set(body) & set(_TABLE_FIELDS[1:]):
        return match
    if match.decision == "over":
        raise BadRequest("the game is over in this position")
    dice = check_roll(body["dice"]) if body.get("dice") is not None else match.dice
    if set(body) & set(_TABLE_FIELDS[2:]):
        away = body.get("away")
        if away is None:
            length = match.length
            away = [length - match.score[match.turn], length - match.score[1 - match.turn]] if length else [0, 0]
        if not isinstance(away, list) or len(away) != 2 or not all(_whole(points) for points in away):
            raise BadRequest(
                f"away must be two whole numbers from 0 to {MOST_AWAY}, of the player on roll and the other"
            )
        owner = body.get("cube_owner", _owner(match))
        if owner not in ("mine", "theirs", None):
            raise BadRequest(f'cube_owner must be "mine", "theirs" or null, not {str(owner)[:20]!r}')
        doubled = _flag(body, "doubled", match.decision == "take")
        told = match_at(
            match.position,
            away=(away[0], away[1]),
            dice=None if doubled else dice,
            cube=body.get("cube", match.cube),
            cube_owner=owner,
            crawford=_flag(body, "crawford", None if "away" in body else match.crawford),
            jacoby=bool(_flag(body, "jacoby", match.jacoby and away == [0, 0])),
            doubled=bool(doubled),
        )
        # These have no field here: what the identifier says of them stands.
        return replace(told, beavers=match.beavers and told.length == 0, max_cube=max(match.max_cube, 2 * told.cube))
    return replace(match, dice=dice, decision="play" if dice else match.decision, resigned=0)


def _owner(match: Match) -> str | None:
    return None if match.cube_owner is None else "mine" if match.cube_owner == match.turn else "theirs"


def _flag(body: Mapping[str, Any], name: str, default: bool | None) -> bool | None:
    value = body.get(name, default)
    if value is not None and not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false, not {str(value)[:20]!r}")
    return value


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_AWAY
