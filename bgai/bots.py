"""Bots: the one protocol that front ends, arena and training talk to, and the names bots are opened by.

A bot needs one method, `choose_boards`; the rest derives from it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from bgai.evaluation.checkpoint import load_checkpoint
from bgai.evaluation.network import Network
from bgai.evaluation.search import equities, one_ply, set_certain, value_afterstates
from bgai.rules.moves import check_dice
from bgai.rules.outcome import OUTCOMES, Outcomes, result, turn_outcomes
from bgai.rules.plays import Play, legal_plays
from bgai.rules.position import Position, check_boards

LEVELS = ("beginner", "normal", "strong")


class UnknownBot(ValueError):
    """No bot has this name, or it cannot be opened here; the message says what would be right."""


class Bot(ABC):
    """Chooses plays. Its choice for a board and roll never depends on what else is in the batch."""

    name: str
    description: str = ""

    @abstractmethod
    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """The chosen afterstate of every board: boards [B, 26] int8 seen by the mover, dice [B, 2] -> [B, 26] int8
        seen by the opponent."""

    def choose(self, pos: Position, dice: tuple[int, int]) -> Play:
        """The play for one roll. Raises ValueError for wrong dice or a finished game."""
        plays = _plays_of_a_running_game(pos, dice)
        chosen = self.choose_boards(*_batch_of_one(pos, dice))[0]
        men = tuple(chosen.tolist())
        for play in plays:
            if play.after.men == men:
                return play
        raise ValueError(f"{self.name} chose a board that no legal play of {dice} from {pos.id} leads to")


class ValueBot(Bot):
    """A value network that plays by one ply: the afterstate worth least to the opponent."""

    def __init__(self, network: Network, *, name: str, card: dict[str, Any] | None = None) -> None:
        self.network = network
        self.name = name
        self.card = card or {}
        self.description = str(self.card.get("description", ""))

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """See Bot. Raises InvalidPosition, and ValueError for wrong dice."""
        boards = check_boards(boards)
        return one_ply(self.network.outcomes, boards, check_dice(dice, len(boards))).boards

    def rank(self, pos: Position, dice: tuple[int, int]) -> list[tuple[Play, Outcomes, float]]:
        """All legal plays, best first, with the mover's chances and cubeless equity after each.

        Raises ValueError as `choose` does.
        """
        plays = {play.after.men: play for play in _plays_of_a_running_game(pos, dice)}
        rows, _, outcomes = value_afterstates(self.network.outcomes, *_batch_of_one(pos, dice))
        values = equities(outcomes)
        mine = turn_outcomes(outcomes)
        order = np.argsort(values, kind="stable")
        return [
            (plays[tuple(rows[row].tolist())], Outcomes(*mine[row].tolist()), float(-values[row])) for row in order
        ]

    def evaluate(self, pos: Position) -> Outcomes:
        """Chances of the player who is about to roll; exact when the game is over."""
        points = result(pos)
        if points:
            exact = [0.0] * OUTCOMES
            exact[points - 1 if points > 0 else OUTCOMES // 2 - points - 1] = 1.0
            return Outcomes(*exact)
        boards = pos.board[None]
        outcomes = self.network.outcomes_of(boards)
        set_certain(boards, outcomes)
        return Outcomes(*outcomes[0].tolist())

    def __repr__(self) -> str:
        return f"<bgai bot {self.name}: {self.network.encoding.name}, hidden {list(self.network.hidden)}>"


def load(name: str | os.PathLike[str]) -> ValueBot:
    """The bot of a level ("beginner", "normal", "strong"), of a bot file, or the strong one of a run folder.

    Raises UnknownBot, FileNotFoundError, InvalidCheckpoint.
    """
    text = os.fspath(name)
    path = find_bot_file(text)
    network, card = load_checkpoint(path)
    # A run's or a folder's "strong" is not the level's: it goes by the name it was asked for.
    named_like_a_level = Path(text).is_dir() or path.stem in LEVELS
    return ValueBot(network, name=text if named_like_a_level else path.stem, card=card)


def find_bot_file(text: str) -> Path:
    """The file behind a level name, a path or a run folder. Raises UnknownBot, FileNotFoundError."""
    if text in LEVELS:
        for folder in checkpoint_folders():
            if (folder / f"{text}.safetensors").is_file():
                return folder / f"{text}.safetensors"
        looked = " and ".join(str(folder) for folder in checkpoint_folders())
        raise FileNotFoundError(
            f"the bot file {text}.safetensors is missing from {looked}; "
            "bgai train quick trains the bots, bgai export copies them"
        )
    path = Path(text)
    if path.is_dir():
        checkpoints = sorted((path / "checkpoints").glob("games-*.safetensors"))
        for candidate in (path / "bots" / "strong.safetensors", *reversed(checkpoints)):
            if candidate.is_file():
                return candidate
        raise UnknownBot(f"the folder {path} is no training run: it has no bots/ and no checkpoints/")
    if path.is_file():
        return path
    if path.suffix == ".safetensors" or os.sep in text:
        raise FileNotFoundError(f"there is no bot file {path}")
    raise UnknownBot(
        f"there is no bot {text!r}: give {', '.join(LEVELS)}, a bot file (.safetensors) or a run folder; "
        "commands and bgai.bots.open_bot also take random, pubeval, gnubg:PLIES and bgsage:PLIES"
    )


def open_bot(text: str) -> Bot:
    """The bot that a command line calls BOT. Raises UnknownBot, FileNotFoundError, InvalidCheckpoint."""
    from bgai import referees  # it stands beside this module and imports it

    if text.partition(":")[0] in referees.REFEREES and not Path(text).exists():
        return referees.open_referee(text)
    return load(text)


def checkpoint_folders() -> list[Path]:
    """Where the bots of the levels may be: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    return [package / "checkpoints", package.parent / "checkpoints"]


def _plays_of_a_running_game(pos: Position, dice: tuple[int, int]) -> list[Play]:
    plays = legal_plays(pos, dice)
    if result(pos):
        raise ValueError(f"the game is over in {pos.id}: there is nothing to play")
    return plays


def _batch_of_one(pos: Position, dice: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return pos.board[None], np.array([dice], dtype=np.int8)
