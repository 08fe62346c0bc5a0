"""Bots to measure against: random plays, and pubeval, gnubg and bgsage from packages of the extra "referees".

All play cubeless money games, where gammons always count, and every choice is checked against bgai's own
afterstates. Knows nothing of bgai's networks. A package is imported when its referee is opened, not before.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit, uint64

from bgai.bots import Bot, UnknownBot
from bgai.rules.dice import board_bits, random_bits
from bgai.rules.moves import check_dice, trusted_afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import BAR, OPPONENT_BAR, Position, check_boards, turn

GNUBG_PLIES = (0, 1, 2)
BGSAGE_PLIES = (1, 2, 3)
REFEREES = ("random", "pubeval", "gnubg", "bgsage", "gnubg-program")


class MissingReferee(UnknownBot):
    """The package of a referee is not installed."""


class RefereeError(ValueError):
    """A referee chose a board that none of bgai's legal plays leads to."""


class RandomBot(Bot):
    """Any legal afterstate with the same chance, decided by a hash of seed, board and roll."""

    def __init__(self, seed: int = 0) -> None:
        self.name = "random"
        self.description = f"uniformly random legal plays, seed {seed}"
        self._seed = seed

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        boards = check_boards(boards)
        dice = check_dice(dice, len(boards))
        rows, starts = trusted_afterstates(boards, dice)
        return rows[_random_rows(self._seed, boards, dice, starts)]


@njit(cache=True, nogil=True)
def _random_rows(seed, boards, dice, starts):
    """One row of each roll's afterstates, starts[i] to starts[i + 1]; the dice have no order."""
    rows = np.empty(boards.shape[0], dtype=np.int64)
    for i in range(boards.shape[0]):
        bits = board_bits(random_bits(seed, max(dice[i, 0], dice[i, 1]), min(dice[i, 0], dice[i, 1])), boards[i])
        count = uint64(starts[i + 1] - starts[i])
        rows[i] = starts[i] + np.int64(((bits >> uint64(32)) * count) >> uint64(32))
    return rows


class PubevalBot(Bot):
    """Tesauro's public benchmark player of 1993, a linear evaluation."""

    def __init__(self) -> None:
        self.name = "pubeval"
        self.description = "Tesauro's pubeval, from gnubg-nn"
        self._gnubg = _package("gnubg_nn", self.name)

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        choose = self._gnubg.pub_best_move
        after = []
        for men, lists, (die1, die2) in zip(boards.tolist(), gnubg_boards(boards), dice.tolist(), strict=True):
            flat = [place + 1 for place in choose(lists, die1, die2)]
            after.append(moved(men, list(zip(flat[::2], flat[1::2], strict=True))))
        return checked_choices(self.name, boards, dice, turn(np.array(after, dtype=np.int8).reshape(boards.shape)))


class GnubgBot(Bot):
    """GNU Backgammon's networks, looking `plies` ahead as gnubg counts them: 0 evaluates the afterstates."""

    def __init__(self, plies: int) -> None:
        _check_plies("gnubg", plies, GNUBG_PLIES)
        self.name = f"gnubg:{plies}"
        self.description = f"GNU Backgammon at {plies} plies, cubeless money, from gnubg-nn"
        self._plies = plies
        self._gnubg = _package("gnubg_nn", self.name)

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        choose = self._gnubg.best_move
        after = []
        for men, lists, (die1, die2) in zip(boards.tolist(), gnubg_boards(boards), dice.tolist(), strict=True):
            after.append(moved(men, choose(lists, die1, die2, n=self._plies)))
        return checked_choices(self.name, boards, dice, turn(np.array(after, dtype=np.int8).reshape(boards.shape)))


