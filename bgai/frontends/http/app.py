"""The server's Starlette application: routes, limits, errors as sentences, counts. What is answered is said by the
plain functions of `wildbg`, `api` and `table`, which run in a small pool of threads beside the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bgai.frontends.http import api, table, wildbg
from bgai.frontends.http.dice import FairDice
from bgai.frontends.http.metrics import Metrics
from bgai.frontends.http.openapi import docs_page, openapi
from bgai.frontends.http.reading import OutOfTime
from bgai.frontends.page import page_files

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]
LongAnswer = Callable[[Mapping[str, Any], float], dict[str, Any]]
"""What is asked, and the moment (of `time.monotonic`) by which it is to be answered."""

_log = logging.getLogger("bgai.serve")
_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "json": "application/json",
    "svg": "image/svg+xml",
}
_SAFETY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


@dataclass(frozen=True)
class Limits:
    """What one client may ask of the server."""

    body_bytes: int = 64 * 1024
    batch_bytes: int = 512 * 1024
    """Of the body of a batch: as many positions as it may hold, with their scores."""
    body_seconds: float = 10.0
    """For the whole body to arrive."""
    batch: int = 1000
    work_seconds: float = 20.0
    """For an answer, the time in the queue counted."""
    waiting: int = 256
    """Questions that may wait or be worked on at once; more are turned away."""
    threads: int = min(4, os.cpu_count() or 1)
    parameters: int = 64
    """Of a query."""


def create_app(dice: FairDice, limits: Limits | None = None) -> Starlette:
    """The application. `dice` holds the promises; nothing else is kept between requests but counts."""
    limits = limits or Limits()
    metrics = Metrics()
    # What takes long has threads of its own, so that the quick questions need not wait behind it.
    work, batches, reviews = (_Work(limits, threads) for threads in (limits.threads, max(1, limits.threads // 2), 1))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        for each in (work, batches, reviews):
            each.open()
        yield
        for each in (work, batches, reviews):
            each.close()

    def get(path: str, answer: Answer) -> Route:
        async def endpoint(request: Request) -> Response:
            return await work.answer(answer, _query(request, limits.parameters))

        return Route(path, endpoint, methods=["GET"])

    def post(path: str, answer: Answer) -> Route:
        async def endpoint(request: Request) -> Response:
            return await work.answer(answer, await _body(request, limits, limits.body_bytes))

        return Route(path, endpoint, methods=["POST"])

    def post_long(path: str, answer: LongAnswer, pool: _Work, most_bytes: int) -> Route:
        async def endpoint(request: Request) -> Response:
            body = await _body(request, limits, most_bytes)
            ends = time.monotonic() + 0.75 * limits.work_seconds  # then there is time left to say what was done
            return await pool.answer(lambda asked: answer(asked, ends), body)

        return Route(path, endpoint, methods=["POST"])

    def at_table(answer: Callable[[FairDice, Mapping[str, Any]], dict[str, Any]]) -> Answer:
        return partial(answer, dice)

    async def healthz(_: Request) -> Response:
        return _json({"status": "ok", "version": _version()})

    async def counted(_: Request) -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    async def document(_: Request) -> Response:
        return _json(openapi(_version()))

    async def docs(_: Request) -> Response:
        return HTMLResponse(docs_page())

    routes = [
        get("/move", wildbg.move),
        get("/eval", wildbg.evaluate),
        get("/api/v1/bots", api.bots),
        post("/api/v1/legal", api.legal),
        post("/api/v1/plays", api.plays),
        post("/api/v1/cube", api.cube),
        post("/api/v1/evaluate", api.evaluate),
        post_long("/api/v1/batch", partial(api.batch, most=limits.batch), batches, limits.batch_bytes),
        post("/api/v1/act", api.act),
        post("/api/v1/game/new", at_table(table.new_game)),
        post("/api/v1/game/act", at_table(table.act)),
        post("/api/v1/game/bot", at_table(table.bot_acts)),
        post("/api/v1/game/hint", at_table(table.hint)),
        post_long("/api/v1/game/review", partial(table.review, dice), reviews, limits.body_bytes),
        post("/api/v1/game/next", at_table(table.next_game)),
        post("/api/v1/game/reveal", at_table(table.reveal)),
        post("/api/v1/game/mat", at_table(table.mat)),
        Route("/api-docs/openapi.json", document, methods=["GET"]),
        Route("/api/v1/openapi.json", document, methods=["GET"]),
        Route("/api-docs", docs, methods=["GET"]),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", counted, methods=["GET"]),
        *_page_routes(),
    ]
    cors = Middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["*"], max_age=86400
    )
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(_Counted, metrics=metrics, paths={route.path for route in routes}), cors],
        exception_handlers={HTTPException: _http_error},
    )
    app.router.redirect_slashes = False
    return app


class _Refused(HTTPException):
    """A request that is answered with a sentence and a status."""


class _Work:
    """A pool of threads that think; bounded in threads, in what may wait, and in time."""

    def __init__(self, limits: Limits, threads: int) -> None:
        self._limits = limits
        self._threads = threads
        self._waiting = 0
        self._pool: ThreadPoolExecutor | None = None

    def open(self) -> None:
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="bgai")

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def answer(self, answer: Answer, asked: Mapping[str, Any]) -> Response:
        """What the function says, or one sentence about what went wrong."""
        if self._pool is None or self._waiting >= self._limits.waiting:
            raise _Refused(503, "the server is busy; ask again in a moment", {"retry-after": "1"})
        self._waiting += 1
        future = self._pool.submit(_answered, answer, asked)
        future.add_done_callback(partial(_call_soon, asyncio.get_running_loop(), self._done))
        try:
            status, body = await asyncio.wait_for(asyncio.wrap_future(future), self._limits.work_seconds)
        except TimeoutError:
            raise _Refused(503, f"there was no answer within {self._limits.work_seconds:g} s; ask for less") from None
        return Response(body, status_code=status, media_type="application/json")

    def _done(self) -> None:
        self._waiting -= 1


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None], _: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)


def _answered(answer: Answer, asked: Mapping[str, Any]) -> tuple[int, bytes]:
    """Status and body; runs on a thread of the pool, JSON and all."""
    try:
        return 200, _encoded(answer(asked))
    except OutOfTime as error:
        return 503, _encoded({"message": str(error)})
    except ValueError as error:
        return 400, _encoded({"message": str(error)})
    except Exception:
        _log.exception("an answer failed")
        return 500, _encoded({"message": "the server made a mistake over this; it has been logged"})


class _Counted:
    """The outermost layer: counts and times every request, adds headers that browsers heed, and turns what nobody
    expected into a sentence."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_SAFETY]
            await send(message)

        self._metrics.running += 1
        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            status = status or 499
        except Exception:
            _log.exception("a request failed")
            if not status:
                await _json({"message": "the server made a mistake over this; it has been logged"}, 500)(
                    scope, receive, sending
                )
        finally:
            self._metrics.running -= 1
            path = scope["path"] if scope["path"] in self._paths else "other"
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "OPTIONS") else "other"
            self._metrics.count(method, path, status, time.perf_counter() - began)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = error.detail
    if not isinstance(error, _Refused):
        path = request.url.path[:80]
        message = {
            404: f"there is nothing at {path}; / is the game and /api-docs tells what can be asked",
            405: f"{request.method} is not answered at {path}; it takes {(error.headers or {}).get('Allow', 'GET')}",
        }.get(error.status_code, message)
    return _json({"message": message}, error.status_code, error.headers)


