"""Analysis of positions and matches: against the bot's own values, hand-made records, sums that must agree."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.arena.analysis import analyze_record, luck_of, rank_plays
from bgai.cli import main
from bgai.evaluation.cube_decision import market_losers
from bgai.evaluation.search import value_afterstates
from bgai.frontends.analyze_cli import analysis_data, html_report, report_lines
from bgai.notation.mat import read_mat
from bgai.rules.dice import ROLL_CHANCES, ROLLS
from bgai.rules.match import Match

# A breaks his own six point, B answers well, A doubles too early and B drops what is a huge take.
BLUNDERS = """ 3 point match

 Game 1
 A : 0                            B : 0
  1) 31: 6/3 6/5                    53: 8/3 6/3
  2)  Doubles => 2                 Drops
      Wins 1 point
"""


@pytest.fixture(scope="module")
def bot():
    return bgai.load("strong", bearoff=False)


@pytest.fixture(scope="module")
def analysis(bot):
    return analyze_record(bot, read_mat(BLUNDERS))


def test_opening_plays_are_ranked_as_the_books_do(bot):
    ranked = rank_plays(bot, Match(turn=0, decision="play", dice=(3, 1)))
    assert str(ranked[0].play) == "8/5 6/5"
    assert len(ranked) == 16
    equities = [each.equity for each in ranked]
    assert equities == sorted(equities, reverse=True)
    assert ranked[0].equity > ranked[1].equity + 0.05
    for each in ranked:
        assert sum(each.outcomes) == pytest.approx(1, abs=1e-5)


def test_ranked_at_the_last_point_is_the_win_chance(bot):
    """At one-all nothing counts but winning: equity is twice the chance minus one."""
    match = Match(length=1, turn=0, decision="play", dice=(6, 4))
    for each in rank_plays(bot, match):
        assert each.equity == pytest.approx(2 * each.outcomes.win_chance - 1, abs=1e-5)


def test_luck_of_all_rolls_is_nothing_in_the_mean(bot):
    match = Match(turn=1, decision="roll")
    lucks = [luck_of(bot, match.roll(tuple(int(die) for die in roll))) for roll in ROLLS]
    assert ROLL_CHANCES @ np.array(lucks) == pytest.approx(0, abs=1e-9)
    assert max(lucks) > 0.1 and min(lucks) < -0.05


def test_errors_of_a_made_up_game(analysis):
    by_kind = {(c.player, c.kind): c for c in analysis.choices}
    first = analysis.choices[0]
    assert (first.player, first.kind, first.made, first.best) == (0, "play", "6/5 6/3", "8/5 6/5")
    assert first.error > 0.08 and first.mark in ("?", "??")
    double = by_kind[(0, "double")]
    assert double.best == "no double" and double.error > 0.3
    drop = by_kind[(1, "drop")]
    assert drop.best == "take" and drop.mark == "??"
    assert drop.error == pytest.approx(drop.best_equity - drop.equity)
    assert drop.equity == pytest.approx(-1, abs=1e-6)


def test_sums_agree(analysis):
    for player in (0, 1):
        own = [c for c in analysis.choices if c.player == player]
        summary = analysis.summary(player)
        assert summary.error == pytest.approx(sum(c.error for c in own))
        assert summary.error == pytest.approx(summary.play_error + summary.cube_error)
        assert summary.decisions == sum(c.counted for c in own)
        assert summary.pr == pytest.approx(500 * summary.error / summary.decisions)
        assert analysis.summary(player, 1) == summary


def test_the_bots_own_games_have_no_errors(bot):
    """Played by the same bot, cubeless values apart: each first roll's best play costs nothing."""
    ranked = rank_plays(bot, Match(length=3, turn=0, decision="play", dice=(6, 1)))
    text = " 3 point match\n\n Game 1\n A : 0                            B : 0\n"
    text += f"  1) 61: {ranked[0].play}\n"
    found = analyze_record(bot, read_mat(text))
    assert [c.error for c in found.choices] == [0]
    assert found.summary(1).pr is None


