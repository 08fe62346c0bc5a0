"""Rollouts: positions played to the end many times by a network with itself, cubeless. Knows no files, no printing.

Two things make a few hundred games say as much as tens of thousands. Rolls are stratified: every 36 games have each
first roll once, every 1,296 each pair of first and second roll. And luck is taken out: what a roll brought, the value
of its best play minus the mean over all rolls as the network sees them, is subtracted from the outcome of the game.
Luck is zero on average whatever the network thinks, so nothing is biased. All positions of a rollout meet the same
dice, so their differences are surer than they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit, uint64

from bgai.evaluation.lookahead import best_replies, choose_by_plies, look_ahead, roll_luck
from bgai.evaluation.search import Evaluator, set_certain
from bgai.rules.dice import ROLL_NUMBERS, random_bits, roll
from bgai.rules.outcome import OUTCOMES, POINTS_WON, Outcomes, points_lost_many, turn_outcomes
from bgai.rules.position import POINTS

FACES = 36  # equally likely rolls, where 3-1 and 1-3 are two


@dataclass(frozen=True, eq=False)
class Rollout:
    """What the games from one position came to, for the player to roll there; all errors are standard errors."""

    samples: np.ndarray
    """[G, 6] float64: each game's outcome less the luck, a noisy value of the six chances."""
    first_rolls: np.ndarray
    """[G] int64: which of the 36 first rolls each game had."""

    @property
    def games(self) -> int:
        return len(self.samples)

    @property
    def outcomes(self) -> Outcomes:
        """Unbiased; so a chance near zero may come out a little below it."""
        return Outcomes(*self.samples.mean(axis=0).tolist())

    @property
    def outcome_errors(self) -> Outcomes:
        return Outcomes(*(self.error_of(self.samples[:, k]) for k in range(OUTCOMES)))

    @property
    def equity(self) -> float:
        return float(self.equities.mean())

    @property
    def equity_error(self) -> float:
        return self.error_of(self.equities)

    @property
    def equities(self) -> np.ndarray:
        """[G] float64, the equity of each sample."""
        return (self.samples * POINTS_WON).sum(axis=1)

    def turned(self) -> Rollout:
        """The same games seen by the other player."""
        return Rollout(turn_outcomes(self.samples), self.first_rolls)

    def with_more(self, more: Rollout) -> Rollout:
        """These games and more of them."""
        return Rollout(
            np.concatenate([self.samples, more.samples]), np.concatenate([self.first_rolls, more.first_rolls])
        )

    def minus(self, other: Rollout) -> tuple[float, float]:
        """Difference of the equities and its error, game by game: both rollouts had the same dice."""
        difference = self.equities - other.equities
        return float(difference.mean()), self.error_of(difference)

    def error_of(self, values: np.ndarray) -> float:
        """Standard error of the mean of values [G]; infinite for a single game.

        Where all 36 first rolls came equally often and more than once, they bring no error: what varies within them
        counts.
        """
        games = len(values)
        if games < 2:
            return math.inf
        counts = np.bincount(self.first_rolls, minlength=FACES)
        if games < 2 * FACES or counts.min() != counts.max():
            return float(np.std(values, ddof=1)) / math.sqrt(games)
        means = np.bincount(self.first_rolls, weights=values, minlength=FACES) / counts
        within = float(((values - means[self.first_rolls]) ** 2).sum())
        return math.sqrt(within / (games - FACES) / games)


