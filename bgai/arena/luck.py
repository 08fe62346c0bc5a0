"""The luck of the dice as a strong bot sees it, to be taken out of the scores of other bots' games."""

from __future__ import annotations

from functools import partial

from bgai.arena.duplicate import Luck
from bgai.bots import Bot, ValueBot, load
from bgai.evaluation.lookahead import luck_in_points


def open_eyes() -> ValueBot:
    """Who sees the luck: the shipped strong bot, without the bearoff tables, the same on every machine."""
    return load("strong", bearoff=False)


def luck_seen_by(eyes: ValueBot, bot_a: Bot, bot_b: Bot) -> Luck:
    """By the quick sketch of `eyes`; by its network where a bot looks ahead, whose games take much longer anyway."""
    slow = any(isinstance(bot, ValueBot) and bot.plies > 1 for bot in (bot_a, bot_b))
    if slow or eyes.sketch is None:
        return partial(luck_in_points, eyes.outcomes, sketch=eyes.sketch)
    return partial(luck_in_points, eyes.sketch)
