"""Referees as judges: what every candidate of a decision is worth. Knows nothing of bots' plays or of files.

Values are cubeless money equities of the player who chooses, after his play; finished games count what the rules
say. A deep judge does not look at every candidate: all are valued by a quick one of the same family, and only
those within MARGIN of the quick one's best, and the ones that were asked for, at full depth. The others keep their
distance from the quick one's best, subtracted from its full value: an estimate, marked as such. How often this
changes a result is measured: see MARGIN.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bgai.bots import UnknownBot
from bgai.referees import BgsageBot, GnubgBot, bgsage_boards, gnubg_boards, open_referee
from bgai.rules.moves import trusted_afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import turn

MARGIN = 0.16
"""Measured on 300 decisions as varied as the benchmark's, with every candidate at full depth: this margin hid the
best candidate in none, for gnubg:2 and for bgsage:3 (0.12: in 2 and 0; 0.08: in 4 and 1). It leaves 38 % of the
candidates to full depth. Estimates of the others are off by 0.04 to 0.05 (standard deviation), -0.003 and -0.007 on
average."""


class Judge(ABC):
    """Values the candidates of one decision; `quick` finds those that are worth this judge's time."""

    name: str
    quick: Judge | None = None

    @abstractmethod
    def estimates(self, board: np.ndarray, roll: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Equities of the mover: board [26] seen by him, roll [2], afterstates rows [n, 26] seen by the opponent,
        none of them a finished game -> [n] float64."""

    def equities(self, board: np.ndarray, roll: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """`estimates`, and for finished games the points won."""
        values = points_lost_many(rows).astype(np.float64)
        going = values == 0
        if going.any():
            values[going] = self.estimates(board, roll, rows[going])
        return values


class GnubgJudge(Judge):
    """gnubg's `probabilities` of each afterstate at 0, 1 or 2 plies."""

    def __init__(self, plies: int) -> None:
        self.name = GnubgBot(plies).name
        from gnubg_nn import probabilities  # GnubgBot has said what to install when it is missing

        self._plies = plies
        self._probabilities = probabilities
        self.quick = GnubgJudge(plies - 1) if plies == 2 else None

    def estimates(self, board: np.ndarray, roll: np.ndarray, rows: np.ndarray) -> np.ndarray:
        five = np.array([self._probabilities(lists, self._plies) for lists in gnubg_boards(rows)])
        return 1 - five @ [2.0, 1.0, 1.0, -1.0, -1.0]  # the opponent's any win, gammons, ...; turned to the mover


class BgsageJudge(Judge):
    """bgsage's `checker_play` at 1, 2 or 3 plies, made to value at full depth whatever is asked."""

    def __init__(self, plies: int) -> None:
        self.name = BgsageBot(plies).name
        from bgsage import BgBotAnalyzer  # BgsageBot has said what to install when it is missing

        self._analyzer: Any = BgBotAnalyzer(eval_level=f"{plies}ply", cubeful=False)
        self.quick = BgsageJudge(plies - 1) if plies == 3 else None

    def estimates(self, board: np.ndarray, roll: np.ndarray, rows: np.ndarray) -> np.ndarray:
        wanted = bgsage_boards(turn(rows)).tolist()
        moves = self._analyzer.checker_play(
            bgsage_boards(board[None])[0].tolist(), int(roll[0]), int(roll[1]), jacoby=False, force_boards=wanted
        ).moves
        values = {tuple(move.board): move.equity for move in moves}
        return np.array([values[tuple(men)] for men in wanted])


def open_judge(text: str) -> Judge:
    """The judge gnubg:0, 1, 2 or bgsage:1, 2, 3. Raises UnknownBot."""
    if text in ("random", "pubeval"):
        raise UnknownBot(f"{text} values no positions: the referee must be gnubg:0, 1, 2 or bgsage:1, 2, 3")
    open_referee(text)  # raises for any other name, and for wrong plies
    name, _, plies = text.partition(":")
    return GnubgJudge(int(plies)) if name == "gnubg" else BgsageJudge(int(plies))


def candidates(boards: np.ndarray, dice: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The afterstates of each roll as `trusted_afterstates` gives them, but in lexicographic order.

    So stored values of candidates do not depend on the order in which plays are generated.
    """
    rows, starts = trusted_afterstates(boards, dice)
    decision = np.repeat(np.arange(len(boards)), np.diff(starts))
    order = np.lexsort([*rows.T[::-1], decision])
    return rows[order], starts


def indices(rows: np.ndarray, starts: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Which of `rows` each decision's chosen board [N, 26] is: [N] int64. Raises ValueError for one that is none."""
    same = (rows == np.repeat(chosen, np.diff(starts), axis=0)).all(axis=1)
    found = np.flatnonzero(same)
    if len(found) != len(chosen):
        missing = np.flatnonzero(~np.logical_or.reduceat(same, starts[:-1]))
        raise ValueError(f"the board chosen in decision {missing[0]} is no afterstate of its roll")
    return found


def judge_one(
    judge: Judge, board: np.ndarray, roll: np.ndarray, rows: np.ndarray, wanted: np.ndarray, margin: float = MARGIN
) -> tuple[np.ndarray, np.ndarray]:
    """Values [n] of a decision's candidates rows [n, 26], and which are at full depth [n] bool: those that are
    `wanted` [n] bool, and those within `margin` of the quick judge's best."""
    if judge.quick is None:
        return judge.equities(board, roll, rows), np.ones(len(rows), dtype=bool)
    guesses = judge.quick.equities(board, roll, rows)
    best = int(np.argmax(guesses))
    full = wanted | (guesses >= guesses[best] - margin)
    values = np.empty(len(rows))
    values[full] = judge.equities(board, roll, rows[full])
    values[~full] = values[best] + guesses[~full] - guesses[best]
    return values, full