def test_deeper_ranks_by_deeper_values(bot):
    deep = bgai.load("strong@2", bearoff=False)
    match = Match(length=1, turn=0, decision="play", dice=(2, 1))
    ranked = rank_plays(deep, match)
    by_rank = {str(play): outcomes for play, outcomes, _ in deep.rank(match.position, (2, 1))}
    for each in ranked:
        np.testing.assert_allclose(list(each.outcomes), list(by_rank[str(each.play)]), atol=1e-6)
    rows, _, _ = value_afterstates(bot.outcomes, match.position.board[None], np.array([[2, 1]], dtype=np.int8))
    assert len(ranked) == len(rows)


def test_text_and_html(analysis):
    text = "\n".join(report_lines(analysis))
    assert text.startswith(
        "A - B, 3-point match, 1 game, by strong, cube actions without looking ahead, without bearoff tables"
    )
    assert "better 8/5 6/5" in text and "Game 1 at 0-0: A wins 1" in text
    meaning = "PR is 500 times the mean error; what is marked costs at least 0.16 (??), 0.08 (?), 0.02 (?!)"
    page = html_report(analysis, "<made up>.mat")
    assert meaning in text and meaning in page
    assert page.count("<svg") == sum(bool(c.mark) for c in analysis.choices)
    assert (
        ">A: 0<" in page
        and "A doubles to 2, B to answer" in page
        and "player 0" not in page
        and "player 1" not in page
    )
    assert "&lt;made up&gt;" in page and "<script" not in page
    assert len(re.findall(r"<figure>", page)) == len(re.findall(r"</figure>", page))


def test_a_game_may_begin_with_two_equal_dice(bot):
    """Some servers let the player who begins throw both dice; what is read is analyzed."""
    text = BLUNDERS.partition("  1)")[0] + "  1) 33: 8/5(2) 6/3(2)               31: 8/5 6/5\n"
    found = analyze_record(bot, read_mat(text))
    assert [(c.player, c.before.dice) for c in found.choices if c.kind == "play"] == [(0, (3, 3)), (1, (3, 1))]


AFTER_CRAWFORD = """ 3 point match

 Game 1
 A : 0                            B : 0
  1) 31: 8/5 6/5                   Doubles => 2
  2)  Takes                        42: 8/4 6/4
      Wins 0 points
 Game 2
 A : 0                            B : 2
  1) 31: 8/5 6/5
      Wins 1 point
 Game 3
 A : 1                            B : 2
  1)                               31: 8/5 6/5
  2) 42: 8/4 6/4                   65: 24/13
  3)  Doubles => 2                 Takes
""".replace("      Wins 0 points", "                                   Wins 2 points")


def test_waiting_after_crawford_is_no_error(bot):
    """A needs two points and B one: the double can wait, for it comes before the market is lost."""
    found = analyze_record(bgai.load("strong@2", bearoff=False), read_mat(AFTER_CRAWFORD))
    waited = next(c for c in found.choices if (c.game, c.kind) == (3, "no double"))
    assert waited.error < 0.02 and not waited.mark and waited.best == "double, take"
    assert not any(c.mark for c in found.choices if c.game == 3 and c.kind == "double")
    assert "-0.000" not in "\n".join(report_lines(found, everything=True))


