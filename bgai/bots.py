"""Bots: the one protocol that front ends, arena and training talk to, and the names bots are opened by.

A bot needs one method, `choose_boards`; the rest derives from it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bgai.evaluation.bearoff_tables import BearoffTables, cached_tables, exact_outcomes, set_exact_money
from bgai.evaluation.checkpoint import load_checkpoint
from bgai.evaluation.cube import CLASSES, Stakes, classes
from bgai.evaluation.cube_decision import CubeDecision, check_match, decide, stakes_of
from bgai.evaluation.cubeful import (
    answer_useless_doubles,
    choose_with_cube,
    looked_ahead,
    roll_outcomes,
    static_values,
    wants_double,
    wants_take,
)
from bgai.evaluation.habits import Habits, habitual_rows
from bgai.evaluation.lookahead import MOST_PLIES, choose_by_plies, look_ahead
from bgai.evaluation.network import Network
from bgai.evaluation.search import Evaluator, equities, value_afterstates
from bgai.rules.match import Match
from bgai.rules.moves import check_dice
from bgai.rules.outcome import OUTCOMES, Outcomes, result, turn_outcomes
from bgai.rules.plays import Play, legal_plays
from bgai.rules.position import BAR, HOME, MEN, Position, check_boards

LEVELS = ("beginner", "normal", "strong")
CERTAIN = 1 - 1e-4  # chance of a loss that is resigned


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

    def choose_at(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes) -> np.ndarray:
        """As `choose_boards`, for games with cube and score. A bot that does not know them plays as without."""
        return self.choose_boards(boards, dice)

    def doubles(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """Where the bot doubles before it rolls: boards [B, 26] seen by it -> [B] bool. It is asked only where the
        rules let it. A bot that does not know the cube never does."""
        return np.zeros(len(boards), dtype=np.bool_)

    def takes(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """Where the bot takes a double: boards [B, 26] and stakes are seen by the doubler -> [B] bool. A bot that
        does not know the cube always does."""
        return np.ones(len(boards), dtype=np.bool_)

    def resigns(self, pos: Position) -> int:
        """What the player on roll resigns before he rolls: 1 a single game, 2 a gammon, 3 a backgammon, 0 nothing. A
        bot that gives no values plays on."""
        return 0

    def choose(self, pos: Position, dice: tuple[int, int]) -> Play:
        """The play for one roll. Raises ValueError for wrong dice or a finished game."""
        plays = _plays_of_a_running_game(pos, dice)
        return self._play_to(self.choose_boards(*_batch_of_one(pos, dice))[0], plays, pos, dice)

    def _play_to(self, board: np.ndarray, plays: list[Play], pos: Position, dice: tuple[int, int]) -> Play:
        """The one of the legal plays that leads to the chosen board."""
        men = tuple(board.tolist())
        for play in plays:
            if play.after.men == men:
                return play
        raise ValueError(f"{self.name} chose a board that no legal play of {dice} from {pos.id} leads to")


class ValueBot(Bot):
    """A value network that plays the afterstate worth least to the opponent, looking `plies` ahead.

    1 (the default) takes its word for the afterstates, 2 and 3 look at the replies to one and two rolls: see
    `bgai.evaluation.lookahead`. With `bearoff` tables those value the pure bearoffs, and the network the rest. Where
    the network has a sketch, that sifts the plays first.
    """

    def __init__(
        self,
        network: Network,
        *,
        name: str,
        card: dict[str, Any] | None = None,
        bearoff: BearoffTables | None = None,
        plies: int = 1,
        habits: Habits | None = None,
    ) -> None:
        if plies not in range(1, MOST_PLIES + 1):
            raise ValueError(f"a bot looks 1 to {MOST_PLIES} plies ahead, not {plies}")
        self.network = network
        self.name = name
        self.card = card or {}
        self.bearoff = bearoff
        self.plies = plies
        self.habits = habits
        self.description = str(self.card.get("description", ""))

    def outcomes(self, parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Chances for the player to roll on `boards`, by network and tables; arrays as in `Network.outcomes`."""
        return self._by_tables(self.network, parents, boards, starts)

    @property
    def sketch(self) -> Evaluator | None:
        """As `outcomes`, but roughly and quickly, by the network's sketch; None where it has none."""
        return None if self.network.sketch is None else partial(self._by_tables, self.network.sketch)

    def _by_tables(self, network: Network, parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
        if self.bearoff is None:
            return network.outcomes(parents, boards, starts)
        exact = np.empty((len(boards), OUTCOMES), dtype=np.float32)
        known = exact_outcomes(self.bearoff, boards, exact)
        if known == len(boards):  # the network would be overruled in all
            return exact
        chances = network.outcomes(parents, boards, starts)
        if known:
            exact_outcomes(self.bearoff, boards, chances)
        return chances

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """See Bot. Raises InvalidPosition, and ValueError for wrong dice."""
        boards = check_boards(boards)
        if self.habits is not None and self.plies == 1:
            rows, starts, outcomes = value_afterstates(self.outcomes, boards, check_dice(dice, len(boards)))
            return rows[habitual_rows(self.habits, rows, starts, outcomes)]
        return choose_by_plies(self.outcomes, boards, check_dice(dice, len(boards)), self.plies, self.sketch)

    def choose_at(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot. The best play with cube and score; habits know no score."""
        if self.habits is not None:
            return self.choose_boards(boards, dice)
        return choose_with_cube(self.outcomes, boards, dice, stakes, self.plies, self.sketch)

    def doubles(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot."""
        return wants_double(self.cube_values(boards, stakes))

    def takes(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot."""
        values = self.cube_values(boards, stakes)
        if np.isnan(values[:, 2]).any():
            answer_useless_doubles(values, roll_outcomes(self.outcomes, boards), boards, stakes)
        return wants_take(values)

    def cube_values(self, boards: np.ndarray, stakes: Stakes, outcomes: np.ndarray | None = None) -> np.ndarray:
        """No double, double and take, double and pass for the player on roll in boards [B, 26] -> [B, 3]; see
        `bgai.evaluation.cube`. A bot that looks ahead looks one roll ahead here; one that does not can be spared its
        evaluation by the chances [B, 6] that it gives there."""
        if self.plies > 1:
            values = looked_ahead(self.outcomes, boards, stakes)
        else:
            chances = roll_outcomes(self.outcomes, boards) if outcomes is None else outcomes
            values = static_values(chances, boards, stakes)
        if self.bearoff is not None:
            set_exact_money(self.bearoff, boards, stakes, values)
        return values

    def resigns(self, pos: Position) -> int:
        """See Bot. It resigns the most that it can still lose by the rules, when by tables or network that is certain
        and the men have passed each other: there networks do not take a small chance for none."""
        if result(pos) or CLASSES[classes(pos.board[None])[0]] == "contact":
            return 0
        mine = np.maximum(pos.board, 0)
        most = 1 if mine.sum() < MEN else 2 if not mine[BAR - HOME :].any() else 3
        return most if self.evaluate(pos)[OUTCOMES // 2 + most - 1] > CERTAIN else 0

    def cube(self, match: Match) -> CubeDecision:
        """What the player on roll should do with the cube, and the other one about it. Raises ValueError when the
        match waits for neither."""
        return decide(self.outcomes, self.cube_values, match, self.plies)

    def take(self, match: Match) -> bool:
        """Whether the player who was doubled should take. Raises ValueError when nobody was."""
        check_match(match)
        if match.decision != "take":
            raise ValueError(f"nobody has doubled: decision is {match.decision!r}")
        return self.cube(match).takes

    def choose_in(self, match: Match) -> Play:
        """The play for the roll of this match, with score and cube counted. Raises ValueError when there is none."""
        check_match(match)
        if match.decision != "play" or match.dice is None:
            raise ValueError(f"there is no roll to play: decision is {match.decision!r}")
        boards, dice = _batch_of_one(match.position, match.dice)
        chosen = self.choose_at(boards, dice, stakes_of(match))[0]
        return self._play_to(chosen, legal_plays(match.position, match.dice), match.position, match.dice)

    def rank(self, pos: Position, dice: tuple[int, int]) -> list[tuple[Play, Outcomes, float]]:
        """All legal plays, best first, with the mover's chances and cubeless equity after each.

        All are looked at as deep as the bot looks, where `choose` leaves out those that are plainly worse after a
        shallower or rougher look; so once in a few hundred plays another one comes first here. Raises ValueError as
        `choose` does.
        """
        plays = {play.after.men: play for play in _plays_of_a_running_game(pos, dice)}
        rows, _, outcomes = value_afterstates(self.outcomes, *_batch_of_one(pos, dice))
        if self.plies > 1:
            outcomes = look_ahead(self.outcomes, rows, self.plies - 1, self.sketch)
        values = equities(outcomes)
        mine = turn_outcomes(outcomes)
        order = np.argsort(values, kind="stable")
        return [
            (plays[tuple(rows[row].tolist())], Outcomes(*mine[row].tolist()), float(-values[row])) for row in order
        ]

    def evaluate(self, pos: Position) -> Outcomes:
        """Chances of the player who is about to roll; exact when the game is over. Raises ValueError for what is no
        position."""
        _check_position(pos)
        points = result(pos)
        if points:
            exact = [0.0] * OUTCOMES
            exact[points - 1 if points > 0 else OUTCOMES // 2 - points - 1] = 1.0
            return Outcomes(*exact)
        return Outcomes(*look_ahead(self.outcomes, pos.board[None], self.plies - 1, self.sketch)[0].tolist())

    def __repr__(self) -> str:
        tables = ", bearoff tables" if self.bearoff else ""
        return f"<bgai bot {self.name}: {self.network.encoding.name}, hidden {list(self.network.hidden)}{tables}>"


def load(name: str | os.PathLike[str], *, bearoff: bool = True) -> ValueBot:
    """The bot of a level ("beginner", "normal", "strong"), of a bot file, or the strong one of a run folder.

    With @PLIES behind it, such as "strong@2", it looks so many plies ahead, 1 to 3 in XG's count (gnubg's 0 to 2).
    It values pure bearoffs by the exact tables where `bgai bearoff --build` has put them in the cache folder. Without
    `bearoff`, or with BGAI_BEAROFF=off, it does not look for them, and plays the same on every machine.
    Raises UnknownBot, FileNotFoundError, InvalidCheckpoint.
    """
    if not isinstance(name, str | os.PathLike):
        raise UnknownBot(f"a bot is given by a name or a path, such as 'strong', not by {name!r}")
    text, plies = split_plies(os.fspath(name))
    path = find_bot_file(text)
    network, card = load_checkpoint(path)
    # A run's or a folder's "strong" is not the level's: it goes by the name it was asked for.
    named_like_a_level = Path(text).is_dir() or path.stem in LEVELS
    tables = cached_tables(os.environ) if bearoff else None
    label = text if named_like_a_level else path.stem
    if plies > 1:
        label += f"@{plies}"
    return ValueBot(network, name=label, card=card, bearoff=tables, plies=plies, habits=Habits.of_card(card))


def split_plies(text: str) -> tuple[str, int]:
    """A bot's name and the plies it looks ahead: "strong@2" -> ("strong", 2); without @ they are 1. An existing
    file or folder may have an @ in its name. Raises UnknownBot for plies that no bot looks."""
    name, at, plies = text.rpartition("@")
    if not name or os.sep in plies or plies.endswith(".safetensors") or Path(text).exists():
        return text, 1
    depths = [str(depth) for depth in range(1, MOST_PLIES + 1)]
    if plies not in depths:
        raise UnknownBot(
            f"{text!r} is no bot: @ stands before the plies it looks ahead, so write "
            f"{', '.join(f'{name}@{depth}' for depth in depths[:-1])} or {name}@{depths[-1]}"
        )
    return name, int(plies)


def find_bot_file(text: str) -> Path:
    """The file behind a level name, a path or a run folder, with @PLIES or without. Raises UnknownBot,
    FileNotFoundError."""
    text, _ = split_plies(text)
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
        f"there is no bot {text!r}: give {', '.join(LEVELS)}, a bot file (.safetensors) or a run folder, with @2 or "
        "@3 behind it to look ahead; commands and bgai.bots.open_bot also take random, pubeval, gnubg:PLIES, "
        "bgsage:PLIES, and engines as ubgi:COMMAND, http:URL and python:MODULE:FUNCTION"
    )


def has_tables(bot: Bot) -> bool:
    """Whether the exact tables value pure bearoffs for a bot."""
    return isinstance(bot, ValueBot) and bot.bearoff is not None


def told_of_tables(bots: Iterable[Bot]) -> list[str]:
    """A sentence below results: that tables were used, or none. They are not the same on every machine."""
    if not any(map(has_tables, bots)):
        return []
    return ["pure bearoffs of bgai's bots are valued by the exact tables (BGAI_BEAROFF=off: by the network)"]


def open_bot(text: str, *, bearoff: bool = True) -> Bot:
    """The bot that a command line calls BOT; `bearoff` as in `load`. Starts the program of ubgi:COMMAND and runs the
    code of python:MODULE:FUNCTION. Raises UnknownBot, FileNotFoundError, InvalidCheckpoint."""
    from bgai.engines.opening import KINDS, open_engine  # they stand beside this module and import it
    from bgai.referees import REFEREES, open_referee

    if not Path(text).exists():
        if ":" in text and text.partition(":")[0] in KINDS:
            return open_engine(text)
        if text.partition(":")[0] in REFEREES:
            return open_referee(text)
        if (name := text.partition("@")[0]) in REFEREES:
            raise UnknownBot(f"{text!r} is no bot: @ makes bgai's networks look ahead, {name} has no such thing")
    return load(text, bearoff=bearoff)


def checkpoint_folders() -> list[Path]:
    """Where the bots of the levels may be: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    return [package / "checkpoints", package.parent / "checkpoints"]


def _check_position(pos: Position) -> None:
    if not isinstance(pos, Position):
        raise ValueError(f"a position is a bgai.Position, such as Position.start(), not {pos!r}")


def _plays_of_a_running_game(pos: Position, dice: tuple[int, int]) -> list[Play]:
    _check_position(pos)
    plays = legal_plays(pos, dice)
    if result(pos):
        raise ValueError(f"the game is over in {pos.id}: there is nothing to play")
    return plays


def _batch_of_one(pos: Position, dice: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return pos.board[None], np.array([dice], dtype=np.int8)
