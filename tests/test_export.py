"""`bgai export` to ONNX and JavaScript, and `bgai site`: what is written, what it is worth, what is refused."""

import json
import re
from importlib.util import find_spec

import numpy as np
import pytest

import bgai
from bgai.bots import LEVELS
from bgai.cli import main
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding, encoding_names
from bgai.evaluation.habits import Habits
from bgai.evaluation.network import Network
from bgai.rules.outcome import Outcomes
from bgai.rules.position import Position

needs_onnx = pytest.mark.skipif(
    find_spec("onnx") is None or find_spec("onnxruntime") is None, reason="needs pip install onnx onnxruntime"
)


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder -> (code, output, errors)."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def random_network(name: str, hidden: tuple[int, ...]) -> Network:
    rng = np.random.default_rng(3)
    made, layers = encoding(name), []
    width = made.width
    for number, units in enumerate((*hidden, 6)):
        layers.append(
            (rng.normal(0, 0.3, (units, width)).astype(np.float32), rng.normal(size=units).astype(np.float32))
        )
        width = units + (made.extras if number == 0 else 0)
    return Network(made, tuple(layers))


@pytest.fixture(scope="module")
def boards(game_positions, scattered_positions):
    """Positions of all kinds: both bars occupied, contact, races, bearing off."""
    found = np.concatenate([game_positions(2000, 41)[0], scattered_positions(2000, 42)[0]])
    my_rear = np.array([np.flatnonzero(board > 0).max(initial=0) for board in found])
    their_rear = np.array([np.flatnonzero(board < 0).min(initial=25) for board in found])
    assert ((found[:, 25] > 0) & (found[:, 0] < 0)).sum() > 100
    assert (my_rear < their_rear).sum() > 200 and ((my_rear <= 6) & (my_rear > their_rear)).sum() > 50
    return found


def by_onnx(model, inputs: np.ndarray) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [inside], [outside] = session.get_inputs(), session.get_outputs()
    assert (inside.name, outside.name) == ("encoded", "outcomes")
    return session.run(["outcomes"], {"encoded": inputs})[0]


