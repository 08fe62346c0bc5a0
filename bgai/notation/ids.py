"""One text of any of the identifiers known here -> `Match`, and back.

gnubg's Position ID and Match ID (`gnubg_id`), XGID (`xgid`), FIBS boards (`fibs`) and JSON (`plain`).
"""

from __future__ import annotations

import json
from collections.abc import Callable

from bgai.notation.fibs import from_fibs, to_fibs
from bgai.notation.fields import InvalidId
from bgai.notation.gnubg_id import from_gnubg, to_gnubg
from bgai.notation.plain import from_dict, to_dict
from bgai.notation.xgid import from_xgid, to_xgid
from bgai.rules.match import Match

__all__ = ["FORMS", "InvalidId", "format_id", "parse_id", "whole_id"]

MAX_TEXT = 2000
FORMS: dict[str, Callable[[Match], str]] = {
    "xgid": to_xgid,
    "gnubg": to_gnubg,
    "fibs": to_fibs,
    "dict": lambda match: json.dumps(to_dict(match)),
}


def parse_id(text: str) -> Match:
    """The match that an identifier of any form stands for. Raises InvalidId, which says what is wrong where."""
    if not isinstance(text, str):
        raise InvalidId(f"an identifier is text, not {type(text).__name__}")
    plain = text.strip().strip("\0")
    if len(plain) > MAX_TEXT:
        raise InvalidId(f"an identifier has at most {MAX_TEXT} characters, this text has {len(plain)}")
    if plain.startswith("{"):
        return _from_json(plain)
    if plain.startswith("board"):
        return from_fibs(plain)
    if plain.upper().startswith("XGID") or plain.count(":") >= 2:
        return from_xgid(plain)
    if len(plain.partition(":")[0]) in (12, 14):
        return from_gnubg(plain)
    raise InvalidId(
        f"{plain[:40]!r} is no identifier known here: give an XGID, a gnubg Position ID (14 signs), Match ID (12) "
        'or both with a colon between, a FIBS board ("board:...") or JSON'
    )


def format_id(match: Match, form: str) -> str:
    """The match in one of FORMS: "xgid", "gnubg", "fibs" or "dict" (as JSON). Raises InvalidId."""
    if form not in FORMS:
        raise InvalidId(f"there is no form {form!r}; there are {', '.join(FORMS)}")
    return FORMS[form](match)


def whole_id(match: Match) -> str:
    """gnubg's identifier where it says everything, else the first form that does: gnubg's has no beavers, an XGID no
    resignation, and before the opening throw there is JSON alone."""
    for form in ("gnubg", "xgid"):
        try:
            if parse_id(text := format_id(match, form)) == match:
                return text
        except InvalidId:
            continue
    return format_id(match, "dict")


def _from_json(text: str) -> Match:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidId(f"the text begins like JSON, but is none: {error}") from None
    return from_dict(plain)
