"""`bgai external`: the sockets of gnubg's external player protocol. Knows lines and clients; what they mean it asks.

Every client has a thread of its own, and no more than MOST_CLIENTS are served at once. A line has to arrive whole
within LINE_SECONDS of its first byte, and the next one within the idle time.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import socketserver
import sys
import threading
import time
from typing import Any

from bgai.bots import Bot, open_bot
from bgai.frontends.external import MOST_LINE, External

PORT = 1234
MOST_CLIENTS = 16
LINE_SECONDS = 20.0
IDLE_SECONDS = 3600.0


class Server(socketserver.ThreadingTCPServer):
    """Serves one bot to several clients; they think one after the other."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = MOST_CLIENTS

    def __init__(
        self,
        address: tuple[str, int],
        bot: Bot,
        *,
        jacoby: bool = True,
        idle_seconds: float = IDLE_SECONDS,
        line_seconds: float = LINE_SECONDS,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.bot, self.jacoby = bot, jacoby
        self.idle_seconds, self.line_seconds = idle_seconds, line_seconds
        self.seats = threading.BoundedSemaphore(most_clients)
        self.thinking = threading.Lock()
        super().__init__(address, _Client)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line for a client whose thread broke; the others are not touched."""
        error = sys.exc_info()[1]
        print(f"bgai external: a client broke off: {type(error).__name__}: {error}", file=sys.stderr)


class _Client(socketserver.BaseRequestHandler):
    server: Server
    request: socket.socket

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):  # the client has left, or reads nothing
            if not self.server.seats.acquire(blocking=False):
                self._say(["Error: too many clients; try again later"])
                return
            farewell: list[str] = []
            try:
                farewell = self._talk()
            finally:
                self.server.seats.release()
            self._say(farewell)  # who has heard it may come back at once, and finds the seat free

    def _talk(self) -> list[str]:
        """Answer the client until one of both has enough -> what is still to be said to him."""
        player = External(self.server.bot, jacoby=self.server.jacoby)
        lines = _Lines(self.request, idle_seconds=self.server.idle_seconds, line_seconds=self.server.line_seconds)
        while not player.finished:
            try:
                line = lines.next()
            except _LineError as error:
                if error.last:
                    return [f"Error: {error}"]
                self._say([f"Error: {error}"])
                continue
            if line is None:
                return []
            with self.server.thinking:
                answers = player.answer(line)
            self._say(answers)
        return []

    def _say(self, answers: list[str]) -> None:
        if answers:
            self.request.settimeout(self.server.line_seconds)
            self.request.sendall("".join(answer + "\n" for answer in answers).encode("ascii", "backslashreplace"))


class _LineError(Exception):
    def __init__(self, sentence: str, *, last: bool) -> None:
        super().__init__(sentence)
        self.last = last  # nothing more is read from this client


class _Lines:
    """The lines of a socket, bounded in length and time. gnubg ends its lines with a newline and a NUL."""

    def __init__(self, connection: socket.socket, *, idle_seconds: float, line_seconds: float) -> None:
        self._connection, self._idle_seconds, self._line_seconds = connection, idle_seconds, line_seconds
        self._read = b""

    def next(self) -> str | None:
        """The next line; None when the client has gone. Raises _LineError."""
        end = time.monotonic() + (self._line_seconds if self._read else self._idle_seconds)
        too_long = False
        while b"\n" not in self._read:
            if len(self._read) > MOST_LINE:
                too_long, self._read = True, self._read[:1]
            began = bool(self._read)
            try:
                self._connection.settimeout(max(0.001, end - time.monotonic()))
                part = self._connection.recv(MOST_LINE)
            except TimeoutError:
                if self._read.strip(b"\0 "):
                    raise _LineError(f"a line must be complete within {self._line_seconds:g} s", last=True) from None
                raise _LineError(f"nothing heard for {self._idle_seconds:g} s", last=True) from None
            if not part:
                return None
            self._read = (self._read + part).lstrip(b"\0")
            if not began and self._read:
                end = time.monotonic() + self._line_seconds
        line, _, self._read = self._read.partition(b"\n")
        self._read = self._read.lstrip(b"\0")
        if too_long or len(line) > MOST_LINE:
            raise _LineError(f"a line has at most {MOST_LINE} characters", last=False)
        return line.decode("utf-8", "replace")


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command `external` to the parsers of `bgai`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "external",
        help="a bot as gnubg's external player, over TCP",
        description=(
            "Wait for GNU Backgammon's external player connections and play for them, with cube and score. In gnubg: "
            "set player 0 external 127.0.0.1:1234. Evaluations are answered as gnubg's own external server does."
        ),
        epilog="Example: bgai external --port 1234 --bot strong",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default %(default)s: this machine only)"
    )
    parser.add_argument("--port", type=int, default=PORT, help="TCP port (default %(default)s; 0: any free one)")
    parser.add_argument(
        "--bot", default="normal", metavar="BOT", help="any bot that the arena takes (default normal)"
    )
    parser.add_argument("--no-jacoby", action="store_true", help="money games without Jacoby's rule")
    parser.set_defaults(run_command=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises ValueError and OSError with one sentence."""
    if not 0 <= args.port <= 65535:
        raise ValueError(f"--port must be from 0 to 65535, not {args.port}")
    bot = open_bot(args.bot)
    try:
        server = Server((args.host, args.port), bot, jacoby=not args.no_jacoby)
    except OSError as error:
        raise OSError(f"cannot listen on {args.host} port {args.port}: {error.strerror or error}") from None
    with server:
        host, port = server.server_address[:2]
        print(f"{bot.name} waits for gnubg on {host!s} port {port}; Ctrl-C ends it", flush=True)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    return 0
