"""The questions of /api/v1 that are about a position: plain dictionary -> plain dictionary. Knows no HTTP.

Chances are six that exclude each other, seen by the player on roll; equities count the cube and the score.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from bgai.arena.analysis import rank_plays
from bgai.bots import LEVELS, load
from bgai.evaluation.cube_decision import CubeDecision
from bgai.frontends.http.reading import (
    BOTS,
    DEFAULT_BOT,
    BadRequest,
    before_roll,
    bot_of,
    only_known,
    only_level,
    table_of,
    with_dice,
)
from bgai.notation.ids import InvalidId, format_id
from bgai.notation.plain import from_dict, to_dict
from bgai.rules.match import Match
from bgai.rules.outcome import Outcomes
from bgai.rules.plays import Play, legal_plays

PLAYS_LIKE = {
    "beginner": "someone who just learned: hits a lot, leaves blots, misses points it could make",
    "normal": "makes points, primes and anchors, but is often inexact",
    "strong": "the whole of its training: careful, patient, and seldom far from the best play",
}
_ACTIONS = ("begin", "roll", "play", "double", "take", "beaver", "drop", "resign", "accept", "decline", "next_game")


def legal(body: Mapping[str, Any]) -> dict[str, Any]:
    """All legal plays of a roll."""
    match = with_dice(table_of(body))
    assert match.dice is not None
    return {**_ids(match), "plays": [_play_answer(play) for play in legal_plays(match.position, match.dice)]}


def plays(body: Mapping[str, Any]) -> dict[str, Any]:
    """The plays of a roll, best first, with chances and equities; "limit" keeps the first ones."""
    limit = body.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise BadRequest(f"limit must be a whole number from 1, not {str(limit)[:20]!r}")
    match, bot = with_dice(table_of(body, "bot", "limit")), bot_of(body)
    return {
        **_ids(match),
        "bot": bot.name,
        "plays": [
            {
                **_play_answer(ranked.play),
                "equity": round(ranked.equity, 5),
                "outcomes": outcomes_answer(ranked.outcomes),
            }
            for ranked in rank_plays(bot, match)[:limit]
        ],
    }


def cube(body: Mapping[str, Any]) -> dict[str, Any]:
    """What to do with the cube before the roll ("asked" is "roll"), or about a double ("take"); and what the player
    on roll should resign. An identifier's dice are put aside; a roll beside it would be a misunderstanding."""
    if body.get("dice") is not None:
        raise BadRequest("a cube decision comes before the roll: ask without dice")
    match, bot = before_roll(table_of(body, "bot")), bot_of(body)
    return {
        **_ids(match),
        "bot": bot.name,
        "asked": match.decision,
        **cube_answer(bot.cube(match)),
        "resign": bot.resigns(match.position),
    }


