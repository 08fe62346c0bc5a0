"""Phases of a game, by plain rules on the men. Knows nothing of plays, dice or value.

Every board falls into exactly one phase: the first of BY_PRECEDENCE whose rule holds, "contact" when none does.
The rules do not ask who is to roll, except for "bearoff" against "race".
"""

from __future__ import annotations

import numpy as np

from bgai.rules.position import BAR, HOME, start_board, turn

PHASES = ("opening", "contact", "prime", "back game", "contact bearoff", "race", "bearoff")

MEN_AT_START = 24
PIPS_BEHIND = 40
PRIME = 5


def phases(boards: np.ndarray) -> np.ndarray:
    """Index into PHASES of every board: boards [N, 26] int8 seen by the player to roll -> [N] int8."""
    found = np.full(len(boards), PHASES.index("contact"), dtype=np.int8)
    for name, rule in reversed(BY_PRECEDENCE):
        found[rule(boards)] = PHASES.index(name)
    return found


def bearoff(boards: np.ndarray) -> np.ndarray:
    """No contact any more, and all men of the player to roll are at home or off: boards [N, 26] -> [N] bool."""
    return ~contact(boards) & all_home(boards)


def race(boards: np.ndarray) -> np.ndarray:
    """No contact any more: [N, 26] -> [N] bool. (`phases` asks for a bearoff first.)"""
    return ~contact(boards)


def contact_bearoff(boards: np.ndarray) -> np.ndarray:
    """Contact, and one player has all his men at home or off: [N, 26] -> [N] bool."""
    return contact(boards) & (all_home(boards) | all_home(turn(boards)))


def back_game(boards: np.ndarray) -> np.ndarray:
    """One player holds two or more points of the other's home (two men or more on each) and is at least
    40 pips behind: [N, 26] -> [N] bool."""
    lead = pips(turn(boards)) - pips(boards)
    return ((anchors(boards) >= 2) & (lead <= -PIPS_BEHIND)) | ((anchors(turn(boards)) >= 2) & (lead >= PIPS_BEHIND))


def prime(boards: np.ndarray) -> np.ndarray:
    """One player holds five points in a row with a man of the other behind them: [N, 26] -> [N] bool."""
    return primes(boards) | primes(turn(boards))


def opening(boards: np.ndarray) -> np.ndarray:
    """At least 24 of the 30 men stand where they start: two to three rolls' worth have moved. [N, 26] -> [N] bool."""
    start = start_board()
    same = np.where(np.sign(boards) == np.sign(start), np.minimum(np.abs(boards), np.abs(start)), 0)
    return same.sum(axis=1) >= MEN_AT_START


BY_PRECEDENCE = (
    ("bearoff", bearoff),
    ("race", race),
    ("contact bearoff", contact_bearoff),
    ("back game", back_game),
    ("prime", prime),
    ("opening", opening),
)


def contact(boards: np.ndarray) -> np.ndarray:
    """A man of each player has still to pass one of the other's: [N, 26] -> [N] bool."""
    mine, theirs = boards > 0, boards < 0
    my_last = BAR - np.argmax(mine[:, ::-1], axis=1)
    their_last = np.argmax(theirs, axis=1)
    return mine.any(axis=1) & theirs.any(axis=1) & (my_last > their_last)


def all_home(boards: np.ndarray) -> np.ndarray:
    """All men of the player to roll are on points 1 to 6 or off: [N, 26] -> [N] bool."""
    return np.all(boards[:, HOME + 1 :] <= 0, axis=1)


def anchors(boards: np.ndarray) -> np.ndarray:
    """How many points of the opponent's home the player to roll holds with two men or more: [N, 26] -> [N]."""
    return (boards[:, BAR - HOME : BAR] >= 2).sum(axis=1)


def primes(boards: np.ndarray) -> np.ndarray:
    """The player to roll holds five points in a row and the opponent has a man behind them: [N, 26] -> [N] bool."""
    held = boards[:, :BAR] >= 2
    last = np.argmax(boards < 0, axis=1)  # the opponent's men move up; his rearmost stands lowest
    found = np.zeros(len(boards), dtype=bool)
    for first in range(1, BAR - PRIME + 1):
        found |= held[:, first : first + PRIME].all(axis=1) & (last < first)
    return found & (boards < 0).any(axis=1)


def pips(boards: np.ndarray) -> np.ndarray:
    """Pip count of the player to roll: [N, 26] -> [N]."""
    return np.maximum(boards, 0).astype(np.int64) @ np.arange(BAR + 1)
