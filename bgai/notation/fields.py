"""What all the identifiers share: the error they raise, and reading one whole number out of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from bgai.rules.match import MAX_CUBE, MOST_CUBE

Value = TypeVar("Value")


class InvalidId(ValueError):
    """The text is none of the identifiers known here, or a damaged one; the message says where and why."""


def whole(text: str, name: str, low: int, high: int) -> int:
    """The whole number that a field holds. Raises InvalidId, which names the field and its range."""
    if not re.fullmatch("[+-]?[0-9]{1,9}", text.strip()) or not low <= int(text) <= high:
        raise InvalidId(f"{name} must be a whole number from {low} to {high}, not {text[:20]!r}")
    return int(text)


def one_of(text: str, name: str, allowed: Mapping[str, Value]) -> Value:
    """What a field means that has few values. Raises InvalidId, which lists them."""
    if text.strip() not in allowed:
        raise InvalidId(f"{name} must be {' or '.join(allowed)}, not {text[:20]!r}")
    return allowed[text.strip()]


def cube_limit(cube: int, doubled: bool) -> int:
    """The cube's limit where an identifier does not name one: the usual one, or as high as the cube stands."""
    return min(max(MAX_CUBE, 2 * cube if doubled else cube), MOST_CUBE)


def not_expressed(form: str, decision: str) -> InvalidId:
    """What to raise for a moment that an identifier has no words for."""
    moment = {"opening": "the opening throw", "resign": "an offered resignation", "over": "a finished game"}
    return InvalidId(f"{form} cannot express {moment[decision]}")