def test_a_double_that_waits_is_answered_first(capsys):
    assert main(["analyze", "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:5:10", "--depth", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("take: a pass would cost 1.") and "the double itself: no double: " in "\n".join(lines)


def test_what_was_used_is_said(tmp_path, monkeypatch, capsys):
    """Tables or not, and that the cube is looked at one roll ahead however deep plays are."""
    monkeypatch.setenv("BGAI_CACHE", str(tmp_path))
    endgame, data = "XGID=--A--A------------------a-:0:0:1:00:0:0:0:0:10", tmp_path / "a.json"
    words = ["analyze", endgame, "--bot", "normal", "--depth", "3", "--json", str(data)]
    keys = ("bot", "plies", "cube_plies", "bearoff")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "normal@3, cube actions one roll ahead, without bearoff tables" in out and "bgai bearoff --build" in err
    assert [json.loads(data.read_text())[key] for key in keys] == ["normal@3", 3, 2, False]
    assert main(["bearoff", "--build", "--men", "2"]) == 0
    capsys.readouterr()
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "with bearoff tables" in out and err == "" and "takes with about 25.0 % or more" in out
    assert [json.loads(data.read_text())[key] for key in keys] == ["normal@3", 3, 2, True]


def test_the_identifier_in_the_data_holds_all_rules(tmp_path, capsys):
    data = tmp_path / "a.json"
    for text in (
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10",  # Jacoby and beavers
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:2",  # a cube that goes to 4
        "4HPwATDgc/ABMA:cAkAAAAAAAAE",
    ):
        assert main(["analyze", text, "--bot", "normal", "--depth", "1", "--json", str(data)]) == 0
        assert bgai.parse_id(json.loads(data.read_text())["id"]) == bgai.parse_id(text)


def test_command_on_files_and_ids(tmp_path, capsys):
    file, page, data = tmp_path / "m.mat", tmp_path / "r.html", tmp_path / "r.json"
    file.write_text(BLUNDERS)
    arguments = ["analyze", str(file), "--depth", "1", "--json", str(data), "--html", str(page)]
    assert main(arguments) == 0
    assert "PR" in capsys.readouterr().out
    assert "<svg" in page.read_text()
    found = json.loads(data.read_text())
    assert found["games"][0]["choices"][0]["best"] == "8/5 6/5"
    assert main(["analyze", "4HPwATDgc/ABMA", "--depth", "1"]) == 0
    out = capsys.readouterr().out
    assert "no double" in out and out.startswith("money; cube 1 in the middle\n")
    assert main(["analyze", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:10", "--depth", "1"]) == 0
    assert "8/5 6/5" in capsys.readouterr().out
    assert main(["analyze", "XGID=-b----E-C---eE---c-e----B-:1:1:1:00:0:0:0:0:10", "--depth", "1"]) == 0
    assert "no redouble: redoubling would cost" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["missing.mat"], ["4HPwATDgc/ABMA", "--html", "x.html"], ["4HPwATDgc/ABMA", "--bot", "nobody"],
     ["4HPwATDgc/ABMA", "--bot", "strong@2"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_input_is_one_sentence(arguments, capsys):
    assert main(["analyze", *arguments]) != 0
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("bgai analyze: ")


MATCHES = sorted(Path(__file__).parent.joinpath("data", "matches").glob("*.mat"))


@pytest.mark.skipif(not MATCHES, reason="the matches of tests/data/matches are not here")
def test_a_real_match_is_analyzed_whole(bot):
    record = read_mat(min(MATCHES, key=lambda path: path.stat().st_size).read_text())
    found = analyze_record(bot, record)
    plays = sum(action.kind == "play" for game in record.games for action in game.actions)
    assert sum(c.kind == "play" for c in found.choices) == plays
    for player in (0, 1):
        assert 0 < found.summary(player).pr < 60


def test_market_losers_are_worked_out_for_those_who_read_them(bot, monkeypatch):
    asked = []

    def counted(evaluate, boards, stakes):
        asked.append(boards.tobytes())
        return market_losers(evaluate, boards, stakes)

    monkeypatch.setattr("bgai.evaluation.cube_decision.market_losers", counted)
    analysis = analyze_record(bot, read_mat(BLUNDERS))
    report_lines(analysis, everything=True)
    assert asked == []
    data = analysis_data(analysis)
    cubes = [choice["cube"] for choice in data["games"][0]["choices"] if "cube" in choice]
    assert len(cubes) == len(asked) + 1 == 3  # a double and its answer are one question
    assert cubes[-2] == cubes[-1]
    html_report(analysis, "made up")
    assert len(asked) == 2


def test_the_answer_to_a_double_is_what_it_is_without_the_double_before(bot, analysis):
    double, drop = analysis.choices[-2:]
    assert (double.kind, drop.kind) == ("double", "drop")
    asked = bot.cube(drop.before)
    assert (asked, asked.market_losers) == (drop.cube, double.cube.market_losers)
