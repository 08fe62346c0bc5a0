"""Dice that a player can check afterwards: promised by a hash, thrown by (seed, game, ply), shown when it is over.

The seed of a game follows from the server's secret key, the session's name and the game's number, so the server
keeps nothing. It must not tell a seed before the game is over, nor throw after it has told it. Knows no rules.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgai.rules.dice import roll

KEY_BYTES = 32
_MOST_TOLD = 100_000
_NAME = re.compile("[0-9a-f]{32}")


class DiceRefused(ValueError):
    """These dice cannot be thrown here (any more); the message says why."""


@dataclass(frozen=True)
class Promise:
    """What the dice of one game come from."""

    session: str
    game: int
    seed: int
    salt: str

    @property
    def text(self) -> str:
        """What is hashed; it says everything that the dice follow from."""
        return f"bgai-dice:{self.session}:{self.game}:{self.seed}:{self.salt}"

    @property
    def hash(self) -> str:
        """SHA-256 of `text` in hex: told before the first throw."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def throw(self, number: int) -> tuple[int, int]:
        """The two dice of throw 1, 2, 3, ... of this game; at the opening the player's and the bot's."""
        first, second = roll(np.int64(self.seed), np.int64(0), np.int64(number))
        return int(first), int(second)


class FairDice:
    """The promises of one server. Safe to use from several threads."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._told: OrderedDict[tuple[str, int], None] = OrderedDict()
        self._lock = threading.Lock()

    def promise(self, session: str, game: int) -> Promise:
        """The promise of a session's game. Raises DiceRefused for what is no session."""
        if not isinstance(session, str) or not _NAME.fullmatch(session):
            raise DiceRefused("a session is named by 32 hexadecimal digits, as the server gave them")
        if isinstance(game, bool) or not isinstance(game, int) or not 1 <= game <= 10_000:
            raise DiceRefused(f"the number of a game is 1 to 10000, not {str(game)[:20]!r}")
        bits = hmac.digest(self._key, f"{session}/{game}".encode(), "sha256")
        return Promise(session, game, int.from_bytes(bits[:8], "big") >> 1, bits[16:].hex())

    def tell(self, promise: Promise) -> None:
        """The seed is about to be told: from now on nothing more is thrown in this game."""
        with self._lock:
            self._told[promise.session, promise.game] = None
            while len(self._told) > _MOST_TOLD:
                self._told.popitem(last=False)

    def new_throw(self, promise: Promise, number: int) -> tuple[int, int]:
        """The next dice of a running game. Raises DiceRefused once the seed has been told."""
        self.check_untold(promise)
        return promise.throw(number)

    def check_untold(self, promise: Promise) -> None:
        """Raises DiceRefused once the seed has been told."""
        with self._lock:
            if (promise.session, promise.game) in self._told:
                raise DiceRefused("the seed of this game has been told, so nothing more is thrown in it")


def new_session() -> str:
    """A name that no other session has."""
    return secrets.token_hex(16)


def lasting_key(path: Path) -> bytes:
    """The key kept in a file that only its owner can read, made when there is none. Raises OSError."""
    try:
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
        path.unlink()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    key = secrets.token_bytes(KEY_BYTES)
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key)
    except FileExistsError:  # another server was quicker
        return path.read_bytes()
    return key