def _query(request: Request, most: int) -> dict[str, str]:
    if request.url.query.count("&") >= most:
        raise _Refused(400, f"a question has at most {most} parameters")
    query: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in query:
            raise _Refused(400, f"{name[:20]!r} is given more than once")
        query[name] = value
    return query


async def _body(request: Request, limits: Limits, most: int) -> dict[str, Any]:
    """The JSON object that was sent in at most so many bytes. Raises _Refused."""
    too_long = _Refused(413, f"the body may have {most:,} bytes", {"connection": "close"})
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most:
        raise too_long
    raw = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > most:
                    raise too_long
    except TimeoutError:
        raise _Refused(
            408, f"the body did not arrive within {limits.body_seconds:g} s", {"connection": "close"}
        ) from None
    try:
        body = json.loads(raw or b"{}", parse_constant=_no_number)
    except RecursionError:
        raise _Refused(400, "the body is no JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise _Refused(400, f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise _Refused(400, 'the body must be a JSON object such as {"position": "4HPwATDgc/ABMA", "dice": [3, 1]}')
    return body


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _page_routes() -> list[Route]:
    """One route for each file of the page, read once; so there is no way to any other file."""
    routes = []
    for name, content in page_files().items():
        kind = _TYPES.get(name.rpartition(".")[2])
        if kind is None:
            continue
        headers = {"etag": f'"{hashlib.sha256(content).hexdigest()[:20]}"', "cache-control": "no-cache"}

        async def endpoint(
            request: Request, content: bytes = content, headers: dict[str, str] = headers, kind: str = kind
        ) -> Response:
            if headers["etag"] in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
            return Response(content, headers=headers, media_type=kind)

        for path in [f"/{name}"] + (["/"] if name == "index.html" else []):
            routes.append(Route(path, endpoint, methods=["GET"]))
    return routes


def _json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(_encoded(content), status_code=status, media_type="application/json", headers=headers)


def _encoded(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def _version() -> str:
    try:
        return version("bgai")
    except PackageNotFoundError:
        return "0"
