"""The bench command: tiny runs end to end, ratios on values worked out by hand."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgai import Position, afterstates
from bgai.bots import open_bot
from train import bench

OTHERS = [name for name in ("gnubg_nn", "bgsage") if importlib.util.find_spec(name)]


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_parser(parser.add_subparsers())
    args = parser.parse_args(["bench", *arguments])
    return args.run_command(args)


def _tiny_run(tmp_path: Path, *sections: str) -> dict[str, Any]:
    file = tmp_path / "bench.json"
    options = [
        "--rounds",
        "2",
        "--seconds",
        "0.01",
        "--positions",
        "300",
        "--bot",
        "random",
        "--json",
        str(file),
    ]
    assert _run(*sections, *options) == 0
    return json.loads(file.read_text(encoding="utf-8"))


class ByHand(bench.Side):
    """A side whose slices are given."""

    def __init__(self, name: str, ours: bool, slices: list[bench.Slice]) -> None:
        super().__init__(name, ours=ours)
        self.slices = slices

    def work(self, ready: Any) -> int:
        raise AssertionError("nothing is measured here")


def _section_by_hand() -> bench.Section:
    ours = ByHand("ours", True, [bench.Slice(100, 1, 1), bench.Slice(600, 2, 2), bench.Slice(80, 0.4, 0.8)])
    other = ByHand("other", False, [bench.Slice(50, 1, 1), bench.Slice(50, 1, 1), bench.Slice(160, 1, 0.5)])
    return bench.Section("moves", "by hand", "afterstates", [ours, other])


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    # Rates by hand: ours 100, 300, 200; other 50, 50, 160. Ratios by round: 2, 6, 1.25.
    measured = bench.results(_section_by_hand())
    ours, other = measured["sides"]
    assert (ours["median"], ours["min"], ours["max"], ours["cores"]) == (200, 100, 300, 1)
    assert (other["median"], other["min"], other["max"], other["cores"]) == (50, 50, 160, 1)
    (ratio,) = measured["ratios"]
    assert ratio["rounds"] == [2, 6, 1.25]
    # The median of the ratios, 2, is not the ratio of the medians, 4.
    assert (ratio["median"], ratio["min"], ratio["max"]) == (2, 1.25, 6)


def test_the_table_names_its_unit_and_gives_the_ratio():
    text = "\n".join(bench.table(bench.results(_section_by_hand())))
    assert "afterstates/s" in text
    assert "2.00 (1.25 .. 6.00)" in text


def test_tiny_run_of_moves_and_plays(tmp_path, capsys):
    data = _tiny_run(tmp_path, "plays", "moves")
    assert {"machine", "rounds", "sections"} <= data.keys()
    assert {"cpu", "cores", "python", "packages"} <= data["machine"].keys()
    assert [section["section"] for section in data["sections"]] == ["moves", "plays"]
    for section in data["sections"]:
        rates = {side["name"]: side["rates"] for side in section["sides"]}
        assert all(len(by_round) == 2 and min(by_round) > 0 for by_round in rates.values())
        assert [side["ours"] for side in section["sides"]] == [True, True] + [False] * len(OTHERS)
        assert len(section["ratios"]) == 2 * len(OTHERS)
        for ratio in section["ratios"]:
            expected = np.divide(rates[ratio["ours"]], rates[ratio["other"]])
            assert ratio["rounds"] == pytest.approx(expected)
    printed = capsys.readouterr().out
    assert all(side["name"] in printed for section in data["sections"] for side in section["sides"])


def test_without_the_other_programs_ours_are_measured_alone(tmp_path, monkeypatch):
    for name in ("gnubg_nn", "bgsage", "bgbot_cpp"):
        monkeypatch.setitem(sys.modules, name, None)
    for section in _tiny_run(tmp_path, "moves", "plays")["sections"]:
        assert all(side["ours"] for side in section["sides"]) and not section["ratios"]


@pytest.mark.skipif("gnubg_nn" not in OTHERS or "bgsage" not in OTHERS, reason="needs the extra referees")
def test_the_other_programs_do_the_same_work():
    args = argparse.Namespace(bot="random", positions=200)
    positions = bench.mid_game_positions(open_bot("random"), args.positions)
    rows, starts = afterstates(*positions)
    stuck = sum(
        np.array_equal(rows[begin], -board[::-1]) for begin, board in zip(starts[:-1], positions[0], strict=True)
    )
    with bench.contextlib.ExitStack() as stack:
        sides = bench.moves_section(args, stack).sides
    ours, one_at_a_time, gnubg, sage = (side.work(side.prepare()) for side in sides)
    assert ours == one_at_a_time == sage == len(rows)
    # gnubg gives no afterstate for a roll that cannot be played, where bgai gives the same men.
    assert gnubg == len(rows) - stuck


@pytest.mark.skipif("gnubg_nn" not in OTHERS, reason="needs the extra referees")
def test_deeper_plays_are_measured_beside_gnubg_at_the_same_depth(monkeypatch):
    monkeypatch.setitem(bench.DEEP_BATCH, 3, 2)
    for plies, batch in ((2, 64), (3, 2)):
        args = argparse.Namespace(bot="strong", positions=100)
        with bench.contextlib.ExitStack() as stack:
            section = bench._MAKERS[f"plays{plies}"](args, stack)
        together, one_at_a_time, gnubg = section.sides
        assert (together.ours, one_at_a_time.ours, gnubg.ours) == (True, True, False)
        assert f"strong@{plies}" in together.name and f"n={plies - 1}" in gnubg.name
        assert together.work(together.prepare()) == one_at_a_time.work(one_at_a_time.prepare()) == batch


def test_bots_that_cannot_look_ahead_are_not_asked_to():
    def sections(*words: str) -> list[str]:
        parser = argparse.ArgumentParser()
        bench.add_parser(parser.add_subparsers())
        return bench._checked_sections(parser.parse_args(["bench", *words]))

    assert sections("--bot", "random") == ["moves", "plays", "training"]
    assert sections("--bot", "strong") == list(bench.SECTIONS)
    with pytest.raises(ValueError, match="'random@2' is no bot"):
        _run("plays2", "--bot", "random", "--positions", "40")


def test_mid_game_positions_are_positions_of_games():
    boards, dice = bench.mid_game_positions(open_bot("random"), 500)
    assert boards.shape == (500, 26) and dice.shape == (500, 2)
    assert dice.min() >= 1 and dice.max() <= 6
    assert len({Position(board.tolist()) for board in boards}) > 400


def test_training_plays_and_learns_batch_after_batch():
    with bench.ThreadPoolExecutor(2) as pool:
        batches = bench.training_batches(hidden=(16,), minibatch=256, batch_games=40, pool=pool)
        first, second, third = (next(batches) for _ in range(3))
    for games in (first, second, third):
        assert len(games.lengths) == games.over.sum() == 40
        assert games.lengths.sum() == len(games.boards)
    # The first two batches are played with the first weights, the third with weights learned from the first.
    start = first.boards[0]
    values = [games.next_outcomes[0] for games in (first, second, third)]
    assert all(np.array_equal(games.boards[0], start) for games in (second, third))
    assert not np.array_equal(values[1], values[2])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["speed"], "there is no section 'speed'; there are moves, plays, plays2, plays3, training"),
        (["moves", "--rounds", "0"], "--rounds should be at least 1"),
        (["moves", "--seconds", "nan"], "--seconds should be above 0"),
        (["moves", "--positions", "0"], "--positions should be at least 1"),
        (["training", "--warm-up", "-1"], "--warm-up should not be negative"),
        (["moves", "--json", "no/such/folder/x.json"], "there is no folder"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_measured(arguments, sentence, capsys):
    with pytest.raises(ValueError, match=sentence):
        _run(*arguments)
    assert capsys.readouterr().out == ""
