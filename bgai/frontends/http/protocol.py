"""uvicorn's protocol with a limit that it lacks: the head of a request must arrive in time, or it is told so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0


class Protocol(H11Protocol):
    """A connection; its timer runs while no request is complete to the end of its head."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:  # the next request on this connection has begun
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP at all gets a sentence too."""
        self._refuse(400, "Bad Request", f"this is no HTTP request that can be read: {msg}")

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(408, "Request Timeout", f"the request did not arrive within {HEAD_SECONDS:g} s")

    def _refuse(self, status: int, reason: str, message: str) -> None:
        body = json.dumps({"message": message}).encode()
        head: dict[str, Any] = {
            "content-type": "application/json",
            "content-length": len(body),
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self.transport.write("\r\n".join(lines).encode() + body)
        self.transport.close()
