"""A batch of self-play games and what is to be learned from it, made on several threads. Knows no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from bgai.evaluation.search import Evaluator, set_certain
from bgai.rules.dice import random_bits
from bgai.rules.position import POINTS
from train.selfplay import PLAIN, Games, SelfPlay, play_games
from train.targets import all_dice_targets, lambda_returns


class Lesson(NamedTuple):
    """Games, and positions with their targets; all of the games' positions or some."""

    games: Games
    boards: np.ndarray  # [L, 26] int8, seen by the player to roll
    targets: np.ndarray  # [L, 6] float32, his chances
    rolled: np.ndarray  # [L, 6] float32: chances looked one roll ahead, where there is a rival
    has_rival: np.ndarray  # [L] bool: whether another play of the roll that led here is known, too
    rivals: np.ndarray  # [L, 26] int8
    rivals_rolled: np.ndarray  # [L, 6] float32, one roll ahead
    sketch_boards: np.ndarray  # [S, 26] int8 for the sketch to learn, none without one
    sketch_targets: np.ndarray  # [S, 6] float32, what the network says of them


def play_lesson(
    evaluate: Evaluator,
    *,
    seed: int,
    first: int,
    count: int,
    lam: float,
    all_dice: float,
    ways: SelfPlay = PLAIN,
    sketch: Evaluator | None = None,
) -> Lesson:
    """Play games number `first` to `first` + `count` - 1 and make the targets.

    With all_dice = 0 these are λ-returns of all positions; else the mean over all rolls, of a share `all_dice` of the
    positions that depends on seed, game and ply alone.
    """
    games = play_games(evaluate, seed=seed, first=first, count=count, ways=ways, sketch=sketch)
    aside = games.aside.reshape(-1, POINTS)[: None if sketch is not None else 0]
    roughly = evaluate(aside, aside, np.arange(len(aside) + 1))
    set_certain(aside, roughly)
    if not all_dice:
        targets = lambda_returns(games.next_outcomes, games.over, games.explored, games.luck, lam)
        beside = (games.rolled, games.has_rival, games.rivals, games.rivals_rolled)
        return Lesson(games, games.boards, targets, *beside, aside, roughly)
    drawn = _drawn(seed, first, games.lengths, min(int(all_dice * 2.0**32), 2**32))
    boards = games.boards[drawn]
    targets = all_dice_targets(evaluate, boards, sketch if ways.sift else None)
    beside = tuple(array[drawn] for array in (games.rolled, games.has_rival, games.rivals, games.rivals_rolled))
    return Lesson(games, boards, targets, *beside, aside, roughly)


def mean_of(evaluators: Sequence[Evaluator]) -> Evaluator:
    """A committee: the mean of what several say."""
    if len(evaluators) == 1:
        return evaluators[0]

    def evaluate(parents: np.ndarray, boards: np.ndarray, starts: np.ndarray) -> np.ndarray:
        total = evaluators[0](parents, boards, starts)
        for other in evaluators[1:]:
            total += other(parents, boards, starts)
        total /= len(evaluators)
        return total

    return evaluate


def start_lesson(
    evaluate: Evaluator,
    *,
    seed: int,
    first: int,
    count: int,
    lam: float,
    all_dice: float,
    ways: SelfPlay = PLAIN,
    sketch: Evaluator | None = None,
    workers: int,
    pool: Executor,
) -> Callable[[], Lesson]:
    """Start `play_lesson` on the pool's threads; the function that comes back waits and gives the whole lesson.

    The lesson does not depend on the number of workers.
    """
    bounds = np.linspace(0, count, workers + 1).astype(int).tolist()
    futures = [
        pool.submit(
            play_lesson,
            evaluate,
            seed=seed,
            first=first + begin,
            count=end - begin,
            lam=lam,
            all_dice=all_dice,
            ways=ways,
            sketch=sketch,
        )
        for begin, end in zip(bounds, bounds[1:], strict=False)
        if end > begin
    ]

    def wait() -> Lesson:
        parts = [future.result() for future in futures]
        return Lesson(
            Games.joined([part.games for part in parts]),
            *(np.concatenate([part[k] for part in parts]) for k in range(1, len(Lesson._fields))),
        )

    return wait


@njit(cache=True, nogil=True)
def _drawn(seed, first, lengths, below):
    """Which positions of the games are drawn, [M] bool: those whose 32 random bits are below `below`."""
    drawn = np.empty(lengths.sum(), dtype=np.bool_)
    i = 0
    for game in range(lengths.shape[0]):
        for ply in range(lengths[game]):
            bits = random_bits(random_bits(seed, first + game, ply), 0, 0)  # not the bits of the dice
            drawn[i] = np.int64(bits >> uint64(32)) < below
            i += 1
    return drawn
