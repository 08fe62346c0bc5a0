"""A `Match` as a plain dictionary that JSON can hold, for front ends and files; nothing of it gets lost."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bgai.notation.fields import InvalidId
from bgai.rules.match import InvalidMatch, Match
from bgai.rules.position import InvalidPosition, Position

_NAMES = [field.name for field in fields(Match)]


def to_dict(match: Match) -> dict[str, Any]:
    """The fields of `Match` by name; `position` as the list of its 26 numbers, seen by the player on roll."""
    plain: dict[str, Any] = {name: getattr(match, name) for name in _NAMES}
    plain["position"] = list(match.position.men)
    plain["score"] = list(match.score)
    plain["dice"] = list(match.dice) if match.dice else None
    return plain


def from_dict(plain: Mapping[str, Any]) -> Match:
    """The match of such a dictionary. What is left out is as in `Match()`. Raises InvalidId.

    `position` may be 26 numbers or a gnubg Position ID.
    """
    values = dict(plain)
    for name in values:
        if name not in _NAMES:
            near = difflib.get_close_matches(str(name), _NAMES, n=1)
            raise InvalidId(
                f"{name!r} is no field of a match; " + (f"did you mean {near[0]!r}?" if near else _fields())
            )
    for name in ("score", "dice"):
        if isinstance(values.get(name), list):
            values[name] = tuple(values[name])
    try:
        men = values.get("position")
        if isinstance(men, str):
            values["position"] = Position.from_id(men)
        elif isinstance(men, list | tuple):
            values["position"] = Position(men)
        return Match(**values)
    except (InvalidPosition, InvalidMatch) as error:
        raise InvalidId(f"dict: {error}") from None


def _fields() -> str:
    return f"there are {', '.join(_NAMES)}"
