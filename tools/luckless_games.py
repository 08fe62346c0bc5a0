"""Duplicate games of two bots with the luck of the dice taken out: differences that plain games show only by the
tens of thousands. `python tools/luckless_games.py strong@2 strong --games 1000`

Luck is what `bgai.evaluation.rollout` takes it for, in the eyes of one network (--eyes); no opinion of it biases the
score. Measures only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from tqdm import tqdm

from bgai.arena.stats import score
from bgai.bots import Bot, load, open_bot
from bgai.evaluation.lookahead import Replies, best_replies, roll_luck
from bgai.evaluation.search import equities
from bgai.rules.dice import rolls
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import start_board

PAIRS_AT_ONCE = 32
Replier = Callable[[np.ndarray], Replies]


def luckless_pairs(bot_a: Bot, bot_b: Bot, replies: Replier, pairs: np.ndarray, seed: int) -> np.ndarray:
    """A's mean points of both games of each pair, less the luck: pairs [P] int64 -> [P] float64."""
    points = np.zeros(2 * len(pairs))
    live = np.arange(len(points))
    boards = np.repeat(start_board()[None], len(points), axis=0)
    opening = np.repeat(rolls(seed, pairs, 0), 2, axis=0)
    a_to_roll = (opening[:, 1] > opening[:, 0]) == live % 2
    ply = 0
    while len(live):
        dice = rolls(seed, pairs[live // 2], ply)
        sign = np.where(a_to_roll, 1.0, -1.0)
        if ply:  # who begins, and with which roll, is the same for both bots
            points[live] -= sign * luck_of(replies, boards, dice)
        for bot, rows in ((bot_a, np.flatnonzero(a_to_roll)), (bot_b, np.flatnonzero(~a_to_roll))):
            if len(rows):
                boards[rows] = bot.choose_boards(boards[rows], dice[rows])
        won = points_lost_many(boards)
        points[live] += sign * won
        going = won == 0
        live, boards, a_to_roll = live[going], boards[going], ~a_to_roll[going]
        ply += 1
    return points.reshape(-1, 2).mean(axis=1)


def luck_of(replies: Replier, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
    """Equity that each roll brought the player who rolled [N]: of its best play, minus the mean over all rolls."""
    return equities(roll_luck(replies(boards).outcomes, dice))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bot_a", metavar="BOT")
    parser.add_argument("bot_b", metavar="BOT")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--eyes", metavar="BOT", default="strong", help="whose values tell what luck is")
    parser.add_argument("--roughly", action="store_true", help="by the sketch of --eyes alone: quick, less luck seen")
    args = parser.parse_args()
    bot_a, bot_b, eyes = open_bot(args.bot_a), open_bot(args.bot_b), load(args.eyes)
    replies: Replier = partial(best_replies, eyes.outcomes, sketch=eyes.sketch)
    if args.roughly:
        if eyes.sketch is None:
            parser.error(f"{args.eyes} has no sketch")
        replies = partial(best_replies, eyes.sketch)
    found: list[float] = []
    with tqdm(total=args.games, unit=" games", leave=False) as bar:
        for begin in range(0, args.games // 2, PAIRS_AT_ONCE):
            pairs = np.arange(begin, min(begin + PAIRS_AT_ONCE, args.games // 2), dtype=np.int64)
            found += luckless_pairs(bot_a, bot_b, replies, pairs, args.seed).tolist()
            bar.update(2 * len(pairs))
            bar.set_postfix_str(str(score(np.array(found))))
    print(f"{bot_a.name} - {bot_b.name}: {score(np.array(found))} points per game, {2 * len(found):,} games")


if __name__ == "__main__":
    main()
