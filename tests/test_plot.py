"""`bgai plot`: what it reads from a run, the same bytes for the same run, and a sentence when there is no curve."""

import json
import math
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bgai.cli import main
from train.plot import picture, read_curves

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def strength(games: int, **scores: float) -> dict:
    numbers = {name: {"points_per_game": points, "interval": 0.05, "games": 1000} for name, points in scores.items()}
    return {"games": games, "seconds": games / 100, "strength": numbers}


def learning(games: int) -> dict:
    rates = {"loss": 0.04, "games_per_second": 1500.0, "gammon_rate": 0.3}
    return {"games": games, "seconds": games / 100, **rates}


LINES = [
    strength(0, random=0.0, pubeval=-2.3),
    learning(600),
    strength(1_200, random=2.5, pubeval=-0.5),
    learning(6_000),
    strength(6_000, random=2.7, pubeval=0.5),
]


def write_run(path: str, lines: list[dict]) -> Path:
    Path(path).mkdir(parents=True)
    Path(path, "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Path(path)


def test_the_curves_of_a_run():
    name, curves, small = read_curves(write_run("run", LINES), "mine")
    assert name == "mine" and list(curves) == ["random", "pubeval"]
    assert curves["pubeval"].games == [0, 1_200, 6_000]
    assert curves["pubeval"].minutes == pytest.approx([0, 0.2, 1])
    assert curves["pubeval"].points == [-2.3, -0.5, 0.5]
    assert curves["random"].intervals == [0.05] * 3
    assert small["games_per_second"] == ([600, 6_000], [1500.0, 1500.0])


def test_scores_less_luck_are_a_curve_of_their_own():
    less = [{**strength(games, pubeval=0.6), "luckless": True} for games in (9_000, 12_000)]
    _, curves, _ = read_curves(write_run("run", [*LINES, *less]), "mine")
    assert list(curves) == ["random", "pubeval", "pubeval, less luck"]
    assert curves["pubeval"].games == [0, 1_200, 6_000] and curves["pubeval, less luck"].games == [9_000, 12_000]


def test_names_that_no_picture_can_hold():
    lines = [strength(games, **{"a\ud800b\x01": 0.5}) for games in (0, 1_000)]
    curves = read_curves(write_run("run", lines), "mine")
    assert list(curves.strength) == ["a?b?"]
    ElementTree.fromstring(picture([curves], ".svg"))


def test_a_score_without_an_interval_and_a_line_cut_short_do_no_harm():
    run = write_run("run", LINES)
    with open(run / "metrics.jsonl", "a") as file:
        wide = strength(9_000, pubeval=0.6)
        wide["strength"]["pubeval"]["interval"] = math.inf
        file.write(json.dumps(wide) + '\n{"games": 12000, "stren')
    _, curves, _ = curves_read = read_curves(run, "run")
    assert curves["pubeval"].games[-1] == 9_000 and math.isnan(curves["pubeval"].intervals[-1])
    ElementTree.fromstring(picture([curves_read], ".svg"))


def test_lines_that_bgai_never_wrote_are_left_out():
    run = write_run("run", [*LINES, {**LINES[-1], "games": 10**400}])
    with open(run / "metrics.jsonl", "a") as file:
        file.write("[" * 100_000 + "\n")
    assert read_curves(run, "run") == read_curves(write_run("whole", LINES), "run")


def test_svg_and_png_are_written_and_always_the_same(capsys):
    write_run("runs/one", LINES)
    write_run("runs/two", LINES[:1] + LINES[2:3])  # no line of learning yet
    for words, out in ((["runs/one"], "a.svg"), (["runs/one", "runs/two"], "b.SVG"), (["runs/two"], "c.png")):
        assert main(["plot", *words, "--out", out]) == 0
        assert capsys.readouterr() == (f"wrote {out}\n", "")
        first = Path(out).read_bytes()
        assert main(["plot", *words, "--out", out]) == 0
        assert Path(out).read_bytes() == first
        capsys.readouterr()
    # matplotlib draws letters as shapes and notes in comments what they say.
    one, two = Path("a.svg").read_text(), Path("b.SVG").read_text()
    ElementTree.fromstring(one)
    assert all(f"<!-- {text} -->" in one for text in ("against pubeval", "points per game", "minutes", "loss"))
    assert "date" not in one.lower()
    assert "<!-- one against random -->" in two and "<!-- two against pubeval -->" in two
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")


def test_runs_of_one_name_are_told_apart():
    write_run("a/run", LINES)
    write_run("b/run", LINES)
    assert main(["plot", "a/run", "b/run"]) == 0
    assert "<!-- b/run against random -->" in Path("curves.svg").read_text()


def test_within_a_decade_the_axis_is_not_logarithmic():
    def drawn(path: str, *lines: dict) -> str:
        return picture([read_curves(write_run(path, list(lines)), "run")], ".svg").decode()

    short = drawn("short", LINES[0], learning(20_000), learning(60_000), strength(60_000, random=1.0))
    assert r"\times" not in short and "10^{" not in short and "<!-- 40000 -->" in short
    assert "10^{" in drawn("long", *LINES)


def test_a_single_line_of_learning_is_seen():
    [lonely] = [read_curves(write_run("run", [LINES[0], learning(600), LINES[2]]), "run")]
    assert "fill: #333333" in picture([lonely], ".svg").decode()


def test_dollars_in_a_name_are_no_formula():
    write_run("a$b_^$", LINES)
    write_run("$x", LINES)
    for words in (["a$b_^$"], ["a$b_^$", "$x"]):
        assert main(["plot", *words]) == 0
    assert "<!-- a$b_^$ against random -->" in Path("curves.svg").read_text()


def test_letters_without_a_font_are_told_in_one_sentence(capsys, monkeypatch):
    monkeypatch.setattr("train.plot.MORE_FONTS", ("Noto Sans CJK SC, which is nowhere",))
    write_run("快速的", LINES)
    assert main(["plot", "快速的"]) == 0
    out, err = capsys.readouterr()
    assert out == "wrote curves.svg\n" and len(err.splitlines()) == 1
    assert "no installed font has all letters of the names" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nowhere", "nowhere holds no run with metrics: there is no such folder"),
        ("bare", "bare holds no run with metrics: its metrics.jsonl is missing"),
        ("empty", "empty has no measurement of strength yet, and a curve needs two"),
        ("short", "short has only one measurement of strength yet, and a curve needs two"),
        ("run short", "short has only one measurement"),
        ("mixed", "mixed has only one plain measurement and one less luck of strength yet"),
        ("endless", "endless/metrics.jsonl is not as bgai writes it"),
        ("strange", "strange/metrics.jsonl is not as bgai writes it"),
        ("run --out curve.gif", "curve.gif should end in .svg or .png"),
        ("run --out curve", "curve should end in .svg or .png"),
        ("run --out no/where.svg", "there is no folder no to write where.svg to"),
        ("run --out bare.svg", "bare.svg is a folder"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(capsys, words, sentence):
    Path("bare").mkdir()
    Path("bare.svg").mkdir()
    write_run("empty", [])
    write_run("run", LINES)
    write_run("short", LINES[:2])
    write_run("mixed", [LINES[0], {**strength(9_000, pubeval=0.6), "luckless": True}])
    write_run("endless", [*LINES, {**learning(9_000), "loss": 10**400}])
    write_run("strange", [{"games": 3, "strength": {"random": 2.5}}])
    before = sorted(Path().rglob("*"))
    assert main(["plot", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("bgai plot: ") and sentence in err and len(err.splitlines()) == 1
    assert sorted(Path().rglob("*")) == before


def test_without_matplotlib_the_extra_is_named(capsys, monkeypatch):
    write_run("run", LINES)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot", "run"]) == 2
    sentence = "bgai plot: this command needs the package matplotlib: pip install matplotlib\n"
    assert capsys.readouterr() == ("", sentence)
    assert not Path("curves.svg").exists()
