"""The rules of a `Record` among the headers of a file: `; [Crawford "On"]` in .mat, comments in SGF.

Names that programs use are read in all their spellings and written in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bgai.notation.record import Headers, Record
from bgai.rules.match import MAX_CUBE, MOST_CUBE

_LINE = re.compile(r'\[\s*([^"\]]{1,60}?)\s*"(.*)"\s*\]\s*')
_RULES = {
    "crawford": "crawford",
    "jacoby": "jacoby",
    "beaver": "beavers",
    "beavers": "beavers",
    "cubelimit": "max_cube",
    "player 1": "player 0",
    "player 2": "player 1",
}
_ON = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Told:
    """What the headers of a file tell; None where they are silent."""

    others: Headers
    crawford: bool | None = None
    jacoby: bool | None = None
    beavers: bool | None = None
    max_cube: int | None = None
    players: tuple[str | None, str | None] = (None, None)


def read_header(text: str) -> tuple[str, str] | None:
    """The name and value of `[Name "value"]`; None for another text."""
    match = _LINE.fullmatch(text.strip())
    return (match[1], match[2]) if match else None


def header_line(name: str, value: str) -> str:
    """`[Name "value"]`, on one line."""
    return f'[{name} "{" ".join(value.split())}"]'


def sort_out(headers: Headers) -> Told:
    """The rules and names among the headers. A rule with a value that means nothing stays with the others."""
    others = []
    told: dict[str, str] = {}
    for name, value in headers:
        rule = _RULES.get(name.lower())
        if rule is not None and (rule.startswith("player") or _meaning(rule, value) is not None):
            told[rule] = value
        else:
            others.append((name, value))
    values = {rule: _meaning(rule, value) for rule, value in told.items() if not rule.startswith("player")}
    limit = values.get("max_cube")
    return Told(
        others=tuple(others),
        crawford=_flag(values.get("crawford")),
        jacoby=_flag(values.get("jacoby")),
        beavers=_flag(values.get("beavers")),
        max_cube=limit,
        players=(told.get("player 0"), told.get("player 1")),
    )


def all_headers(record: Record) -> Headers:
    """The headers of a record with its names and rules, for a file that has no other place for them."""
    rules = [("Player 1", record.players[0]), ("Player 2", record.players[1])]
    if record.length:
        rules.append(("Crawford", _on_off(record.crawford)))
    else:
        rules += [("Jacoby", _on_off(record.jacoby)), ("Beavers", _on_off(record.beavers))]
    return (*record.headers, *rules, ("CubeLimit", str(record.max_cube)))


def _on_off(flag: bool) -> str:
    return "On" if flag else "Off"


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _meaning(rule: str, value: str) -> int | None:
    """What the value says of the rule; None when it says nothing that is known."""
    if rule != "max_cube":
        flag = _ON.get(value.strip().lower())
        return None if flag is None else int(flag)
    if not re.fullmatch("[0-9]{1,6}", value.strip()):
        return None
    limit = int(value)
    usable = 1 <= limit <= MOST_CUBE and limit & (limit - 1) == 0
    return limit if usable else MAX_CUBE if limit == 0 else None