class NoisyGnubgBot(Bot):
    """gnubg's weaker levels: its networks at 0 plies with noise added to each of the five outputs.

    Normal noise of standard deviation `noise`, decided by board and output alone ("deterministic" in gnubg's
    settings), then cut to what chances can be. gnubg's presets are 0.060, 0.050, 0.040 and 0.015.
    """

    def __init__(self, noise: float) -> None:
        self.name = f"gnubg:0:{noise:g}"
        self.description = f"GNU Backgammon at 0 plies with noise {noise:g}, cubeless money, from gnubg-nn"
        self._noise = noise
        self._gnubg = _package("gnubg_nn", self.name)

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        boards = check_boards(boards)
        rows, starts = trusted_afterstates(boards, check_dice(dice, len(boards)))
        lost = points_lost_many(rows).astype(np.float64)
        going = np.flatnonzero(lost == 0)
        chances = np.array([self._gnubg.probabilities(lists, 0) for lists in gnubg_boards(rows[going])])
        chances = chances.reshape(-1, 5) + self._noise * _noise_of(rows[going])
        win = np.clip(chances[:, 0], 0, 1)
        gammon, loss_gammon = np.clip(chances[:, 1], 0, win), np.clip(chances[:, 3], 0, 1 - win)
        backgammons = np.clip(chances[:, 2], 0, gammon) - np.clip(chances[:, 4], 0, loss_gammon)
        equity = -lost  # of the opponent, who rolls next
        equity[going] = 2 * win - 1 + gammon - loss_gammon + backgammons
        best = [first + int(np.argmin(equity[first:end])) for first, end in zip(starts, starts[1:], strict=False)]
        return rows[best]


def _noise_of(rows: np.ndarray) -> np.ndarray:
    """Five normal numbers for each board [N, 26], by a hash of its men -> [N, 5] (Box and Muller 1958)."""
    first, second = _uniforms(rows)
    return np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)


@njit(cache=True, nogil=True)
def _uniforms(rows):
    """Two lots of five numbers above 0 and up to 1 for each board, [2, N, 5]."""
    numbers = np.empty((2, rows.shape[0], 5))
    for i in range(rows.shape[0]):
        bits = board_bits(0, rows[i])
        for output in range(5):
            for lot in range(2):
                own = random_bits(bits, output, lot) >> uint64(11)
                numbers[lot, i, output] = (own + 1.0) / 9007199254740992.0
    return numbers


class BgsageBot(Bot):
    """The Open Sage engine, looking `plies` deep as it counts them: 1 evaluates the afterstates."""

    def __init__(self, plies: int) -> None:
        _check_plies("bgsage", plies, BGSAGE_PLIES)
        self.name = f"bgsage:{plies}"
        self.description = f"Open Sage at {plies} plies, cubeless money, from bgsage"
        package = _package("bgsage", self.name)
        self._analyzer: Any = package.BgBotAnalyzer(eval_level=f"{plies}ply", cubeful=False)

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        rows, starts = trusted_afterstates(boards, dice)
        legal, before = bgsage_boards(turn(rows)).tolist(), bgsage_boards(boards).tolist()
        chosen = starts[:-1].copy()
        for i in range(len(boards)):
            ours = legal[starts[i] : starts[i + 1]]
            if len(ours) == 1:
                continue
            ranked = self._analyzer.checker_play(before[i], int(dice[i, 0]), int(dice[i, 1]), jacoby=False).moves
            # bgsage also bears the last man off with one die where the rules want a hit with the other one
            # first, so its best play is the best of those that are legal.
            best = next((move.board for move in ranked if move.board in ours), None)
            if best is None:
                raise _no_legal_play(self.name, boards[i], dice[i])
            chosen[i] += ours.index(best)
        return rows[chosen]


