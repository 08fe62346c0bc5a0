"""What a bot plays like: counted by hand on single decisions, and known orders."""

import json

import numpy as np
import pytest

from bgai.arena import character
from bgai.arena.character import TRAITS, own_traits, traits
from bgai.arena.rating import Decisions
from bgai.bots import open_bot
from bgai.cli import main
from bgai.notation.plays import parse_play
from bgai.referees import RandomBot
from bgai.rules.position import Position, start_board


def of_one(text, roll, position=None):
    """The traits of a single decision, twice so that there is an interval."""
    position = position or Position.start()
    play = parse_play(text, position, roll)
    boards = np.stack([position.board] * 2)
    dice = np.array([roll] * 2, dtype=np.int8)
    chosen = np.stack([play.after.board] * 2)
    return {name: score.mean for name, score in traits(Decisions(boards, dice, np.arange(2)), chosen).items()}


def test_opening_three_one():
    """8/5 6/5 makes the five point: no blot stays: two men are left on 8 and four on 6."""
    found = of_one("8/5 6/5", (3, 1))
    assert found["blots"] == 0
    assert found["points"] == 1
    assert found["breaks"] == 0
    assert found["anchor"] == 1  # the two men on the 24 point
    assert found["prime"] == 0  # 8, 6 and 5 are three
    assert found["back"] == 2
    assert np.isnan(found["hits"])  # nothing could be hit
    loose = of_one("13/10 6/5", (3, 1))
    assert loose["blots"] == 2  # on the ten point and the five point
    assert loose["points"] == 0
    split = of_one("24/23 13/10", (3, 1))
    assert split["blots"] == 3
    assert split["breaks"] == 1
    assert split["anchor"] == 0


def test_hits_count_only_where_one_can_hit():
    men = start_board().tolist()
    men[1], men[5] = -1, -1  # the opponent has put a man on the mover's five point
    position = Position(men)
    assert of_one("8/5* 6/5", (3, 1), position)["hits"] == 1
    assert of_one("13/10 24/23", (3, 1), position)["hits"] == 0
    both = traits(
        Decisions(np.stack([position.board, start_board()]), np.array([[3, 1], [3, 1]], np.int8), np.arange(2)),
        np.stack([parse_play("8/5* 6/5", position, (3, 1)).after.board, Position.start().board]),
    )
    assert both["hits"].mean == 1  # the second decision could hit nothing


def test_own_games_of_levels_differ():
    beginner, random = (own_traits(bot, 30, 1) for bot in (open_bot("beginner"), RandomBot()))
    assert set(beginner) == set(TRAITS)
    assert random["blots"].mean > beginner["blots"].mean + 0.5
    assert beginner["points"].mean > random["points"].mean


def test_command(tmp_path, capsys):
    assert main(["character", "random", "normal", "--games", "6", "--json", str(tmp_path / "c.json")]) == 0
    out = capsys.readouterr().out
    assert "random" in out and "normal" in out and "hits of those it could hit" in out
    data = json.loads((tmp_path / "c.json").read_text())
    assert set(data["bots"]["normal"]) == set(TRAITS)


def test_ctrl_c_keeps_the_bots_that_are_done(tmp_path, capsys, monkeypatch):
    class Stopped(RandomBot):
        def choose_boards(self, boards, dice):
            raise KeyboardInterrupt

    monkeypatch.setattr(character, "open_bot", lambda text: RandomBot() if text == "random" else Stopped())
    path = tmp_path / "c.json"
    assert main(["character", "random", "stopped", "--games", "6", "--json", str(path)]) == 130
    out, err = capsys.readouterr()
    assert "\nrandom  " in out and "interrupted; what was played so far:" in err
    data = json.loads(path.read_text())
    assert data["interrupted"] and list(data["bots"]) == ["random"]
    assert main(["character", "stopped", "--games", "6", "--json", str(path)]) == 130
    assert capsys.readouterr().out == "" and json.loads(path.read_text()) == data


@pytest.mark.parametrize("arguments", [["--games", "1"], ["--seed", "-1"]])
def test_wrong_numbers_are_told(arguments, capsys):
    assert main(["character", "random", *arguments]) != 0
    assert "must be from" in capsys.readouterr().err
