"""`bgai serve`: the page and the HTTP interface, on this machine alone unless told otherwise."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys

from bgai.bots import LEVELS
from bgai.frontends.http.dice import KEY_BYTES, FairDice, lasting_key
from bgai.frontends.saved import game_file

_EPILOG = "The page is at http://127.0.0.1:8080/, the interface is told at /api-docs. Example: bgai serve --port 8000"


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Add the command `serve`."""
    parser = subparsers.add_parser(
        "serve",
        help="play in the browser, and bots over HTTP",
        description="Serve a page to play on and an HTTP interface to the bots, until Ctrl-C.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="address to listen on (default: 127.0.0.1, this machine alone; 0.0.0.0 is everybody)",
    )
    parser.add_argument(
        "--port", type=_port, default=8080, metavar="PORT", help="port (default: 8080; 0: a free one)"
    )
    parser.set_defaults(run_command=run)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises ValueError when the address cannot be listened on."""
    import starlette  # noqa: F401 - says at once when it is missing
    import uvicorn

    from bgai.frontends.http.app import create_app
    from bgai.frontends.http.protocol import Protocol
    from bgai.frontends.http.reading import bot_named
    from bgai.rules.position import Position

    listening = _listen(args.host, args.port)
    for level in LEVELS:  # what is wrong with a bot is said now, and the kernels are compiled
        bot_named(level).rank(Position.start(), (3, 1))
    config = uvicorn.Config(
        create_app(FairDice(_key())),
        http=Protocol,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
    )
    host, port = listening.getsockname()[:2]
    print(f"bgai serves http://{f'[{host}]' if ':' in host else host}:{port}/ until Ctrl-C.", flush=True)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises ValueError with one sentence."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, proto)
    except OSError as error:
        raise ValueError(f"there is no address {host!r} here: {error.strerror or error}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise ValueError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    return listening


def _key() -> bytes:
    """The key of the dice, so that a game goes on after a restart; one for this run where none can be kept."""
    path = game_file(os.environ).with_name("dice.key")
    try:
        return lasting_key(path)
    except OSError as error:
        print(f"{path}: {error.strerror or error}; unfinished games will not survive a restart.", file=sys.stderr)
        return secrets.token_bytes(KEY_BYTES)


def _port(text: str) -> int:
    if not text.isdecimal() or not int(text[:6]) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} must be a port from 0 to 65535")
    return int(text)
