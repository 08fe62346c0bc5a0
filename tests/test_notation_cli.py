"""`bgai convert` and `bgai show` as a person meets them."""

import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from bgai.frontends.svg import draw_svg
from bgai.notation.ids import format_id, parse_id
from bgai.notation.matchfiles import read_file
from bgai.rules.match import Match
from bgai.rules.position import Position

MATCHES = Path(__file__).parent / "data" / "matches"
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:53:1:2:1:3:10"
GNUBG = "4HPwATDgc/ABMA:8IluACAACAAE"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# convert


def test_an_identifier_in_another_form(say):
    assert say("convert", XGID, "--to", "gnubg") == (0, GNUBG + "\n", "")
    assert say("convert", GNUBG, "--to", "xgid") == (0, XGID + "\n", "")
    _, fibs, _ = say("convert", XGID, "--to", "fibs")
    assert say("convert", fibs.strip(), "--to", "gnubg") == (0, GNUBG + "\n", "")
    _, plain, _ = say("convert", XGID, "--to", "dict")
    assert say("convert", plain.strip(), "--to", "xgid") == (0, XGID + "\n", "")


def test_without_a_form_all_are_printed(say):
    code, out, _ = say("convert", "4HPwATDgc/ABMA:QkEXAAAAAAAA")
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in out.splitlines()}
    assert code == 0 and list(lines) == ["xgid", "gnubg", "fibs", "dict"]
    assert lines["xgid"] == "(an XGID cannot express an offered resignation)"
    assert lines["gnubg"] == "4HPwATDgc/ABMA:QkEXAAAAAAAA"


def test_match_files_from_one_format_to_the_other(say, tmp_path):
    source = MATCHES / "backgammongalaxy-1pt-4.mat"
    assert say("convert", str(source), "--to", "sgf", "-o", "a.sgf") == (
        0,
        "a.sgf: 1 game, PlayerA 1, PlayerB 0\n",
        "",
    )
    assert say("convert", "a.sgf", "-o", "b.mat")[0] == 0  # the ending says the form
    assert read_file("b.mat") == read_file("a.sgf") == read_file(source)
    code, out, _ = say("convert", "a.sgf", "--to", "mat")
    assert code == 0 and out == Path("b.mat").read_text()
    assert say("convert", "a.sgf", "--to", "mat", "-o", "c.txt")[0] == 0  # an ending that says nothing
    assert read_file("c.txt") == read_file(source)


