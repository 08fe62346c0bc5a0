"""The two questions of wildbg's web API, GET /move and GET /eval, in its formats; any match score is answered.

Query -> plain dictionary. Chances here are cumulative, as wildbg's are: `win` counts gammons too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from bgai.arena.analysis import rank_plays
from bgai.evaluation.cube_decision import stakes_of
from bgai.evaluation.cubeful import wants_double, wants_take
from bgai.frontends.http.reading import BadRequest, bot_of, match_at
from bgai.rules.match import Match
from bgai.rules.outcome import Outcomes, result
from bgai.rules.position import POINTS, Position

_POINTS = frozenset(f"p{point}" for point in range(POINTS))
_NAMES = ("win", "winG", "winBg", "loseG", "loseBg")


def move(query: Mapping[str, str]) -> dict[str, Any]:
    """GET /move: all plays of a roll, best first. Raises BadRequest and ValueErrors of the rules."""
    dice = (_die(query, "die1"), _die(query, "die2"))
    match = _match(query, dice)
    return {
        "moves": [
            {
                "play": [{"from": start, "to": to} for start, to in ranked.play.moves],
                "probabilities": _probabilities(ranked.outcomes),
            }
            for ranked in rank_plays(bot_of(_asked(query)), match)
        ]
    }


def evaluate(query: Mapping[str, str]) -> dict[str, Any]:
    """GET /eval: whether to double and to accept, and the chances of the player on roll. Raises as `move` does."""
    match, bot = _match(query, None), bot_of(_asked(query))
    values = bot.cube_values(match.position.board[None], stakes_of(match))
    may = not np.isnan(values[0, 2])
    return {
        "cube": {
            "double": bool(may and not match.cube_dead and wants_double(values)[0]),
            "accept": bool(not may or wants_take(values)[0]),
        },
        "probabilities": _probabilities(bot.evaluate(match.position)),
    }


def _asked(query: Mapping[str, str]) -> dict[str, str]:
    return {"bot": query["bot"]} if "bot" in query else {}


def _match(query: Mapping[str, str], dice: tuple[int, int] | None) -> Match:
    for name in query:
        if re.fullmatch(r"p\d+", name) and name not in _POINTS:
            raise BadRequest(
                f"there is no point {name!r}: p0 is the opponent's bar, p1 to p24 the points, p25 your bar"
            )
    position = Position(_number(query, f"p{point}", 0, -15, 15) for point in range(POINTS))
    if not any(position.men):
        raise BadRequest("the board is empty: give the men as p0 to p25, for example p24=2&p1=-2")
    if result(position):
        raise BadRequest("the game is over: a player has borne off all men")
    away = (_number(query, "x_away", 0, 0, 999), _number(query, "o_away", 0, 0, 999))
    crawford = query.get("crawford")
    if crawford not in (None, "true", "false"):
        raise BadRequest(f"crawford must be true or false, not {crawford[:20]!r}")
    return match_at(position, away=away, dice=dice, crawford=None if crawford is None else crawford == "true")


def _die(query: Mapping[str, str], name: str) -> int:
    if name not in query:
        raise BadRequest(f"{name} is missing: a roll is die1 and die2, each 1 to 6")
    return _number(query, name, 0, 1, 6)


def _number(query: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[+-]?[0-9]{1,4}", text) or not low <= int(text) <= high:
        raise BadRequest(f"{name} must be a whole number from {low} to {high}, not {text[:20]!r}")
    return int(text)


def _probabilities(outcomes: Outcomes) -> dict[str, float]:
    return {name: round(chance, 6) for name, chance in zip(_NAMES, outcomes.cumulative, strict=True)}
