"""A Python function as a bot. Its code is anybody's, so it is called on a thread that need not be waited for."""

from __future__ import annotations

import importlib
import os
import queue
import sys
import threading
from typing import Any

import numpy as np

from bgai.bots import UnknownBot
from bgai.engines.engine import SECONDS, EngineBot, Gone, NoAnswer, short
from bgai.evaluation.cube import Stakes


class PythonBot(EngineBot):
    """A Python function (board, dice) -> the board after its play seen by the opponent, or the play as text.

    The board is a list of 26 numbers seen by the player to roll (0 the opponent's bar, 25 his own; his men are
    positive and move from 24 to 1), dice the two numbers, the larger first. Its code runs inside this process.
    """

    def __init__(self, text: str, *, seconds: float = SECONDS) -> None:
        self.name, self.seconds = f"python:{text}", seconds
        self.description = f"the Python function {text}"
        module, colon, function = text.partition(":")
        if not (module and colon and function):
            raise UnknownBot(f"{self.name}: write python:MODULE:FUNCTION")
        here = os.getcwd()
        sys.path.insert(0, here)
        try:
            self._function = getattr(importlib.import_module(module), function)
        except Exception as error:
            raise UnknownBot(f"{self.name} cannot be imported: {type(error).__name__}: {error}") from None
        finally:
            if here in sys.path:
                sys.path.remove(here)
        if not callable(self._function):
            raise UnknownBot(f"{self.name} is no function, but {short(self._function)}")

    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> Any:
        answers: queue.Queue[tuple[bool, Any]] = queue.Queue()

        def call() -> None:
            try:
                answers.put((True, self._function(board.tolist(), dice)))
            except BaseException as error:
                answers.put((False, f"raised {type(error).__name__}: {error}"))

        threading.Thread(target=call, daemon=True).start()
        try:
            good, answer = answers.get(timeout=self.seconds)
        except queue.Empty:
            raise Gone(f"did not answer within {self.seconds:g} s") from None
        if not good:
            raise NoAnswer(str(answer))
        return answer
