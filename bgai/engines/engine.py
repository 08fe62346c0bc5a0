"""What all engines have in common: they are asked one decision after the other, and every choice is checked against
bgai's own afterstates. Knows no way to ask.

An engine that answers nonsense, dies or takes too long raises `EngineFailure`, which still holds its other answers,
so that it loses one game and the run goes on. Forced plays are made without asking.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from bgai.bots import Bot
from bgai.evaluation.cube import Stakes
from bgai.notation.plays import parse_play
from bgai.rules.moves import check_dice, trusted_afterstates
from bgai.rules.plays import IllegalPlay
from bgai.rules.position import POINTS, InvalidPosition, Position, check_boards, turn

SECONDS = 30.0
"""How long an engine may think; the environment variable BGAI_ENGINE_SECONDS changes it."""
MOST_TEXT = 1_000_000  # bytes of an answer
_PATIENCE = 3  # times in a row that an engine may die or hang before it is given up


class EngineFailure(ValueError):
    """An engine gave no legal answer in some rows of a batch; the message says what it did in the first of them."""

    def __init__(self, sentences: dict[int, str], answers: np.ndarray) -> None:
        super().__init__(next(iter(sentences.values())))
        self.sentences = sentences
        """What went wrong, by the number of the row."""
        self.answers = answers
        """The answers of all rows; those of the rows that failed mean nothing."""


class NoAnswer(Exception):
    """The engine's answer is none; says why."""


class Gone(NoAnswer):
    """The engine has died, or has taken too long: asking again costs time."""


class EngineBot(Bot):
    """An engine that is asked one decision after the other."""

    seconds: float
    _gone = 0
    _last = ""

    @abstractmethod
    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> Any:
        """The play as text, or the board after it seen by the opponent. Raises NoAnswer."""

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        return self._choose(boards, dice, None)

    def choose_at(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot. Raises EngineFailure."""
        return self._choose(boards, dice, stakes)

    def _choose(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes | None) -> np.ndarray:
        boards = check_boards(boards)
        dice = check_dice(dice, len(boards))
        rows, starts = trusted_afterstates(boards, dice)
        unforced = np.flatnonzero(np.diff(starts) > 1)

        def choose(row: int) -> np.ndarray:
            roll = (int(dice[row].max()), int(dice[row].min()))
            given = self._after(boards[row], roll, stakes.take(np.array([row])) if stakes is not None else None)
            return _checked(given, boards[row], roll, rows[starts[row] : starts[row + 1]])

        return self._ask_all(unforced, choose, rows[starts[:-1]])

    def _ask_all(self, rows: np.ndarray, ask: Callable[[int], Any], answers: np.ndarray) -> np.ndarray:
        """Put the answers of these rows into `answers`. Raises EngineFailure at the end, when all were asked."""
        failed: dict[int, str] = {}
        for row in rows.tolist():
            try:
                if self._gone >= _PATIENCE:
                    raise NoAnswer(f"was given up after {_PATIENCE} failures in a row; the last time it {self._last}")
                answers[row] = ask(row)
                self._gone = 0
            except Gone as why:
                self._gone += 1
                self._last = str(why)
                failed[row] = f"{self.name} {why}"
            except NoAnswer as why:
                failed[row] = f"{self.name} {why}"
        if failed:
            raise EngineFailure(failed, answers)
        return answers


def _checked(given: Any, board: np.ndarray, dice: tuple[int, int], legal: np.ndarray) -> np.ndarray:
    """The row of `legal` that an engine means by a play's text, a Position ID or a board. Raises NoAnswer."""
    where = f"in position {Position(board.tolist()).id} with roll {dice[0]}{dice[1]}"
    if isinstance(given, str):
        try:
            return parse_play(given, Position(board.tolist()), dice).after.board
        except IllegalPlay as error:
            after = _boards_of_id(given)
            if after is None:
                raise NoAnswer(f"answered {short(given)} {where}: {error}") from None
    else:
        after = [_board_of(given, where)]
    for men in after:
        same = (legal == men).all(axis=1)
        if same.any():
            return legal[same][0]
    raise NoAnswer(f"answered {short(given)} {where}: no legal play leads there")


def _boards_of_id(text: str) -> list[np.ndarray] | None:
    """A Position ID as the board after the play: seen by the opponent, or else by the mover; None if it is none."""
    try:
        board = Position.from_id(text.strip()).board
    except InvalidPosition:
        return None
    return [board, turn(board[None])[0]]


def _board_of(given: Any, where: str) -> np.ndarray:
    try:
        men = [int(number) for number in given]
        if len(men) != POINTS or men != list(given):
            raise ValueError
        return np.array(men, dtype=np.int8)
    except (TypeError, ValueError, OverflowError):
        raise NoAnswer(f"answered {short(given)} {where}: that is no play and no board of {POINTS} numbers") from None


def short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 120 else text[:117] + "..."
