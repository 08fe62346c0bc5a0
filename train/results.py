"""What a finished run is worth: its graded bots against fixed opponents and each other. Knows no torch.

The measured strength goes into results.json and into the cards of the bots.
"""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

from bgai.arena.duplicate import MatchResult
from bgai.arena.luck import open_eyes
from bgai.arena.table import Pairing, cross_table, distinct_labels, match_lines
from bgai.bots import LEVELS, Bot, ValueBot
from bgai.evaluation.checkpoint import load_checkpoint, save_checkpoint
from bgai.evaluation.habits import Habits
from bgai.files import write_atomically
from bgai.progress import progress_bar
from train import strength


def graded_bots(bots: Path) -> dict[str, ValueBot]:
    """The levels that lie in a folder, strongest first; without bearoff tables, which other machines may not have."""
    found = {}
    for level in reversed(LEVELS):
        path = bots / f"{level}.safetensors"
        if path.exists():
            network, card = load_checkpoint(path)
            found[level] = ValueBot(network, name=level, card=card, habits=Habits.of_card(card))
    return found


def measure_bots(
    bots: Path,
    results: Path,
    *,
    opponents: tuple[str, ...],
    games: int,
    seed: int,
    luckless: bool = False,
    quiet: bool = False,
) -> list[str]:
    """Play every level against every opponent and the other levels; write cards and results; give the table.

    With `luckless` the scores are less the luck of the dice, as in `bgai arena --luckless`.

    An opponent that is called like a level of the run, the shipped strong bot for one, is "strong (2)" there.
    """
    levels = graded_bots(bots)
    fixed, missing = strength.open_opponents(opponents)
    eyes = open_eyes() if luckless else None
    everyone: list[Bot] = [*levels.values(), *fixed.values()]
    labels = distinct_labels([*levels, *fixed])
    pairings = [(a, b) for a, b in itertools.combinations(range(len(everyone)), 2) if a < len(levels)]
    matches: dict[Pairing, MatchResult] = {}
    with progress_bar(total=games * len(pairings), unit="game", desc="measuring", disable=quiet) as bar:
        for a, b in pairings:
            matches[a, b] = strength.play(everyone[a], everyone[b], games=games, seed=seed, eyes=eyes)
            bar.update(games)
    for number, level in enumerate(levels):
        scores = {labels[b]: match.score for (a, b), match in matches.items() if a == number}
        scores |= {labels[a]: match.score.turned() for (a, b), match in matches.items() if b == number}
        network, card = load_checkpoint(bots / f"{level}.safetensors")
        card["strength"] = strength.as_numbers(scores, games)
        file = shlex.quote(str(bots / f"{level}.safetensors"))
        command = f"bgai arena {file} OPPONENT --games {games} --seed {seed}" + " --luckless" * luckless
        card["measured_by"] = f"BGAI_BEAROFF=off {command}"
        save_checkpoint(bots / f"{level}.safetensors", network, card)
    table = [*cross_table(labels, matches), "", *match_lines(labels, matches)]
    table += [f"not played: {sentence}" for sentence in missing]
    data: dict[str, Any] = {
        "games": games,
        "opponents": opponents,
        "seed": seed,
        "luckless": luckless,
        "table": table,
    }
    write_atomically(results, (json.dumps(data, indent=1) + "\n").encode())
    return table
