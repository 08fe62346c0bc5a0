"""How strong a network is against fixed opponents, by duplicate games. Knows nothing of learning."""

from __future__ import annotations

from collections.abc import Iterable

from bgai.arena.duplicate import MatchResult, play_match
from bgai.arena.luck import luck_seen_by
from bgai.arena.stats import Score
from bgai.bots import Bot, ValueBot, open_bot
from bgai.referees import MissingReferee


def open_opponents(names: Iterable[str]) -> tuple[dict[str, Bot], list[str]]:
    """The opponents by name, and a sentence for each whose package is not installed.

    Bots of ours play without bearoff tables, so that a run measures the same on every machine.
    Raises UnknownBot or FileNotFoundError for a name that is nobody's.
    """
    opened: dict[str, Bot] = {}
    missing = []
    for name in names:
        try:
            opened[name] = open_bot(name, bearoff=False)
        except MissingReferee as error:
            missing.append(str(error))
    return opened, missing


def play(bot: Bot, opponent: Bot, *, games: int, seed: int, eyes: ValueBot | None = None) -> MatchResult:
    """Duplicate games against an opponent, scored less the luck that `eyes` see."""
    luck = luck_seen_by(eyes, bot, opponent) if eyes else None
    return play_match(bot, opponent, games, seed, check_plays=False, luck=luck)


def measure(
    bot: Bot, opponents: dict[str, Bot], *, games: int, seed: int, eyes: ValueBot | None = None
) -> dict[str, MatchResult]:
    """`play` against each opponent."""
    return {name: play(bot, opponent, games=games, seed=seed, eyes=eyes) for name, opponent in opponents.items()}


def as_numbers(scores: dict[str, Score], games: int) -> dict[str, dict[str, float]]:
    """Points per game with the half width of the 95 % interval, for cards and metrics."""
    return {
        name: {"points_per_game": round(score.mean, 4), "interval": round(score.half_width, 4), "games": games}
        for name, score in scores.items()
    }
