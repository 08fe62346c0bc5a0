"""Makes the levels of a strong bot file: strong itself, and with habits beginner and normal.

These have its network, or a smaller one that is strong enough for them.

    .venv/bin/python tools/make_levels.py runs/strong-11/bots/strong.safetensors --to checkpoints --games 40000 \\
        --stages runs/strong-[1-9] runs/strong-10 runs/strong-11 \\
        --weaker checkpoints/normal.safetensors

The numbers were chosen so that each level loses per decision what it should by gnubg 2-ply (docs/log.md).
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import bgai
from bgai.arena.duplicate import play_match
from bgai.arena.sessions import Session, play_session
from bgai.bots import find_bot_file, open_bot
from bgai.evaluation.checkpoint import load_checkpoint, save_checkpoint
from bgai.evaluation.habits import Habits
from train.strength import as_numbers

LEVELS = {
    "beginner": (
        Habits(margin=0.4, noise=0.14, blots=0.015, points=-0.015, back=-0.02, seed=1),
        "leaves blots, breaks points and runs early, yet always with an idea; never absurd",
    ),
    "normal": (
        Habits(margin=0.2, noise=0.07, blots=-0.01, points=0.015, back=0.0, seed=2),
        "makes points, primes and anchors and plays it safe, but is often inexact",
    ),
}
KEPT = ("games", "minutes", "seed", "config", "run", "stages")
OPPONENTS = ("pubeval", "gnubg:0", "bgsage:1")
LENGTHS = (1, 5, 7)
SEED = 2026


def make(strong: Path, weaker: Path, folder: Path, stages: list[Path]) -> None:
    """The three bot files, cards without strength. `stages` are the runs that made the strong one, first to last; the
    others get habits and the network of `weaker`."""
    network, card = load_checkpoint(weaker)
    network = replace(network, sketch=None)  # habits may like what a sketch would leave out
    for level, (habits, character) in LEVELS.items():
        told = {"name": level, "description": character, "habits": habits.as_card()}
        save_checkpoint(folder / f"{level}.safetensors", network, _kept(card) | told)
    network, card = load_checkpoint(strong)
    kept = _kept(card)
    if stages:
        cards = [load_checkpoint(find_bot_file(str(run))).card for run in stages]
        kept["stages"] = [{key: told[key] for key in ("run", "games", "minutes", "seed")} for told in cards]
        kept["games"] = sum(told["games"] for told in cards)
        kept["minutes"] = round(sum(told["minutes"] for told in cards), 1)
    described = f"{network.encoding.name} inputs, hidden {list(network.hidden)}, self-play by one ply"
    save_checkpoint(folder / "strong.safetensors", network, kept | {"name": "strong", "description": described})


def _kept(card: dict[str, Any]) -> dict[str, Any]:
    return {key: card[key] for key in KEPT if key in card}


def measure(folder: Path, games: int, matches: int) -> None:
    """Play the levels against each other and the referees, and write what came out into their cards."""
    levels = ("strong", "normal", "beginner")
    bots = {level: bgai.load(folder / f"{level}.safetensors", bearoff=False) for level in levels}
    cards: dict[str, dict[str, Any]] = {level: {"strength": {}, "wins": {}} for level in levels}
    for level in levels:
        for name in OPPONENTS:
            result = play_match(bots[level], open_bot(name), games, SEED, check_plays=False)
            cards[level]["strength"] |= as_numbers({name: result.score}, games)
            print(f"{level} - {name}: {result.score}", flush=True)
    for a, b in itertools.combinations(levels, 2):
        result = play_match(bots[a], bots[b], games, SEED, check_plays=False)
        won = sum(result.wins) / games
        print(f"{a} - {b}: {result.score}, wins {100 * won:.1f} % of single games", flush=True)
        cards[a]["strength"] |= as_numbers({b: result.score}, games)
        cards[b]["strength"] |= as_numbers({a: result.score.turned()}, games)
        cards[a]["wins"][b], cards[b]["wins"][a] = (
            {"single games": round(won, 4)},
            {"single games": round(1 - won, 4)},
        )
        for length in LENGTHS:
            share = play_session(bots[a], bots[b], matches, SEED, Session(length)).score
            print(f"  matches to {length}: {100 * share.mean:.1f} ± {100 * share.half_width:.1f} %", flush=True)
            name = f"{length}-point matches"
            cards[a]["wins"][b][name], cards[b]["wins"][a][name] = round(share.mean, 4), round(1 - share.mean, 4)
    for level in levels:
        file = folder / f"{level}.safetensors"
        network, card = load_checkpoint(file)
        card |= cards[level]
        card["measured_by"] = (
            f"tools/make_levels.py: {games:,} duplicate games, {matches:,} matches with the cube, seed {SEED}"
        )
        save_checkpoint(file, network, card)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", type=Path, help="a bot file")
    parser.add_argument("--to", type=Path, required=True, help="folder of the three levels")
    parser.add_argument(
        "--stages", type=Path, nargs="*", default=[], help="run folders that led to the bot, in order"
    )
    parser.add_argument("--weaker", type=Path, help="the bot file whose network beginner and normal get")
    parser.add_argument("--games", type=int, default=0, help="games of each measurement; 0 measures nothing")
    parser.add_argument("--matches", type=int, default=2_000, help="matches of each measurement")
    args = parser.parse_args()
    make(args.bot, args.weaker or args.bot, args.to, args.stages)
    if args.games:
        measure(args.to, args.games, args.matches)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