def open_referee(text: str) -> Bot:
    """The referee that `text` names: random, pubeval, gnubg:PLIES, gnubg:0:NOISE, bgsage:PLIES, gnubg-program:PLIES.

    Raises UnknownBot.
    """
    name, colon, plies = text.partition(":")
    if name not in REFEREES:
        raise UnknownBot(
            f"{text!r} is no referee; there are random, pubeval, gnubg:PLIES, bgsage:PLIES and gnubg-program:PLIES"
        )
    if name == "gnubg" and plies.startswith("0:"):
        return NoisyGnubgBot(_noise(plies.removeprefix("0:")))
    if name in ("random", "pubeval"):
        if colon:
            raise UnknownBot(f"{name} looks no plies ahead: write {name}, not {text!r}")
        return RandomBot() if name == "random" else PubevalBot()
    allowed = BGSAGE_PLIES if name == "bgsage" else GNUBG_PLIES
    if plies not in map(str, allowed):
        raise _wrong_plies(name, repr(text), allowed)
    if name == "gnubg-program":
        from bgai.gnubg_program import GnubgProgramBot  # it stands beside this module and imports it

        return GnubgProgramBot(int(plies))
    return GnubgBot(int(plies)) if name == "gnubg" else BgsageBot(int(plies))


def _noise(text: str) -> float:
    try:
        noise = float(text)
    except ValueError:
        noise = math.nan
    if not 0 < noise <= 1:
        raise UnknownBot(f"the noise of gnubg:0:NOISE is a number above 0 and up to 1, such as 0.06, not {text!r}")
    return noise


def illegal_rows(boards: np.ndarray, dice: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Numbers of the rows whose chosen board is no afterstate of the roll; arrays as in `choose_boards`."""
    rows, starts = trusted_afterstates(boards, dice)
    same = (rows == np.repeat(chosen, np.diff(starts), axis=0)).all(axis=1)
    return np.flatnonzero(~np.logical_or.reduceat(same, starts[:-1]))


def _package(module: str, bot: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingReferee(f'{bot} needs the extra "referees": pip install gnubg-nn bgsage') from None


def _check_plies(name: str, plies: int, allowed: Sequence[int]) -> None:
    if plies not in allowed:
        raise _wrong_plies(name, str(plies), allowed)


def _wrong_plies(name: str, given: str, allowed: Sequence[int]) -> UnknownBot:
    choices = [f"{name}:{plies}" for plies in allowed]
    return UnknownBot(f"{name} needs its plies, {', '.join(choices[:-1])} or {choices[-1]}, not {given}")


def gnubg_boards(boards: np.ndarray) -> list[list[list[int]]]:
    """gnubg-nn's boards: 25 counts of the opponent and 25 of the roller, each from its own side, bar last."""
    mine = np.maximum(boards[:, 1:], 0)
    theirs = np.maximum(-boards[:, BAR - 1 :: -1], 0)
    return np.stack([theirs, mine], axis=1).tolist()


def bgsage_boards(boards: np.ndarray) -> np.ndarray:
    """bgsage's board: like bgai's, but the men on the opponent's bar are counted positive (a copy)."""
    theirs = boards.copy()
    theirs[:, OPPONENT_BAR] *= -1
    return theirs


def moved(men: list[int], steps: Sequence[Sequence[int]]) -> list[int]:
    """The men after single-checker steps (from, to), still seen by the mover; 25 is the bar, 0 off."""
    after = list(men)
    for start, end in steps:
        after[start] -= 1
        if end > 0:
            if after[end] == -1:
                after[end] = 0
                after[OPPONENT_BAR] -= 1
            after[end] += 1
    return after


def checked_choices(name: str, boards: np.ndarray, dice: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The chosen boards [B, 26]. Raises RefereeError when one is no afterstate of its roll."""
    wrong = illegal_rows(boards, dice, chosen)
    if len(wrong):
        raise _no_legal_play(name, boards[wrong[0]], dice[wrong[0]])
    return chosen


def _no_legal_play(name: str, board: np.ndarray, dice: np.ndarray) -> RefereeError:
    position = Position(board.tolist())
    return RefereeError(f"{name} chose no legal play in position {position.id} with roll {dice[0]}{dice[1]}")