@pytest.mark.parametrize("encoding", ["ascii", "gb18030", "latin-1"])
def test_the_screen_gets_the_bytes_of_the_file(encoding, tmp_path):
    """Whatever the terminal speaks: the SGF says CA[UTF-8], and a name is not to become question marks."""
    source = (MATCHES / "backgammongalaxy-1pt-4.mat").read_text().replace("PlayerA", "张伟é")
    (tmp_path / "m.mat").write_text(source, encoding="utf-8")
    words = [sys.executable, "-m", "bgai", "convert", "m.mat", "--to", "sgf"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(words, env=environment, capture_output=True, check=True)
    assert "PW[张伟é]" in done.stdout.decode("utf-8")


def test_an_output_never_replaces_what_is_read(say, tmp_path):
    text = (MATCHES / "backgammongalaxy-1pt-4.mat").read_bytes()
    Path("m.mat").write_bytes(text)
    Path("link.sgf").symlink_to("m.mat")
    Path("hard.sgf").hardlink_to("m.mat")
    for words in (
        ["convert", "m.mat", "--to", "sgf", "-o", "m.mat"],
        ["convert", "m.mat", "-o", "link.sgf"],
        ["convert", "m.mat", "-o", "hard.sgf"],
        ["convert", "link.sgf", "--to", "sgf", "-o", str(tmp_path / "m.mat")],
        ["analyze", "m.mat", "--json", "m.mat"],
        ["analyze", "m.mat", "--html", "./link.sgf"],
    ):
        code, out, err = say(*words)
        assert (code, out) == (2, "") and "would replace the file that is read" in err and err.count("\n") == 1
        assert Path("m.mat").read_bytes() == text
    for words in (
        ["analyze", "m.mat", "--json", "z", "--html", "z"],
        ["analyze", "m.mat", "--json", "z", "--html", str(tmp_path / "z")],
        ["show", XGID, "--svg", "z", "--png", "z"],
    ):
        code, out, err = say(*words)
        assert (code, out) == (2, "") and "are the same file" in err and not Path("z").exists()


def test_a_write_protected_file_is_not_replaced(say, monkeypatch):
    Path("m.mat").write_bytes((MATCHES / "backgammongalaxy-1pt-4.mat").read_bytes())
    for name in ("kept.sgf", "kept.json"):
        Path(name).write_text("dear to somebody")
        Path(name).chmod(0o444)
    # Root may write everywhere; he, too, is asked as anybody else.
    monkeypatch.setattr("bgai.files.os.access", lambda path, mode: bool(os.stat(path).st_mode & 0o222))
    for words in (
        ["convert", "m.mat", "-o", "kept.sgf"],
        ["analyze", "m.mat", "--json", "kept.json"],
        ["show", XGID, "--svg", "kept.sgf"],
    ):
        code, _, err = say(*words)
        assert code == 2 and "write-protected" in err
    assert Path("kept.sgf").read_text() == Path("kept.json").read_text() == "dear to somebody"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["hello"], "'hello' is no identifier known here"),
        ([XGID, "--to", "mat"], "--to mat is for match files"),
        ([XGID, "-o", "x"], "-o is for match files"),
        (["4HPwATDgc/ABMA:QkEXAAAAAAAA", "--to", "xgid"], "an XGID cannot express an offered resignation"),
        (["missing.mat", "--to", "sgf"], "missing.mat: No such file or directory"),
        (["bad.mat", "--to", "sgf"], "bad.mat: line 1: expected players and score"),
        (["bad.mat", "--to", "xgid"], "bad.mat is a match file; give --to mat or --to sgf"),
        (["bad.mat"], "bad.mat is a match file; give --to mat or --to sgf"),
        (["binary.sgf", "--to", "mat"], "binary.sgf: the file is not text"),
        (["empty.sgf", "--to", "mat"], "empty.sgf: the file is empty"),
        ([".mat", "--to", "sgf"], ".mat: Is a directory"),
        (["bad.mat", "-o", "missing/folder/x.sgf"], "-o missing/folder/x.sgf: there is no folder"),
        (["bad.mat", "--to", "sgf", "-o", "x.mat"], "-o x.mat ends as a .mat file, and --to says sgf"),
        ([XGID, "--to", "yaml"], "invalid choice: 'yaml'"),
    ],
)
def test_a_wrong_conversion_is_told_in_one_sentence(say, tmp_path, words, sentence):
    (tmp_path / "bad.mat").write_text("hello\n")
    (tmp_path / "binary.sgf").write_bytes(b"\0\1\2")
    (tmp_path / "empty.sgf").write_text("")
    (tmp_path / ".mat").mkdir()
    code, out, err = say("convert", *words)
    assert code == 2 and out == "" and sentence in err and "Traceback" not in err
    assert err.splitlines()[-1].startswith("bgai convert: ")


# show


def test_the_board_in_the_terminal(say):
    code, out, _ = say("show", XGID, "--ascii")
    assert code == 0
    assert "X player 1" in out and "O player 0" in out and "pips 167" in out
    assert out.splitlines()[-2:] == [
        "3-point match, Crawford game; player 0: 2, player 1: 1; no cube",
        "player 1 to play 5-3",
    ]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (Match(), "both throw a die to begin"),
        (Match(decision="roll"), "player 0 to roll or double"),
        (Match(decision="roll", cube=2, cube_owner=0), "player 0 to roll or redouble"),
        (Match(length=1, decision="roll", turn=1), "player 1 to roll"),
        (Match(decision="roll", cube=2, cube_owner=0).double(), "player 0 redoubles to 4, player 1 to answer"),
        (Match(decision="roll").double(), "player 0 doubles to 2, player 1 to answer"),
        (Match(decision="roll", turn=1).resign(2), "player 1 resigns a gammon, player 0 to answer"),
        (Match(decision="roll", turn=1).double().drop(), "player 1 has won 1 point"),
    ],
)
def test_what_is_due_stands_in_the_diagram(match, words):
    root = ET.fromstring(draw_svg(match))
    assert words in [text.text for text in root.iter(SVG + "text")]