def evaluate(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the position is worth to the player who is about to roll."""
    match, bot = table_of(body, "bot"), bot_of(body)
    outcomes = bot.evaluate(match.position)
    answer = {**_ids(match), "bot": bot.name, "outcomes": outcomes_answer(outcomes)}
    answer["cubeless_equity"] = round(outcomes.equity, 5)
    if match.decision not in ("over", "opening"):
        decided = bot.cube(before_roll(match))
        offered = [value for value in (decided.double_take, decided.double_pass) if value is not None]
        answer["equity"] = round(max(decided.no_double, min(offered)) if offered else decided.no_double, 5)
    else:
        answer["equity"] = answer["cubeless_equity"]
    return answer


BATCHED: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "plays": plays,
    "legal": legal,
    "cube": cube,
    "evaluate": evaluate,
}


def batch(body: Mapping[str, Any], ends: float, *, most: int) -> dict[str, Any]:
    """Many questions of one kind: one answer each in their order, {"message": ...} for those that have none, and for
    those that have not been reached at the moment `ends` of `time.monotonic`."""
    only_known(body, ("ask", "bot", "positions", "limit"))
    ask = body.get("ask", "plays")
    if not isinstance(ask, str) or ask not in BATCHED:
        raise BadRequest(f"ask must be {', '.join(BATCHED)}, not {str(ask)[:20]!r}")
    given = body.get("positions")
    if not isinstance(given, list) or not given:
        raise BadRequest('positions must be a list of requests such as [{"position": "...", "dice": [3, 1]}]')
    if len(given) > most:
        raise BadRequest(f"at most {most:,} positions at once, not {len(given):,}")
    common = {name: body[name] for name in ("bot", "limit") if name in body}
    only_level(common, "a batch")
    answers: list[dict[str, Any]] = []
    for number, each in enumerate(given):
        if time.monotonic() > ends:
            late = {"message": f"there was time for the first {number:,} of {len(given):,} only; ask for this again"}
            answers += [late] * (len(given) - number)
            break
        try:
            if not isinstance(each, dict) or "bot" in each:
                raise BadRequest("each position is an object without a bot of its own")
            answers.append(BATCHED[ask]({**each, **common}))
        except ValueError as error:
            answers.append({"message": str(error)})
    return {"ask": ask, "answers": answers}


def act(body: Mapping[str, Any]) -> dict[str, Any]:
    """A match after an action, by the rules: {"match": {...}, "action": {"kind": "roll", "dice": [3, 1]}}."""
    only_known(body, ("match", "action"))
    if not isinstance(body.get("match"), dict) or not isinstance(body.get("action"), dict):
        raise BadRequest("match and action must be objects: the fields of a match, and the kind of the action")
    match, action = from_dict(body["match"]), body["action"]
    only_known(action, ("kind", "dice", "play", "points"))
    kind = action.get("kind")
    if kind not in _ACTIONS:
        raise BadRequest(f"kind must be one of {', '.join(_ACTIONS)}, not {str(kind)[:20]!r}")
    after = _after(match, kind, action)
    return {"match": to_dict(after), **_ids(after), "actions": list(after.actions), "decider": after.decider}


def bots(_: Mapping[str, Any]) -> dict[str, Any]:
    """The bots that may be asked, and what their cards say."""
    found = []
    for level in LEVELS:
        card = load(level).card
        strength = card.get("strength")
        found.append(
            {
                "name": level,
                "plays_like": PLAYS_LIKE[level],
                "games": card.get("games"),
                "strength": strength if isinstance(strength, dict) else {},
            }
        )
    return {"bots": found, "names": list(BOTS), "default": DEFAULT_BOT}


def cube_answer(decided: CubeDecision) -> dict[str, Any]:
    """A cube decision as JSON holds it: "action" and "why" are the doubled player's where he is asked."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 5)

    return {
        "action": decided.answer or decided.action,
        "double": decided.doubles,
        "take": decided.takes,
        "why": decided.answer_why or decided.why,
        "no_double": rounded(decided.no_double),
        "double_take": rounded(decided.double_take),
        "double_pass": rounded(decided.double_pass),
        "match_chances": None if decided.match_chances is None else [round(c, 5) for c in decided.match_chances],
        "take_point": rounded(decided.take_point),
        "market_losers": rounded(decided.market_losers),
        "outcomes": outcomes_answer(decided.outcomes),
    }


def outcomes_answer(outcomes: Outcomes) -> dict[str, float]:
    """The six chances by name."""
    return {name: round(chance, 5) for name, chance in outcomes._asdict().items()}


def _after(match: Match, kind: str, action: Mapping[str, Any]) -> Match:
    if kind in ("begin", "roll"):
        dice = action.get("dice")
        if not isinstance(dice, list) or len(dice) != 2:
            raise BadRequest(f'{kind} needs its dice: "dice": [3, 1]')
        return match.begin(*dice) if kind == "begin" else match.roll(dice)
    if kind == "play":
        from bgai.notation.plays import parse_play

        if match.decision != "play" or match.dice is None:
            raise BadRequest("there are no dice to be played")
        return match.play(parse_play(action.get("play", ""), match.position, match.dice))
    if kind == "resign":
        return match.resign(action.get("points", 1))
    after: Match = getattr(match, kind)()
    return after


def _play_answer(play: Play) -> dict[str, Any]:
    return {
        "play": str(play),
        "moves": [list(move) for move in play.moves],
        "hits": list(play.hits),
        "after": play.after.id,
    }


def _ids(match: Match) -> dict[str, Any]:
    """The identifiers of a moment, those that it has."""
    found: dict[str, Any] = {}
    for form in ("xgid", "gnubg"):
        try:
            found[form] = format_id(match, form)
        except InvalidId:
            found[form] = None
    return found