def roll_out(
    evaluate: Evaluator,
    boards: np.ndarray,
    games: np.ndarray,
    *,
    seed: int,
    plies: int = 1,
    truncate: int | None = None,
    without_luck: bool = True,
) -> list[Rollout]:
    """Games from each of boards [C, 26] int8, seen by the player to roll.

    games [G] int64 are the numbers of the games, which pick the dice; number them from 0 on for the stratification.
    Plays are those of a bot that looks `plies` ahead. `truncate` ends games after so many rolls with the bot's
    value. A game's sample depends on its board, its number, the seed and the bot alone.
    """
    samples = np.zeros((len(boards) * len(games), OUTCOMES))
    numbers = np.tile(games, len(boards))
    live = np.arange(len(samples))
    now = np.repeat(boards, len(games), axis=0)
    ply = 0
    while True:
        over = points_lost_many(now) > 0
        samples[live[over]] += _seen_at_start(_certain(now[over]), ply)
        live, now = live[~over], now[~over]
        if len(live) == 0:
            break
        if ply == truncate:
            samples[live] += _seen_at_start(look_ahead(evaluate, now, plies - 1), ply)
            break
        dice = rollout_rolls(seed, numbers[live], ply)
        if without_luck:
            now, luck = _play(evaluate, now, dice, plies)
            samples[live] -= _seen_at_start(luck, ply)
        else:
            now = choose_by_plies(evaluate, now, dice, plies)
        ply += 1
    first = _first_faces(seed, games)
    return [Rollout(part, first) for part in samples.reshape(len(boards), len(games), OUTCOMES)]


def _play(evaluate: Evaluator, boards: np.ndarray, dice: np.ndarray, plies: int) -> tuple[np.ndarray, np.ndarray]:
    """The boards after the plays, and the luck of the rolls [N, 6], seen by those who rolled."""
    distinct, which = _distinct(boards)
    replies = best_replies(evaluate, distinct)
    luck = roll_luck(replies.outcomes[which], dice)
    if plies == 1:
        return replies.boards[which, ROLL_NUMBERS[dice[:, 0], dice[:, 1]]], luck
    decisions, which = _distinct(np.concatenate([boards, dice], axis=1))
    chosen = choose_by_plies(
        evaluate, np.ascontiguousarray(decisions[:, :POINTS]), np.ascontiguousarray(decisions[:, POINTS:]), plies
    )
    return chosen[which], luck


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows, and which of them each row is: in the first plies games are alike."""
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    return distinct, which.reshape(-1)


def _certain(boards: np.ndarray) -> np.ndarray:
    outcomes = np.zeros((len(boards), OUTCOMES))
    set_certain(boards, outcomes)
    return outcomes


def _seen_at_start(outcomes: np.ndarray, ply: int) -> np.ndarray:
    """Chances of the player to roll after so many plies, for the player who rolled first."""
    return turn_outcomes(outcomes) if ply % 2 else outcomes


@njit(cache=True, nogil=True)
def _shuffled(seed, block, faces):
    """Put the numbers 0 to 35 into faces [36], in an order that belongs to seed and block."""
    for i in range(FACES):
        other = np.int64((random_bits(seed, block, i) >> uint64(32)) * uint64(i + 1) >> uint64(32))
        faces[i] = faces[other]
        faces[other] = i


@njit(cache=True, nogil=True)
def _first_faces(seed, games):
    """Which of the 36 first rolls each game has: games [G] int64 -> [G] int64."""
    first = np.empty(games.shape[0], dtype=np.int64)
    faces = np.empty(FACES, dtype=np.int64)
    for i in range(games.shape[0]):
        _shuffled(random_bits(seed, 0, 0), games[i] // FACES, faces)
        first[i] = faces[games[i] % FACES]
    return first


@njit(cache=True, nogil=True)
def rollout_rolls(seed, games, ply):
    """The dice of many games at one ply, stratified in the first two: games [G] int64 -> [G, 2] int8."""
    dice = np.empty((games.shape[0], 2), dtype=np.int8)
    if ply > 1:
        for i in range(games.shape[0]):
            dice[i, 0], dice[i, 1] = roll(seed, games[i], ply)
        return dice
    face = _first_faces(seed, games)
    if ply == 1:
        faces = np.empty(FACES, dtype=np.int64)
        for i in range(games.shape[0]):
            _shuffled(random_bits(seed, 1, 0), games[i] // FACES**2, faces)
            face[i] = faces[(face[i] + games[i] // FACES) % FACES]
    for i in range(games.shape[0]):
        dice[i, 0] = face[i] // 6 + 1
        dice[i, 1] = face[i] % 6 + 1
    return dice