@needs_onnx
def test_the_onnx_model_gives_the_engines_chances(say, boards, tmp_path):
    code, out, err = say("export", "strong", "--to", "onnx")
    assert (code, err) == (0, "") and "wrote strong.onnx (" in out and "wrote strong.onnx.json" in out
    network = bgai.load("strong").network
    told = by_onnx(tmp_path / "strong.onnx", network.encoding.encode(boards))
    np.testing.assert_allclose(told, network.outcomes_of(boards), atol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["strong.onnx", "strong.onnx.json"]


@needs_onnx
@pytest.mark.parametrize("name", encoding_names())
@pytest.mark.parametrize("hidden", [(9,), (30, 20, 10)])
def test_onnx_models_of_any_shape(say, boards, tmp_path, name, hidden):
    network = random_network(name, hidden)
    save_checkpoint(tmp_path / "wild.safetensors", network, {})
    assert say("export", "wild.safetensors", "--to", "onnx", "--out", "deep/wild.model")[0] == 0
    told = by_onnx(tmp_path / "deep" / "wild.model", network.encoding.encode(boards))
    np.testing.assert_allclose(told, network.outcomes_of(boards), atol=1e-5)


@needs_onnx
def test_the_description_says_all_that_one_needs(say, tmp_path):
    assert say("export", "strong", "--to", "onnx")[0] == 0
    told = json.loads((tmp_path / "strong.onnx.json").read_text())
    network = bgai.load("strong").network
    assert told["input"]["order"] == list(network.encoding.names)
    assert told["input"]["shape"] == ["boards", told["input"]["width"]]
    assert sum(told["input"]["parts"].values()) == told["input"]["width"] == len(told["input"]["order"])
    assert told["output"]["order"] == list(Outcomes._fields) and "player who is about to roll" in told["perspective"]
    assert told["golden"][0]["position"] == Position.start().id
    golden = told["golden"]
    inputs = np.array([each["encoded"] for each in golden], dtype=np.float32)
    np.testing.assert_array_equal(inputs, network.encoding.encode(np.array([g["board"] for g in golden], np.int8)))
    given = by_onnx(tmp_path / "strong.onnx", inputs)
    np.testing.assert_allclose(given, [each["outcomes"] for each in golden], atol=1e-5)
    assert [Position.from_id(each["position"]).men for each in golden] == [tuple(each["board"]) for each in golden]


@pytest.mark.parametrize("name", encoding_names())
def test_names_of_the_inputs_tell_what_they_count(name):
    made = encoding(name)
    assert len(made.names) == len(set(made.names)) == made.width + made.extras
    start = dict(zip(made.names, made.encode(Position.start().board[None])[0].tolist(), strict=True))
    assert start["roller's 6 point: 3 men or more"] == 1 and start["opponent's 24 point: 2 men or more"] == 1
    assert start["roller's 5 point: 1 men or more"] == 0
    turned = dict(
        zip(made.names, made.encode(Position.from_id("4HPwATDgc/ABMA").board[None])[0].tolist(), strict=True)
    )
    assert turned == start
    if made.extras:
        loud = "" if made.loudness == 1 else f"{made.loudness} x "
        told = [start[loud + name] for name in ("contact", "roller's pips / 167", "opponent's chance to hit")]
        assert told == [made.loudness, made.loudness, 0]


@needs_onnx
def test_a_level_with_habits_is_told_to_be_more_than_its_network(say, tmp_path):
    network, habits = random_network("men196", (9,)), Habits(margin=0.2, noise=0.1, seed=2**60)
    save_checkpoint(tmp_path / "weak.safetensors", network, {"habits": habits.as_card()})
    code, out, _ = say("export", "weak.safetensors", "--to", "onnx")
    assert code == 0 and "weak is a network with habits, and these are not in the network" in out
    told = json.loads((tmp_path / "weak.onnx.json").read_text())["not_in_the_model"]["habits"]
    assert told == {**habits.as_card(), "seed": str(2**60)}
    code, out, _ = say("export", "weak.safetensors", "--to", "js")
    assert code == 0 and "habits" not in out


def test_of_a_folder_the_strong_bot_is_written_and_that_is_said(say, tmp_path):
    (tmp_path / "run" / "bots").mkdir(parents=True)
    save_checkpoint(tmp_path / "run" / "bots" / "strong.safetensors", random_network("men196", (9,)), {})
    code, out, err = say("export", "run", "--to", "JS")
    assert (code, err) == (0, "") and "of which this is the strong bot" in out and "wrote run.bin" in out
    code, out, err = say("export", "run", "--to", "shelf")
    assert (code, out, err) == (0, "wrote shelf/strong.safetensors\nrun has no beginner and no normal\n", "")


def test_the_folder_one_stands_in_gives_its_name(say, tmp_path, monkeypatch):
    (tmp_path / "run" / "bots").mkdir(parents=True)
    save_checkpoint(tmp_path / "run" / "bots" / "strong.safetensors", random_network("men196", (9,)), {})
    monkeypatch.chdir(tmp_path / "run")
    code, out, err = say("export", ".", "--to", "js")
    assert (code, err) == (0, "") and "wrote run.bin" in out


def test_export_to_javascript_writes_the_module_too(say, tmp_path):
    code, out, err = say("export", "strong", "--to", "js", "--out", "bots/best.bin")
    assert (code, err) == (0, "") and "wrote bots/best.bin (" in out and "./bgai-js/bgai.js" in out
    assert (tmp_path / "bots" / "best.bin").read_bytes().startswith(b"bgai-js\n")
    module = (tmp_path / "bots" / "bgai-js" / "bgai.js").read_text()
    names = set(re.findall(r'from "\./([\w.]+)"', module))
    assert names and all((tmp_path / "bots" / "bgai-js" / name).is_file() for name in names)
    assert json.loads((tmp_path / "bots" / "bgai-js" / "package.json").read_text())["type"] == "module"
    assert say("export", "strong", "--to", "js", "--out", "bots/best.bin")[0] == 0  # once more, over its own


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("export strong@2 --to onnx", "write strong instead of strong@2"),
        ("export random --to onnx", "random has no network of bgai"),
        ("export gnubg:2 --to js", "gnubg:2 has no network of bgai"),
        ("export ubgi:nothing --to js", "ubgi:nothing has no network of bgai"),
        ("export stong --to js", "there is no bot 'stong'"),
        ("export strong --to onx", "strong is one bot, which --to onnx or --to js writes; a folder as in --to onx"),
        ("export missing.safetensors --to onnx", "there is no bot file missing.safetensors"),
        ("export run --to shelf --out file", "--out is the file of --to onnx or --to js"),
        ("site taken", "taken holds letter.txt that bgai site did not write there"),
        ("export strong --to js --out other/strong.bin", "other/bgai-js holds letter.txt"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(say, tmp_path, line, sentence):
    for folder in ("taken", "other/bgai-js"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "letter.txt").write_text("something else")
    code, out, err = say(*line.split())
    assert code == 2 and sentence in err and err.count("\n") == 1
    assert (tmp_path / "taken" / "letter.txt").read_text() == "something else"
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["letter.txt"]


def test_without_the_package_onnx_it_says_so(say, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    code, _, err = say("export", "strong", "--to", "onnx")
    assert code == 2 and err == "bgai export: this command needs the package onnx: pip install onnx\n"
    assert list(tmp_path.iterdir()) == []


def test_a_site_is_whole_small_and_made_again(say, tmp_path):
    code, out, err = say("site", "public")
    assert (code, err) == (0, "") and "python -m http.server --directory public" in out
    site = tmp_path / "public"
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    bots = json.loads((site / "bots.json").read_text())["bots"]
    assert [bot["name"] for bot in bots] == list(LEVELS)
    assert {bot["weights"] for bot in bots} <= names and {"index.html", "app.js", "bgai/bgai.js"} <= names
    networks = {id_of(bgai.load(level).network) for level in LEVELS}
    assert len({bot["weights"] for bot in bots}) == len(networks)  # of levels with one network one file
    index = (site / "index.html").read_text()
    assert '<meta name="bgai-engine" content="local">' in index
    assert not re.search(r'(src|href)="/', index)  # it may be served from any folder of a server
    for name in names:
        if name.endswith(".js"):
            for imported in re.findall(r'from "([^"]+)"|import\("([^"]+)"\)', (site / name).read_text()):
                target = (site / name).parent / (imported[0] or imported[1])
                assert target.is_file(), f"{name} imports {target}"
    # An older site is replaced, and what is no longer of it goes.
    listed = json.loads((site / "bgai-files.json").read_text())
    assert set(listed["files"]) == names - {"bgai-files.json"}
    (site / "weights-old.bin").write_bytes(b"old")
    listed["files"].append("weights-old.bin")
    (site / "bgai-files.json").write_text(json.dumps(listed))
    (site / "app.js").write_text("half of it")
    assert say("site", "public")[0] == 0
    assert not (site / "weights-old.bin").exists() and "half of it" not in (site / "app.js").read_text()
    (site / "mine.txt").write_text("a letter")
    code, _, err = say("site", "public")
    assert code == 2 and "public holds mine.txt" in err and (site / "mine.txt").exists()


def id_of(network: Network) -> bytes:
    return b"".join(array.tobytes() for layer in network.layers for array in layer)
