"""The command line as a person meets it: every help text, and one sentence for everything that goes wrong."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import bgai
from bgai.cli import COMMANDS
from bgai.evaluation.checkpoint import load_checkpoint, save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.network import Network
from bgai.referees import RandomBot

SMALL = """
[run]
games = 40
batch_games = 20
first_batch_games = 20
[network]
hidden = [8]
[report]
strength_games = 0
final_games = 0
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Commands run in an empty folder, and saved games stay in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BGAI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")


def save_random_bot(path: Path, card: dict) -> Path:
    inputs = encoding("men196")
    rng = np.random.default_rng(0)
    layers = tuple(
        (rng.normal(0, 0.1, (m, n)).astype(np.float32), np.zeros(m, dtype=np.float32))
        for n, m in ((inputs.width, 20), (20, 6))
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, Network(inputs, layers), card)
    return path


@pytest.fixture
def bot_file(tmp_path) -> str:
    """A bot with random weights."""
    return str(save_random_bot(tmp_path / "wild.safetensors", {"name": "wild"}))


def run_python(*words: str, **more: str) -> subprocess.CompletedProcess:
    """A fresh Python with this environment and `more`."""
    environment = {**os.environ, **more}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, timeout=120)


# Help


def test_help_names_every_command(say):
    code, out, err = say("--help")
    assert (code, err) == (0, "")
    for name, (_, _, summary) in COMMANDS.items():
        assert name in out and summary in out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("play", ["--level", "--bot", "--seed", "--ascii", "normal"]),
        ("train", ["CONFIG", "--run", "--resume", "--set", "--quiet", "quick", "Example: bgai train"]),
        ("arena", ["BOT", "--games", "--seed", "--json", "--sprt", "gnubg:PLIES", "Example: bgai arena"]),
        ("bearoff", ["ID", "--build", "--info", "--men", "BGAI_BEAROFF=off", "Example: bgai bearoff"]),
        ("analyze", ["ID|FILE", "--bot", "--depth", "--all", "--json", "--html", "Example: bgai analyze"]),
        ("rollout", ["ID", "--dice", "--games", "--bot", "--seed", "--truncate", "--json"]),
        ("character", ["BOT", "--games", "--seed", "--json", "Example: bgai character"]),
        ("convert", ["TEXT", "--to", "xgid", "sgf", "--out", "Examples: bgai convert"]),
        ("show", ["ID", "--svg", "--png", "--ascii", "Example: bgai show"]),
        ("serve", ["--host", "--port", "127.0.0.1", "8080", "Example: bgai serve"]),
        ("external", ["--host", "--port", "--bot", "--no-jacoby", "127.0.0.1", "Example: bgai external"]),
        ("ubgi", ["--bot", "UBGI", "Example: bgai ubgi"]),
        ("plot", ["RUN", "--out", ".svg or .png", "Example: bgai plot"]),
        ("export", ["BOT", "--to", "--out", "onnx", "js", "Examples: bgai export"]),
        ("site", ["DIR", "Example: bgai site"]),
        ("info", ["BOT"]),
        ("bench", ["SECTION", "--rounds", "--json"]),
        ("warm", ["jit cache"]),
    ],
)
def test_help_of_a_command_names_its_options(say, command, words):
    code, out, err = say(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: bgai {command}")
    assert [word for word in words if word not in out] == []
    assert max(map(len, out.splitlines())) <= 80


def test_every_command_is_tried_here():
    assert set(COMMANDS) == {
        "play",
        "train",
        "arena",
        "rate",
        "rollout",
        "character",
        "analyze",
        "bearoff",
        "convert",
        "show",
        "external",
        "ubgi",
        "serve",
        "plot",
        "export",
        "site",
        "info",
        "bench",
        "warm",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_the_summary_in_bgai_help_is_the_commands_own(say, command):
    # `bgai --help` knows the summaries without importing the commands; after naming one, its own stands there.
    assert say(command, "--help")[0] == 0
    code, out, _ = say("--help", command)
    assert code == 0 and COMMANDS[command][2] in out


def test_no_command_shows_the_help(say):
    code, out, _ = say()
    assert code == 2 and out.startswith("usage: bgai")


def test_version(say):
    code, out, _ = say("--version")
    assert code == 0 and out.startswith("bgai ") and out.strip()[-1].isdigit()


@pytest.mark.parametrize("command", ["show", "convert", "analyze"])
def test_an_xgid_may_come_without_its_name(say, command):
    """It begins as an option does when nobody is on the bar."""
    bare = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:5:10"
    code, out, _ = say(command, bare)
    assert code == 0 and say(command, f"XGID={bare}")[1] == out


# Mistakes


def is_one_sentence(err: str, command: str) -> bool:
    """One line that begins with the command; argparse puts the usage before it."""
    lines = err.splitlines()
    start = f"bgai {command}: " if command else "bgai: "
    return (
        "Traceback" not in err and lines[-1].startswith(start) and (len(lines) == 1 or lines[0].startswith("usage:"))
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("paly", "there is no command 'paly'; did you mean play?"),
        ("xyzzy", "there is no command 'xyzzy'; bgai --help lists the commands"),
        ("--loud", "unrecognized arguments: --loud"),
        ("arena random", "at least two bots"),
        ("arena random random --games 3", "must be even and at least 2, not 3"),
        ("arena random random --games many", "invalid int value: 'many'"),
        ("serve --port 70000", "must be a port from 0 to 65535"),
        ("serve --host no.such.host.invalid", "there is no address 'no.such.host.invalid' here"),
        ("arena random stong", "there is no bot 'stong': give beginner, normal, strong"),
        ("arena random gnubg", "gnubg needs its plies"),
        ("arena random missing.safetensors", "there is no bot file missing.safetensors"),
        ("arena random text.safetensors", "text.safetensors is damaged or no bot file"),
        ("arena random empty", "the folder empty is no training run"),
        ("arena random random --json no/where/x.json", "there is no folder"),
        ("arena random random --json empty", "is a folder; it must be a file"),
        ("rate random --json no/where/x.json", "--json no/where/x.json: there is no folder"),
        ("rollout 4HPwATDgc/ABMA --json empty", "--json empty is a folder; it must be a file"),
        ("character random --json no/x.json", "--json no/x.json: there is no folder"),
        ("analyze 4HPwATDgc/ABMA --json no/x.json", "--json no/x.json: there is no folder"),
        ("analyze 4HPwATDgc/ABMA --html empty", "--html empty is a folder; it must be a file"),
        ("arena", "required: BOT"),
        ("arena random ubgi:", "ubgi: needs the command that starts the engine"),
        ("arena random python:math", "python:math: write python:MODULE:FUNCTION"),
        ("external --port 99999", "--port must be from 0 to 65535, not 99999"),
        ("external --bot stong", "there is no bot 'stong'"),
        ("ubgi --bot stong", "there is no bot 'stong'"),
        ("info", "required: BOT"),
        ("info stong", "there is no bot 'stong'"),
        ("info missing.safetensors", "there is no bot file missing.safetensors"),
        ("info text.safetensors", "text.safetensors is damaged or no bot file"),
        ("export", "required: BOT, --to"),
        ("export run", "required: --to"),
        ("site", "required: DIR"),
        ("export nowhere --to shelf", "there are no bots in nowhere/bots"),
        ("export empty --to shelf", "a run leaves its strong bot there when it is finished"),
        ("play --level hard", "invalid choice: 'hard'"),
        ("play --bot stong", "there is no bot 'stong'"),
        ("play --bot text.safetensors", "text.safetensors is damaged or no bot file"),
        ("play --seed x", "must be a whole number"),
        ("bench speed", "speed"),
        ("bench --rounds 0", "0"),
        ("train", "required: CONFIG"),
        ("train quik", "there is no config 'quik': give a TOML file or one of"),
        ("train empty", "there is no config 'empty'"),
        ("train text.safetensors", "text.safetensors is not valid TOML"),
        ("train binary.toml", "binary.toml is not UTF-8 text"),
        ("train small.toml --set run.gmaes=3", "run.gmaes is unknown; did you mean 'games'?"),
        ("train small.toml --set nun.games=3", "there is no section [nun]; did you mean 'run'?"),
        ("train small.toml --set run.games=many", "run.games should be a whole number, not 'many'"),
        ("train small.toml --set run.games=0", "--set run.games=0: run.games should be from 1 to"),
        ("train small.toml --set games=3", "--set wants section.key=value, not 'games=3'"),
        ("train small.toml --set network.encoding='men169'", "network.encoding 'men169' is unknown; did you mean"),
        ("train small.toml --run begun", "begun holds a run already: --resume goes on with it"),
        ("train small.toml --run begun --resume --set run.seed=7", "run.seed is 1 there, 7 here"),
        ("train small.toml --run full", "full is not empty and holds no run"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(say, tmp_path, line, sentence):
    from train.config import from_toml
    from train.folder import RunFolder

    (tmp_path / "text.safetensors").write_text("this is no bot")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("something else")
    RunFolder(tmp_path / "begun").begin(from_toml(SMALL))
    before = sorted(tmp_path.rglob("*"))
    code, out, err = say(*line.split())
    assert code == 2 and out == ""
    command = line.split()[0] if line.split()[0] in COMMANDS else ""
    assert is_one_sentence(err, command) and sentence in err
    assert sorted(tmp_path.rglob("*")) == before  # and nothing is left behind


@pytest.mark.skipif(os.name != "posix", reason="/dev/full is a file of Linux")
def test_errors_of_the_system_name_the_file(say, tmp_path, bot_file):
    save_random_bot(tmp_path / "run" / "bots" / "strong.safetensors", {})
    (tmp_path / "file").write_text("")
    code, _, err = say("export", "run", "--to", "file/folder")
    assert code == 2 and is_one_sentence(err, "export") and "file" in err and "Errno" not in err
    code, _, err = say("arena", bot_file, "random", "--games", "2", "--json", "/dev/full/x")
    assert code == 2 and is_one_sentence(err, "arena")


@pytest.mark.parametrize(
    ("package", "line", "sentence"),
    [
        ("torch", "train small.toml", "this command needs the package torch: pip install torch tensorboard"),
        ("tensorboard", "train small.toml", "needs the package tensorboard: pip install torch tensorboard"),
        ("gnubg_nn", "arena gnubg:0 random", 'gnubg:0 needs the extra "referees": pip install gnubg-nn bgsage'),
        ("gnubg_nn", "info pubeval", 'pubeval needs the extra "referees": pip install gnubg-nn bgsage'),
        ("starlette", "serve", "this command needs the package starlette: pip install starlette uvicorn"),
        ("uvicorn", "serve", "this command needs the package uvicorn: pip install starlette uvicorn"),
        ("bgsage", "play --bot bgsage:1", 'bgsage:1 needs the extra "referees": pip install gnubg-nn bgsage'),
    ],
)
def test_a_missing_package_says_how_to_install_it(tmp_path, package, line, sentence):
    (tmp_path / "small.toml").write_text(SMALL)
    code = f"import sys; sys.modules[{package!r}] = None; from bgai.cli import main; sys.exit(main({line.split()}))"
    done = run_python("-c", code)
    assert done.returncode == 2
    assert is_one_sentence(done.stderr, line.split()[0]) and sentence in done.stderr
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_is_one_word(say, monkeypatch):
    def interrupted(text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bgai.bots.open_bot", interrupted)
    assert say("info", "random") == (130, "", "interrupted\n")


INTERRUPTED_AT = """
import os, runpy, signal, sys
class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, CtrlC())
sys.argv = ["bgai", "play", "--bot", "random"]
runpy.run_module("bgai", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "module", ["bgai.cli", "argparse", "numpy", "numba", "bgai.rules", "bgai.bots", "bgai.frontends.terminal"]
)
def test_ctrl_c_while_modules_are_imported_is_one_word(module):
    done = run_python("-c", INTERRUPTED_AT.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize(("at_a_terminal", "lines"), [(True, 1), (False, 0)])
def test_compiling_is_told_once_and_to_a_person_only(say, monkeypatch, at_a_terminal, lines):
    def opened(text):
        for _ in range(2):
            njit(lambda number: number + 1)(1)
        return RandomBot()

    monkeypatch.setattr("bgai.bots.open_bot", opened)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: at_a_terminal)
    code, out, err = say("info", "random")
    assert code == 0 and out.startswith("random: ")
    assert err.count("\n") == err.count("bgai compiles itself, once after it was installed or changed") == lines


# Commands that work


def test_info_prints_the_card(say, tmp_path):
    score = {"points_per_game": -0.25, "interval": 0.0314, "games": 4000}
    card = {
        "name": "wild",
        "games": 12,
        "strength": {"pubeval": score, "luck": "none"},
        "config": "[run]\nseed = 1\n",
    }
    file = save_random_bot(tmp_path / "wild.safetensors", card)
    code, out, err = say("info", str(file))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        str(file),
        "network: men196 inputs, hidden [20]",
        "looks ahead: 1 ply (gnubg would say 0)",
        "pure bearoffs: by the network",
        "its card says:",
        "  games: 12",
        "  name: wild",
        "  strength against luck: none",
        "  strength against pubeval: -0.250 ± 0.031 points per game over 4,000 games",
        "  config:",
        "    [run]",
        "    seed = 1",
    ]
    code, out, _ = say("info", "random")
    assert code == 0 and out.startswith("random: ")


def test_info_shows_a_strangers_card_without_doing_what_it_says(say, tmp_path):
    score = {"points_per_game": 10**400, "interval": 1.0, "games": 3}
    card = {
        "\x1b[2J": "\x07",
        "name": "a\nlooks ahead: 3 plies",
        "strength": {"x": score},
        "config": "\x1b[2J",
    }
    code, out, err = say("info", str(save_random_bot(tmp_path / "wild.safetensors", card)))
    assert (code, err) == (0, "") and "\x1b" not in out and "\x07" not in out
    assert "  name: a?looks ahead: 3 plies" in out.splitlines() and "  ?[2J: ?" in out.splitlines()
    assert "  strength against x: {'" in out


def test_arena_plays_a_file(say, bot_file):
    code, out, _ = say("arena", bot_file, "random", "--games", "20")
    assert code == 0 and "wild - random" in out and "±" in out


def test_export_copies_the_bots_of_a_finished_run(say, tmp_path):
    levels = ("beginner", "normal", "strong")
    for level in levels[:2]:
        save_random_bot(tmp_path / "run" / "bots" / f"{level}.safetensors", {"name": level})
    code, _, err = say("export", "run", "--to", "shelf")
    assert code == 2 and is_one_sentence(err, "export") and "there is no strong bot in run/bots" in err
    assert not (tmp_path / "shelf").exists()
    save_random_bot(tmp_path / "run" / "bots" / "strong.safetensors", {"name": "strong"})
    code, out, err = say("export", "run", "--to", "shelf")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"wrote shelf/{level}.safetensors" for level in levels]
    for level in levels:
        assert load_checkpoint(tmp_path / "shelf" / f"{level}.safetensors").card == {"name": level}


def test_play_with_nobody_at_the_keyboard_saves_and_leaves(say, monkeypatch, tmp_path, bot_file):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, out, err = say("play", "--bot", bot_file, "--seed", "5")
    assert (code, err) == (0, "")
    assert "wild" in out and out.endswith("Your game is saved; `bgai play` continues it.\n")
    assert (tmp_path / "home" / "game.json").exists()


def test_train_leaves_a_measured_bot_and_a_finished_run_is_left_alone(say, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    words = ["train", "small.toml", "--quiet", "--set", "report.final_games=20"]
    code, out, err = say(*words, "--set", 'report.final_opponents=["random", "no such bot"]')
    assert code == 2 and is_one_sentence(err, "train") and "there is no bot 'no such bot'" in err
    assert not Path("runs").exists()

    words += ["--set", 'report.final_opponents=["random"]']
    code, out, err = say(*words)
    assert code == 0 and err == ""
    assert "strong - random" in out
    bot = Path("runs", "small", "bots", "strong.safetensors")
    assert out.endswith(f"Play one: bgai play --bot {bot}\n")
    assert bgai.load(bot).card["games"] == 40
    assert bgai.load(bot).card["strength"]["random"]["games"] == 20
    assert bgai.load("runs/small").name == "runs/small"

    before = {path: path.stat().st_mtime_ns for path in Path("runs").rglob("*")}
    code, out, err = say(*words)
    assert code == 2 and is_one_sentence(err, "train") and "--resume goes on with it" in err
    code, out, err = say(*words, "--resume")
    assert (code, err) == (0, "") and "is finished" in out and "strong - random" in out
    assert {path: path.stat().st_mtime_ns for path in Path("runs").rglob("*")} == before


def test_a_stopped_run_says_how_to_go_on_and_does(say, tmp_path, monkeypatch):
    import train.loop

    (tmp_path / "small.toml").write_text(SMALL)
    words = ["train", "small.toml", "--quiet", "--set", "network.hidden=[7, 5]"]
    with monkeypatch.context() as patch:
        patch.setattr(train.loop, "train", lambda *given, **options: False)
        code, out, _ = say(*words)
    assert code == 130
    go_on = out.splitlines()[-1].removeprefix("stopped; go on with: ")
    program, *again = shlex.split(go_on)
    assert program == "bgai"
    code, out, err = say(*again, "--quiet")
    assert (code, err) == (0, "")
    assert bgai.load("runs/small").network.hidden == (7, 5)


def test_the_same_from_the_shell(bot_file):
    done = run_python("-m", "bgai", "info", "nobody")
    assert done.returncode == 2 and is_one_sentence(done.stderr, "info")
    script = Path(sys.executable).parent / "bgai"
    done = subprocess.run([script, "info", bot_file], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and "name: wild" in done.stdout
    done = run_python("-m", "train", "nothing")
    assert done.returncode == 2 and is_one_sentence(done.stderr, "train")


@pytest.mark.skipif(os.name != "posix", reason="pipes close otherwise elsewhere")
def test_a_reader_that_leaves_causes_no_noise(bot_file):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "bgai", "info", bot_file], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_warm_prepares_the_shipped_bots(say):
    code, out, err = say("warm")
    assert (code, err) == (0, "") and out.startswith("ready after ")
