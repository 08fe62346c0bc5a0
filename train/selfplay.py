"""Self-play in lockstep with one set of weights. Knows no torch and no targets.

Every game's dice depend on (seed, game number, ply) alone, so a batch is the same whoever plays it and whenever.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bgai.evaluation.search import Evaluator, one_ply
from bgai.rules.dice import rolls
from bgai.rules.moves import MAX_PLAYS
from bgai.rules.position import POINTS
from train.starts import first_boards


class Games(NamedTuple):
    """Positions of finished games, game after game, ply after ply."""

    boards: np.ndarray  # [M, 26] int8, seen by the player to roll
    next_outcomes: np.ndarray  # [M, 6] float32: chances after his play, seen by the next player
    over: np.ndarray  # [M] bool: this play ended the game; next_outcomes is then exact
    lengths: np.ndarray  # [games] int64, plies of each game
    points: np.ndarray  # [games] int8, points of the result, 1 to 3

    @staticmethod
    def joined(parts: list[Games]) -> Games:
        """Several lots of games as one, in order."""
        return Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def play_games(evaluate: Evaluator, *, seed: int, first: int, count: int, scattered: float = 0.0) -> Games:
    """Play games number first to first + count - 1 to their end, both sides by one ply.

    A share `scattered` of them begins at scattered positions (see train.starts).
    """
    numbers = np.arange(count)
    boards, opened = first_boards(seed, first, count, scattered)
    lengths = np.zeros(count, dtype=np.int64)
    points = np.zeros(count, dtype=np.int8)
    played: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    workspace = np.empty((count * 24 + MAX_PLAYS, POINTS), dtype=np.int8)
    ply = 0
    while len(numbers):
        # A game that begins elsewhere has no opening roll, ply 0, which is never a double.
        dice = np.where(
            opened[numbers, None], rolls(seed, first + numbers, ply), rolls(seed, first + numbers, ply + 1)
        )
        choice = one_ply(evaluate, boards, dice, workspace)
        over = choice.points_lost > 0
        played.append((boards, choice.outcomes, over, numbers))
        lengths[numbers] = ply + 1
        points[numbers] = choice.points_lost
        boards, numbers = choice.boards[~over], numbers[~over]
        ply += 1
    game_of = np.concatenate([entry[3] for entry in played])
    order = np.argsort(game_of, kind="stable")
    return Games(
        np.concatenate([entry[0] for entry in played])[order],
        np.concatenate([entry[1] for entry in played])[order],
        np.concatenate([entry[2] for entry in played])[order],
        lengths,
        points,
    )
