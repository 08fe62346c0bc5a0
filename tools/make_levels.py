"""Makes the levels beginner and normal of a strong bot file: the same network with habits.

    .venv/bin/python tools/make_levels.py checkpoints/strong.safetensors --to checkpoints

The numbers were chosen so that each level loses per decision what it should by gnubg 2-ply (docs/log.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bgai.evaluation.checkpoint import load_checkpoint, save_checkpoint
from bgai.evaluation.habits import Habits

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
KEPT = ("games", "minutes", "seed", "config", "revision", "run")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", type=Path, help="a bot file")
    parser.add_argument("--to", type=Path, required=True, help="folder")
    args = parser.parse_args()
    network, card = load_checkpoint(args.bot)
    for level, (habits, character) in LEVELS.items():
        told = {key: card[key] for key in KEPT if key in card}
        told |= {"name": level, "description": character, "habits": habits.as_card()}
        save_checkpoint(args.to / f"{level}.safetensors", network, told)
        print(args.to / f"{level}.safetensors")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