def test_a_bad_identifier_is_told_in_one_sentence(say):
    code, out, err = say("show", XGID[:-3])
    assert (code, out) == (2, "") and err == "bgai show: an XGID has 10 fields with colons between, this one has 9\n"
    code, _, err = say("show", XGID, "--svg", "no/where.svg")
    folder = Path("no").resolve()
    assert code == 2 and err == f"bgai show: --svg no/where.svg: there is no folder {folder}\n"


def test_the_diagram_shows_men_counts_dice_and_cube(say):
    # 7 men on point 1, 6 of the opponent's on his point 2, one man of each on the bar, the rest off.
    men = [0] * 26
    men[1], men[25], men[0], men[23] = 7, 1, -1, -6
    table = Match(
        position=Position(men), length=7, score=(3, 4), turn=1, decision="play", dice=(6, 3), cube=4, cube_owner=0
    )
    assert say("show", format_id(table, "dict"), "--svg", "board.svg")[0] == 0
    text = Path("board.svg").read_text()
    assert text == draw_svg(table)
    root = ET.fromstring(text)
    words = [element.text for element in root.iter(SVG + "text")]
    # Points 1 to 24; the counts of the two high stacks; the cube; scores and pips of both.
    assert [str(n) for n in range(1, 25)] == sorted({w for w in words if w and w.isdigit()}, key=int)
    assert words.count("7") == 2 and words.count("6") == 2 and words.count("4") == 2
    assert {"player 0: 3", "player 1: 4", "pips 32", "pips 37", "player 1 to play 6-3"} <= set(words)
    men_drawn = [circle.get("class") for circle in root.iter(SVG + "circle") if circle.get("class")]
    assert men_drawn.count("light") == 5 + 1 and men_drawn.count("dark") == 5 + 1
    lying = [rect.get("class") for rect in root.iter(SVG + "rect") if rect.get("height") == "11"]
    assert lying.count("light") == 7 and lying.count("dark") == 8
    spots = [circle for circle in root.iter(SVG + "circle") if circle.get("r") == "4"]
    assert len(spots) == 6 + 3


def test_everything_drawn_lies_inside_the_diagram():
    for identifier in (XGID, "QYkqASAAIAAA", "XGID=bFC--------------a-----hB-:0:0:1:D:3:1:0:7:10"):
        root = ET.fromstring(draw_svg(parse_id(identifier)))
        width, height = (float(root.get(name, "0")) for name in ("width", "height"))
        for element in root.iter():
            x, y = element.get("x", element.get("cx")), element.get("y", element.get("cy"))
            if x is not None and y is not None:
                assert 0 <= float(x) <= width and 0 <= float(y) <= height
        for polygon in root.iter(SVG + "polygon"):
            numbers = [float(n) for n in re.split("[ ,]", polygon.get("points", ""))]
            assert 0 <= min(numbers) and max(numbers) <= width


@pytest.mark.skipif(importlib.util.find_spec("cairosvg") is not None, reason="cairosvg is installed here")
def test_png_without_cairosvg_says_what_to_install(say):
    code, out, err = say("show", XGID, "--png", "board.png")
    assert (code, out) == (2, "") and not Path("board.png").exists()
    assert err == "bgai show: --png needs the package cairosvg and the cairo library: pip install cairosvg\n"


def test_png_with_cairosvg(say):
    pytest.importorskip("cairosvg", reason="needs the extra png: pip install cairosvg")
    assert say("show", XGID, "--png", "board.png")[0] == 0
    assert Path("board.png").read_bytes().startswith(b"\x89PNG")
