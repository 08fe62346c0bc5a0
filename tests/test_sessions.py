"""Matches and money games with the cube in lockstep, against the rules' own Match played step by step."""

import json

import numpy as np
import pytest

import bgai
from bgai.arena.duplicate import ArenaError
from bgai.arena.sessions import CAP, Session, SessionResult, play_session
from bgai.arena.table import session_data, session_lines, share_text
from bgai.bots import Bot
from bgai.cli import main
from bgai.evaluation.cube import Stakes
from bgai.evaluation.cube_decision import stakes_of
from bgai.referees import RandomBot
from bgai.rules.dice import roll
from bgai.rules.match import Match
from bgai.rules.moves import afterstates


class Bold(Bot):
    """Plays anything, doubles when it leads the race, takes when not far behind."""

    name = "bold"

    def choose_boards(self, boards, dice):
        return RandomBot(5).choose_boards(boards, dice)

    @staticmethod
    def _lead(boards):
        return -np.array([np.arange(26) @ np.maximum(b, 0) - np.arange(26) @ np.maximum(-b[::-1], 0) for b in boards])

    def doubles(self, boards, stakes):
        return self._lead(boards) > 8

    def takes(self, boards, stakes):
        return self._lead(boards) < 60


def step_by_step(bots, pair, second, seed, session):
    """The result of a match (or money game) for bots[0], and its cubes; every step a Match."""
    match = Match(length=session.length, jacoby=session.jacoby)
    game, cubes = 0, []
    while True:
        number = pair * 100 + game
        dice = [int(die) for die in roll(seed, number, 0)]
        match = match.begin(*(dice if not second else dice[::-1]))
        ply = 0
        while match.decision != "over":
            bot = bots[match.turn]
            boards, stakes = match.position.board[None], stakes_of(match)
            if match.decision == "roll":
                if "double" in match.actions and session.cube and bot.doubles(boards, stakes)[0]:
                    match = match.double()
                    continue
                match = match.roll([int(die) for die in roll(seed, number, ply)])
            elif match.decision == "take":
                match = match.take() if bots[match.decider].takes(boards, stakes)[0] else match.drop()
                if match.decision == "roll":
                    match = match.roll([int(die) for die in roll(seed, number, ply)])
            else:
                chosen = bot.choose_at(boards, np.array([match.dice], dtype=np.int8), stakes)[0]
                rows, _ = afterstates(boards, np.array([match.dice]))
                assert (rows == chosen).all(axis=1).any()
                match = match.play(type(match.position)(chosen.tolist()))
                ply += 1
        cubes.append(match.cube)
        if not session.length:
            return match.score[0] - match.score[1], cubes
        if match.match_winner is not None:
            return (1 if match.match_winner == 0 else -1), cubes
        match = match.next_game()
        game += 1


@pytest.mark.parametrize(
    "session",
    [
        Session(),
        Session(jacoby=True),
        Session(length=1),
        Session(length=2),
        Session(length=5),
        Session(7, cube=False),
    ],
    ids=str,
)
def test_as_the_rules_say(session):
    bots = (Bold(), bgai.load("beginner", bearoff=False))
    result = play_session(*bots, 24, 77, session)
    for table in range(24):
        points, cubes = step_by_step(bots, table // 2, table % 2, 77, session)
        assert result.points[table] == points, table
        assert result.cubes[table] == cubes[-1], table
    if session.cube and session.length != 1:
        assert result.cubes.max() > 1


@pytest.mark.parametrize("session", [Session(), Session(length=3)], ids=str)
def test_a_bot_against_itself_scores_nothing(session):
    bot = bgai.load("normal", bearoff=False)
    result = play_session(bot, bot, 40, 5, session)
    assert result.score.mean == (0.5 if session.length else 0)
    assert result.score.half_width == 0


def test_changing_places_turns_the_score():
    a, b = bgai.load("normal", bearoff=False), Bold()
    for session in (Session(), Session(length=3)):
        there, back = (play_session(*pair, 40, 5, session) for pair in ((a, b), (b, a)))
        np.testing.assert_array_equal(there.points.reshape(-1, 2), -back.points.reshape(-1, 2)[:, ::-1])


def test_batches_change_nothing(monkeypatch):
    a, b = bgai.load("normal", bearoff=False), Bold()
    whole = play_session(a, b, 30, 9, Session(length=3))
    monkeypatch.setattr("bgai.arena.sessions._PAIRS_AT_ONCE", 4)
    seen = []
    parts = play_session(a, b, 30, 9, Session(length=3), seen.append)
    np.testing.assert_array_equal(whole.points, parts.points)
    assert [result.games for result in seen] == [8, 16, 24, 30]


def test_capped_results():
    result = play_session(Bold(), Bold(), 20, 1, Session())
    wild = type(result)("a", "b", Session(), np.array([64, -1, 2, -2]), np.array([64, 1, 2, 2]), 1.0)
    assert wild.score.mean == pytest.approx(63 / 4)
    assert wild.capped.mean == pytest.approx((CAP - 1) / 4)


def test_longer_matches_favour_the_better_bot():
    strong, beginner = (bgai.load(name, bearoff=False) for name in ("strong", "beginner"))
    short, long = (play_session(strong, beginner, 400, 3, Session(length=n)).score.mean for n in (1, 7))
    assert 0.6 < short < long


def test_pairs_that_all_went_alike_give_no_interval():
    for points, text in (([1, 1, 1, 1], "100.0 ± ? %"), ([1, -1, 1, -1], "50.0 ± ? %"), ([1, 1], "100.0 ± ? %")):
        result = SessionResult("A", "B", Session(length=7), np.array(points), np.ones(len(points)), 1.0)
        assert text in "\n".join(session_lines(["A", "B"], {(0, 1): result}))
        assert session_data(["A", "B"], (0, 1), result)["score"]["interval"] is None
    result = SessionResult("A", "B", Session(length=7), np.array([1, 1, -1, 1]), np.ones(4), 1.0)
    # Pair means 1 and 1/2: standard error 1/4, Student's quantile with one degree of freedom 12.706.
    assert share_text(result.score) == "75.0 ± 317.7 %"


def test_wrong_sessions_are_told():
    for wrong in (dict(length=-1), dict(length=26), dict(length=5, jacoby=True)):
        with pytest.raises(ArenaError):
            Session(**wrong)


def test_bots_without_a_cube_never_double_and_always_take():
    boards, stakes = np.zeros((3, 26), dtype=np.int8), Stakes.money(3)
    assert not RandomBot().doubles(boards, stakes).any()
    assert RandomBot().takes(boards, stakes).all()


def test_command(tmp_path, capsys):
    file = tmp_path / "m.json"
    assert main(["arena", "normal", "random", "--games", "8", "--match", "3", "--json", str(file)]) == 0
    assert "matches to 3" in capsys.readouterr().out
    data = json.loads(file.read_text())
    assert data["session"] == {"length": 3, "jacoby": False, "cube": True}
    assert len(data["matches"][0]["points"]) == 8
    assert main(["arena", "normal", "random", "--games", "8", "--money", "--jacoby"]) == 0
    out = capsys.readouterr().out
    assert "money games" in out and "mean cube" in out


@pytest.mark.parametrize(
    "wrong",
    [["--match", "0"], ["--match", "26"], ["--money", "--match", "3"], ["--jacoby"], ["--cubeless"],
     ["--match", "3", "--jacoby"], ["--money", "--sprt", "0", "0.1"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_options_are_told(wrong, capsys):
    assert main(["arena", "random", "random", "--games", "4", *wrong]) == 2
    assert "bgai arena: " in capsys.readouterr().err
