"""How strong a network is against fixed opponents, by duplicate games. Knows nothing of learning."""

from __future__ import annotations

from collections.abc import Iterable

from bgai.arena.duplicate import MatchResult, play_match
from bgai.bots import Bot, UnknownBot, open_bot


def open_opponents(names: Iterable[str]) -> tuple[dict[str, Bot], list[str]]:
    """The opponents that can be opened here, and a sentence for each that cannot."""
    opened: dict[str, Bot] = {}
    missing = []
    for name in names:
        try:
            opened[name] = open_bot(name)
        except (UnknownBot, FileNotFoundError) as error:
            missing.append(str(error))
    return opened, missing


def measure(bot: Bot, opponents: dict[str, Bot], *, games: int, seed: int) -> dict[str, MatchResult]:
    """Duplicate games against each opponent."""
    return {name: play_match(bot, opponent, games, seed, check_plays=False) for name, opponent in opponents.items()}


def as_numbers(results: dict[str, MatchResult]) -> dict[str, dict[str, float]]:
    """Points per game with the half width of the 95 % interval, for cards and metrics."""
    return {
        name: {
            "points_per_game": round(result.score.mean, 4),
            "interval": round(result.score.half_width, 4),
            "games": result.games,
        }
        for name, result in results.items()
    }
