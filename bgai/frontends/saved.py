"""A person's game against a bot as data, and the file that keeps it. Knows no terminal.

A game is its seed and the plays made so far: dice, positions and the result follow from them, so a saved game
is replayed when it is loaded and goes on with the same coming dice.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

import numpy as np

from bgai.files import locked, remove_leftovers, write_atomically
from bgai.rules.dice import roll
from bgai.rules.outcome import result
from bgai.rules.plays import Play, legal_plays
from bgai.rules.position import Position

FORMAT = "bgai-game"
VERSION = 1
MOST_SEED = 2**63 - 1


class DamagedSave(ValueError):
    """The file holds no game that can be continued; the message says why."""


@dataclass(frozen=True)
class Turn:
    """One roll, higher die first, and what was played with it."""

    dice: tuple[int, int]
    play: Play

    def __str__(self) -> str:
        return f"{self.dice[0]}{self.dice[1]}: {self.play}"


@dataclass(frozen=True)
class Game:
    """A game of a person against a bot: the seed of its dice and the turns played so far."""

    seed: int
    turns: tuple[Turn, ...] = ()

    @cached_property
    def opening(self) -> tuple[tuple[int, int], ...]:
        """The throws (person's die, bot's die) that decided who starts: ties, then the first that is none."""
        throws = [_throw(self.seed, 1)]
        while throws[-1][0] == throws[-1][1]:
            throws.append(_throw(self.seed, len(throws) + 1))
        return tuple(throws)

    @property
    def person_to_roll(self) -> bool:
        """Whether it is the person's turn."""
        person_began = self.opening[-1][0] > self.opening[-1][1]
        return person_began == (len(self.turns) % 2 == 0)

    @property
    def dice(self) -> tuple[int, int]:
        """The roll of the turn that is due, higher die first."""
        first, second = _throw(self.seed, len(self.opening) + len(self.turns))
        return max(first, second), min(first, second)

    @property
    def position(self) -> Position:
        """The men now, seen by the player to roll."""
        return self.turns[-1].play.after if self.turns else Position.start()

    @property
    def view(self) -> Position:
        """The men now, seen by the person."""
        return self.position if self.person_to_roll else self.position.turned()

    @property
    def points(self) -> int:
        """Points that the person has won (1 to 3) or lost (-1 to -3); 0 while the game goes on."""
        return result(self.view)

    def played(self, play: Play) -> Game:
        """The game after `play`, which must be a legal one of the roll that is due."""
        return replace(self, turns=(*self.turns, Turn(self.dice, play)))

    def taken_back(self) -> Game | None:
        """The game before the person's last turn in which he moved, or None when there was none.

        The turns after it go too; the dice stay what they were.
        """
        for number in reversed(range(len(self.turns))):
            before = replace(self, turns=self.turns[:number])
            if before.person_to_roll and self.turns[number].play.moves:
                return before
        return None


@dataclass(frozen=True)
class Session:
    """A running game, the bot it is played against and the score of the games before it."""

    bot: str
    """The bot as `open_bot` takes it."""
    game: Game
    score: tuple[int, int] = (0, 0)
    """Points won so far by the person and by the bot."""


def to_text(session: Session) -> str:
    """The session as JSON."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "bot": session.bot,
        "seed": session.game.seed,
        "score": list(session.score),
        "turns": [str(turn) for turn in session.game.turns],
    }
    return json.dumps(content, indent=1) + "\n"


def from_text(text: str) -> Session:
    """The session that `to_text` wrote, every play checked against the rules. Raises DamagedSave."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedSave(f"it is not JSON ({error})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DamagedSave(f"it does not say that it is a {FORMAT} file")
    if content.get("version") != VERSION:
        raise DamagedSave(f"its version is {content.get('version')!r}, this bgai reads version {VERSION}")
    bot, seed, score, turns = (content.get(name) for name in ("bot", "seed", "score", "turns"))
    if not isinstance(bot, str) or not bot:
        raise DamagedSave('"bot" must be the name of a bot')
    if not _whole(seed, MOST_SEED):
        raise DamagedSave(f'"seed" must be a whole number from 0 to {MOST_SEED}')
    if not isinstance(score, list) or len(score) != 2 or not all(_whole(points, 10**9) for points in score):
        raise DamagedSave('"score" must be two whole numbers, the points of the person and of the bot')
    if not isinstance(turns, list):
        raise DamagedSave('"turns" must be a list of texts such as "61: 8/7 6/5"')
    return Session(bot, _replayed(Game(seed), turns), (score[0], score[1]))


def save(session: Session, path: Path) -> None:
    """Write the session to `path`, whole or not at all; makes the folder. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, to_text(session).encode())


def load(path: Path) -> Session | None:
    """The session saved at `path`, None when there is no file. Raises DamagedSave and OSError."""
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise DamagedSave("it is not text") from None
    return from_text(text)


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Keep other processes from the file, and clear away what a killed one has left half written beside it. Where no
    lock can be made nothing can be saved either, and nobody is kept. Raises InUse when another has claimed it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(path.with_name(f"{path.name}.lock")))
            remove_leftovers(list(path.parent.glob(f".{path.name}.*.tmp")))
        yield


def set_aside(path: Path, ending: str) -> Path:
    """Rename the file to a free name that ends so, e.g. game.json.bak, game.json.bak2. Raises OSError."""
    number = 1
    aside = path.with_name(path.name + ending)
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}{ending}{number}")
    path.rename(aside)
    return aside


def game_file(environment: Mapping[str, str]) -> Path:
    """Where the unfinished game is kept: game.json in BGAI_HOME, or in this system's folder for user data."""
    if home := environment.get("BGAI_HOME"):
        return Path(home) / "game.json"
    if sys.platform == "win32":
        folder = Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        if not os.path.isabs(folder):  # the XDG specification says to ignore a relative path
            folder = Path.home() / ".local" / "share"
    return folder / "bgai" / "game.json"


def _throw(seed: int, number: int) -> tuple[int, int]:
    first, second = roll(np.int64(seed), np.int64(0), np.int64(number))
    return int(first), int(second)


def _whole(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _replayed(game: Game, turns: list[object]) -> Game:
    for number, text in enumerate(turns, start=1):
        if game.points:
            raise DamagedSave(f"turn {number} comes after the end of the game")
        legal = {str(Turn(game.dice, play)): play for play in legal_plays(game.position, game.dice)}
        if not isinstance(text, str) or text not in legal:
            high, low = game.dice
            raise DamagedSave(f"turn {number} is {text!r}, which is no legal play of the roll {high}{low}")
        game = game.played(legal[text])
    if game.points:
        raise DamagedSave("the game is already over")
    return game
