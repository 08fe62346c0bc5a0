"""What a bot decides in a match, and how a play is written, for the protocols that programs speak. Knows no protocol.

Bots of any kind are asked, as the arena asks them: those that know cube and score count them, the others play as they
are. The decisions are those of `ValueBot.cube` and `choose_in`, without the explanations, which take longer.
"""

from __future__ import annotations

import numpy as np

from bgai.bots import Bot, ValueBot
from bgai.evaluation.cube import MOST_AWAY
from bgai.evaluation.cube_decision import stakes_of
from bgai.evaluation.match_equity import match_equity
from bgai.rules.match import Match, game_points
from bgai.rules.outcome import POINTS_WON, Outcomes
from bgai.rules.plays import OFF, Play, legal_plays
from bgai.rules.position import BAR

_HARDLY_MORE = 0.05  # of a single game


def chosen_play(bot: Bot, match: Match) -> Play:
    """The play for the roll that lies there. Raises ValueError when there is none."""
    if match.decision != "play" or match.dice is None:
        raise ValueError(f"there is no roll to play: decision is {match.decision!r}")
    boards, dice = match.position.board[None], np.array([match.dice], dtype=np.int8)
    after = bot.choose_at(boards, dice, stakes_of(match))[0].tolist()
    return next(play for play in legal_plays(match.position, match.dice) if list(play.after.men) == after)


def wants_to_double(bot: Bot, match: Match) -> bool:
    """Whether the player on roll doubles before he rolls; never where the rules or a dead cube forbid it."""
    if "double" not in match.actions:
        return False
    return bool(bot.doubles(match.position.board[None], stakes_of(match))[0])


def wants_to_take(bot: Bot, match: Match) -> bool:
    """Whether the player who was doubled takes. Raises ValueError when nobody has doubled."""
    if match.decision != "take":
        raise ValueError(f"nobody has doubled: decision is {match.decision!r}")
    return bool(bot.takes(match.position.board[None], stakes_of(match))[0])


def warm_up(bot: Bot) -> None:
    """Let the bot decide everything once, so that nothing is compiled when somebody waits for it."""
    match = Match(decision="roll")
    chosen_play(bot, match.roll((3, 1)))
    bot.choose(match.position, (6, 6))
    wants_to_double(bot, match)
    wants_to_take(bot, match.double())
    bot.resigns(match.position)


def accepts_resignation(bot: Bot, match: Match, kind: int) -> bool:
    """Whether the player who is not on roll takes the `kind` of loss (1, 2 or 3) that the player on roll offers.

    He does when playing on, without the cube, is worth hardly more to him (chances are never exactly 0 to a network).
    A bot that gives no values accepts.
    """
    if not isinstance(bot, ValueBot):
        return True
    winner = 1 - match.turn
    playing_on = cubeless_value(match, winner, bot.evaluate(match.position).turned())
    game = (_worth(match, winner, 1) - _worth(match, winner, -1)) / 2
    return _worth(match, winner, kind) >= playing_on - _HARDLY_MORE * game


def cubeless_value(match: Match, player: int, chances: Outcomes) -> float:
    """What the game is worth to a player with these chances when nobody turns the cube any more: points, or in a
    match his chance to win it."""
    each = zip(chances, POINTS_WON.tolist(), strict=True)
    return sum(chance * _worth(match, player, int(points)) for chance, points in each)


def _worth(match: Match, player: int, kind: int) -> float:
    """What it is worth to the player when the game ends with 1 to 3 (times the cube) won, or lost when negative."""
    turned = match.cube_owner is not None
    points = game_points(abs(kind), match.cube, turned=turned, jacoby=match.jacoby)
    if not match.length:
        return points if kind > 0 else -points
    mine, theirs = (min(match.length - match.score[seat], MOST_AWAY) for seat in (player, 1 - player))
    past = match.length == 1 or (not match.crawford and 1 in (mine, theirs))
    mine, theirs = (mine - points, theirs) if kind > 0 else (mine, theirs - points)
    if mine <= 0 or theirs <= 0:
        return float(mine <= 0)
    table = match_equity()
    if past or match.crawford:  # the next game is after the Crawford game
        return 1 - float(table.post[theirs]) if mine == 1 else float(table.post[mine])
    return float(table.pre[mine, theirs])


def play_text(play: Play, *, bar: str = "bar", off: str = "off", nothing: str = "pass") -> str:
    """The play as every program reads it: one token for each step of a man, no marks for hits."""
    names = {BAR: bar, OFF: off}
    steps = (f"{names.get(start, start)}/{names.get(end, end)}" for start, end in play.moves)
    return " ".join(steps) or nothing
