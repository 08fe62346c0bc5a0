"""The description of the HTTP interface, OpenAPI 3.1, and a page that shows it. Built from one list of routes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from bgai.rules.position import POINTS


@dataclass(frozen=True)
class Described:
    """One route as the documents tell of it."""

    method: str
    path: str
    summary: str
    example: dict[str, Any] | None = None
    """A body that can be sent as it stands, of POST."""
    query: Sequence[dict[str, Any]] = field(default=())


POSITION_HELP = (
    "`position` is an XGID, a gnubg position ID (with match ID or without), a FIBS board, 26 whole numbers or the "
    "fields of a match. The numbers are seen by the player on roll: index 0 the opponent's bar (0 or less), 1 to 24 "
    "the points from which his men move down, 25 his bar; his men are positive, the opponent's negative. `dice` "
    "[3, 1] is the roll; `away` [5, 3] the points that he and the other still need ([0, 0] is money); `cube`, "
    '`cube_owner` ("mine", "theirs" or null), `crawford`, `jacoby` and `doubled` say the rest and override the '
    "identifier."
)
_START = "4HPwATDgc/ABMA"
_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:5:10"
_GAME = "The game is sent as the server gave it: session, game, hash, start, actions."


def _whole(name: str, low: int, high: int, text: str, *, required: bool = False) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": low, "maximum": high}
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": text}


_BARS = {0: "the opponent's bar, 0 or less", POINTS - 1: "your bar"}
_WILDBG = [
    *(_whole(f"p{point}", -15, 15, _BARS.get(point, f"point {point}")) for point in range(POINTS)),
    _whole("x_away", 0, 999, "points you need; 0 with o_away 0 is money"),
    _whole("o_away", 0, 999, "points the opponent needs"),
    {"name": "crawford", "in": "query", "schema": {"type": "boolean"}, "description": "whether nobody may double"},
    {"name": "bot", "in": "query", "schema": {"type": "string"}, "description": "who is asked; strong unless told"},
]
_DICE = [_whole(f"die{n}", 1, 6, "a die", required=True) for n in (1, 2)]

ROUTES = (
    Described("GET", "/move", "All plays of a roll, best first (wildbg's format)", query=(*_DICE, *_WILDBG)),
    Described("GET", "/eval", "Cube action and chances of the player on roll (wildbg's format)", query=_WILDBG),
    Described("GET", "/api/v1/bots", "The bots and what their cards say"),
    Described("POST", "/api/v1/legal", "All legal plays of a roll", {"position": _START, "dice": [3, 1]}),
    Described(
        "POST",
        "/api/v1/plays",
        "The plays of a roll, best first, with chances and equities",
        {"position": _START, "dice": [3, 1], "away": [5, 3], "bot": "strong", "limit": 3},
    ),
    Described(
        "POST",
        "/api/v1/cube",
        "The cube decision before the roll, or (`asked` is take) the answer to a double: `action` is what to do (to "
        "a double take, pass or, where it is allowed, beaver), `why` a sentence about it, the equities those of the "
        "player on roll in both cases, and `resign` what is as good as lost, 1 to 3, or 0",
        {"position": _XGID},
    ),
    Described("POST", "/api/v1/evaluate", "What a position is worth", {"position": _XGID, "bot": "normal"}),
    Described(
        "POST",
        "/api/v1/batch",
        "Up to 1,000 of these questions at once; `ask` is plays, legal, cube or evaluate. Each has its answer or a "
        "`message`, also when there was no time left for it",
        {"ask": "plays", "limit": 1, "positions": [{"position": _START, "dice": [3, 1]}]},
    ),
    Described(
        "POST",
        "/api/v1/act",
        "A match after an action, by the rules",
        {"match": {"length": 5}, "action": {"kind": "begin", "dice": [3, 1]}},
    ),
    Described(
        "POST",
        "/api/v1/game/new",
        "A game against a bot, with promised dice",
        {"length": 5, "cube": True, "jacoby": False},
    ),
    Described("POST", "/api/v1/game/act", f"The game after an action of the person. {_GAME}"),
    Described("POST", "/api/v1/game/bot", f"The game after the bot has acted. {_GAME}"),
    Described("POST", "/api/v1/game/hint", f"What the adviser would do. {_GAME}"),
    Described("POST", "/api/v1/game/review", f"The person's errors in a game, by a level. {_GAME}"),
    Described("POST", "/api/v1/game/next", f"The beginning of the next game of a match or session. {_GAME}"),
    Described("POST", "/api/v1/game/reveal", f"The seed of a finished game, to check its dice. {_GAME}"),
    Described("POST", "/api/v1/game/mat", f"The game as a .mat file. {_GAME}"),
    Described("GET", "/healthz", "Whether the server is up"),
    Described("GET", "/metrics", "Counts and latencies for Prometheus"),
)


def openapi(version: str) -> dict[str, Any]:
    """The OpenAPI document."""
    error = {
        "description": "a sentence that says what is wrong",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    paths: dict[str, Any] = {}
    for route in ROUTES:
        kind = "text/plain" if route.path == "/metrics" else "application/json"
        operation: dict[str, Any] = {
            "summary": route.summary,
            "responses": {"200": {"description": "the answer", "content": {kind: {}}}, "default": error},
        }
        if route.query:
            operation["parameters"] = list(route.query)
        if route.method == "POST":
            content: dict[str, Any] = {"schema": {"type": "object"}}
            if route.example:
                content["example"] = route.example
            operation["requestBody"] = {"required": True, "content": {"application/json": content}}
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    message = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "bgai", "version": version, "description": f"Backgammon bots over HTTP. {POSITION_HELP}"},
        "paths": paths,
        "components": {"schemas": {"Error": message}},
    }


def docs_page() -> str:
    """The description as an HTML page."""
    parts = []
    for route in ROUTES:
        parts.append(f"<section><h2><code>{route.method} {escape(route.path)}</code></h2>")
        parts.append(f"<p>{_marked(route.summary)}</p>")
        if route.query:
            told = {one["name"]: one["description"] for one in route.query}
            points = [f"p{point}" for point in range(1, POINTS - 1)]
            told = {name: text for name, text in told.items() if name not in points}
            told[f"{points[0]} … {points[-1]}"] = "your men above 0, the opponent's below"
            cells = "".join(f"<dt><code>{name}</code></dt><dd>{escape(text)}</dd>" for name, text in told.items())
            parts.append(f"<dl>{cells}</dl>")
        if route.example:
            parts.append(f"<pre>{escape(json.dumps(route.example))}</pre>")
        parts.append("</section>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bgai: HTTP interface</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/style.css"></head><body class="paper"><main class="prose">'
        '<h1>bgai over HTTP</h1><p><a href="/">The game</a> · <a href="/api-docs/openapi.json">openapi.json</a></p>'
        f"<p>{_marked(POSITION_HELP)}</p><p>An error is <code>{{&quot;message&quot;: &quot;a sentence&quot;}}</code> "
        f"with status 400, 404, 405, 408, 413, 500 or 503.</p>{''.join(parts)}</main></body></html>"
    )


def _marked(text: str) -> str:
    """Text with `code` in backquotes as HTML."""
    pieces = escape(text, quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
