"""The trainer: targets against hand-worked numbers, self-play against the rules, runs repeated to the bit."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from bgai.arena.duplicate import play_match
from bgai.bots import ValueBot, load, open_bot
from bgai.cli import main
from bgai.evaluation.checkpoint import load_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.search import equities, one_ply, value_afterstates
from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import Position, start_board, turn
from train import strength
from train.folder import RunFolder
from train.learner import Learner, NotFinite, Pairs, schedule
from train.lessons import mean_of, play_lesson, start_lesson
from train.loop import batch_size, reaches
from train.model import ValueModel, to_network
from train.results import graded_bots, measure_bots
from train.selfplay import Games, SelfPlay, play_games
from train.starts import first_boards
from train.targets import all_dice_targets, lambda_returns

POINTS = np.array([1, 2, 3, -1, -2, -3])


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """As in a run: two threads on so small products mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def turned(outcomes):
    return np.concatenate([outcomes[..., 3:], outcomes[..., :3]], axis=-1)


# --- λ-returns

# Two games, of three plies and of two; each line is seen by the player who rolls next.
NEXT = [
    [0.5, 0.1, 0.0, 0.3, 0.1, 0.0],
    [0.2, 0.1, 0.1, 0.4, 0.2, 0.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],  # he has lost a gammon
    [0.6, 0.0, 0.0, 0.4, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],  # he has lost a backgammon
]
OVER = [False, False, True, False, True]
NO_LUCK = np.zeros((5, 6), dtype=np.float32)


@pytest.mark.parametrize(
    ("lam", "targets"),
    [
        (
            0.0,
            [
                [0.3, 0.1, 0.0, 0.5, 0.1, 0.0],
                [0.4, 0.2, 0.0, 0.2, 0.1, 0.1],
                [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                [0.4, 0.0, 0.0, 0.6, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            ],
        ),
        (
            1.0,
            [
                [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
                [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            ],
        ),
        (
            0.5,
            [
                # half of line 0 and half of the next target, turned; and so on from the end of the game
                [0.2, 0.325, 0.025, 0.35, 0.1, 0.0],
                [0.2, 0.1, 0.0, 0.1, 0.55, 0.05],
                [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
                [0.2, 0.0, 0.0, 0.3, 0.0, 0.5],
                [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            ],
        ),
    ],
)
def test_lambda_returns_by_hand(lam, targets):
    given = lambda_returns(np.array(NEXT, dtype=np.float32), np.array(OVER), np.zeros(5, dtype=bool), NO_LUCK, lam)
    assert given.dtype == np.float32
    np.testing.assert_allclose(given, targets, atol=1e-6)


def test_lambda_returns_stop_where_another_play_was_tried():
    explored = np.array([False, True, False, False, False])
    given = lambda_returns(np.array(NEXT, dtype=np.float32), np.array(OVER), explored, NO_LUCK, 0.5)
    # The second position's own estimate, turned; half of it and half of line 0 for the first.
    np.testing.assert_allclose(given[1], [0.4, 0.2, 0.0, 0.2, 0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(given[0], [0.25, 0.1, 0.05, 0.45, 0.15, 0.0], atol=1e-6)
    np.testing.assert_allclose(
        given[2:], lambda_returns(*(np.array(a)[2:] for a in (np.float32(NEXT), OVER, explored, NO_LUCK)), 0.5)
    )


def test_lambda_returns_less_their_luck():
    luck = NO_LUCK.copy()
    luck[0] = [0.1, 0.0, 0.0, -0.1, 0.0, 0.0]
    luck[2] = [0.0, 0.2, 0.0, -0.2, 0.0, 0.0]
    unexplored = np.zeros(5, dtype=bool)
    nothing = lambda_returns(np.array(NEXT, dtype=np.float32), np.array(OVER), unexplored, luck, 0.0)
    np.testing.assert_allclose(nothing[0], [0.2, 0.1, 0.0, 0.6, 0.1, 0.0], atol=1e-6)  # [0.3, .., 0.5, ..] less luck
    np.testing.assert_allclose(nothing[1], [0.4, 0.2, 0.0, 0.2, 0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(nothing[2], [0.0, 0.8, 0.0, 0.2, 0.0, 0.0], atol=1e-6)
    half = lambda_returns(np.array(NEXT, dtype=np.float32), np.array(OVER), unexplored, luck, 0.5)
    # As by hand above, and what is taken from a later position counts half, turned, for the one before.
    np.testing.assert_allclose(half[2], [0.0, 0.8, 0.0, 0.2, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(half[1], [0.3, 0.1, 0.0, 0.1, 0.45, 0.05], atol=1e-6)
    np.testing.assert_allclose(half[0], [0.1, 0.275, 0.025, 0.5, 0.1, 0.0], atol=1e-6)


def forward_view(next_outcomes, over, lam):
    """Sutton's sum: (1 - λ) λ^(n-1) of the estimate n plies on, the rest of the weight on the game's end."""
    targets = []
    for i in range(len(over)):
        target, weight, n = np.zeros(6), 1.0, 0
        while True:
            later = next_outcomes[i + n].astype(np.float64)
            seen = turned(later) if n % 2 == 0 else later
            if over[i + n]:
                targets.append(target + weight * seen)
                break
            target += weight * (1 - lam) * seen
            weight *= lam
            n += 1
    return np.array(targets)


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.7, 0.95, 1.0])
def test_lambda_returns_are_the_forward_view(lam):
    rng = np.random.default_rng(7)
    over = np.concatenate([np.arange(length) == length - 1 for length in rng.integers(1, 60, size=12)])
    chances = rng.dirichlet(np.full(6, 0.5), size=len(over)).astype(np.float32)
    chances[over] = np.eye(6, dtype=np.float32)[rng.integers(3, 6, size=over.sum())]
    given = lambda_returns(chances, over, np.zeros_like(over), np.zeros_like(chances), lam)
    np.testing.assert_allclose(given, forward_view(chances, over, lam), atol=1e-5)
    np.testing.assert_allclose(given.sum(axis=1), 1, atol=1e-5)


# --- self-play


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(5)
    return to_network(encoding("men196"), list(ValueModel(196, [12]).parameters()))


@pytest.fixture(scope="module")
def games(network):
    return play_games(network.outcomes, seed=11, first=100, count=25)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_self_play_is_legal_and_takes_the_best(network, games):
    ends = np.cumsum(games.lengths)
    assert ends[-1] == len(games.boards) == len(games.over) == len(games.next_outcomes)
    np.testing.assert_array_equal(np.flatnonzero(games.over), ends - 1)
    number = np.repeat(np.arange(100, 125), games.lengths)
    ply = np.concatenate([np.arange(length) for length in games.lengths])
    np.testing.assert_array_equal(games.boards[ply == 0], np.tile(start_board(), (25, 1)))
    dice = np.array([rolls(11, np.array([game]), at)[0] for game, at in zip(number, ply, strict=True)])
    rows, starts = afterstates(games.boards, dice)
    chances = network.outcomes_of(rows).astype(np.float64)
    # Who has borne off a man loses no gammon; a finished game is known.
    for side, men in ((slice(0, 3), -rows.clip(max=0)), (slice(3, 6), rows.clip(min=0))):
        saved = men.sum(axis=1) < 15
        chances[saved, side] = chances[saved, side].sum(axis=1, keepdims=True) * [1, 0, 0]
    lost = points_lost_many(rows)
    chances[lost > 0] = np.eye(6)[2 + lost[lost > 0]]
    equity = chances @ POINTS
    for i in range(len(games.boards)):
        own = slice(starts[i], starts[i + 1])
        assert games.next_outcomes[i] @ POINTS == pytest.approx(equity[own].min(), abs=1e-5)
        if games.over[i]:
            assert lost[own].max() > 0
        else:
            here = np.flatnonzero((rows[own] == games.boards[i + 1]).all(axis=1))
            assert len(here) == 1, "the next position comes from a legal play"
            np.testing.assert_allclose(games.next_outcomes[i], chances[own][here[0]], atol=1e-5)


def test_ends_of_games_are_exact(games):
    assert set(games.points.tolist()) <= {1, 2, 3} and len(set(games.points.tolist())) > 1
    np.testing.assert_array_equal(games.next_outcomes[games.over], np.eye(6)[2 + games.points])
    np.testing.assert_allclose(games.next_outcomes.sum(axis=1), 1, atol=1e-5)
    assert games.boards.dtype == np.int8 and games.next_outcomes.dtype == np.float32


def test_self_play_does_not_depend_on_the_split(network, games):
    parts = [play_games(network.outcomes, seed=11, first=f, count=n) for f, n in [(100, 1), (101, 16), (117, 8)]]
    assert same(Games.joined(parts), games)
    for workers in (1, 3, 40):
        with ThreadPoolExecutor(workers) as pool:
            for all_dice in (0.0, 0.1):
                how = {"seed": 11, "first": 100, "count": 25, "lam": 0.6, "all_dice": all_dice}
                lesson = start_lesson(network.outcomes, **how, workers=workers, pool=pool)()
                assert same(lesson.games, games)
                alone = play_lesson(network.outcomes, **how)
                assert same(lesson[1:], alone[1:])
    assert not same(play_games(network.outcomes, seed=12, first=100, count=25), games)


# --- the learner


def learner_of(optimizer="adam", average=0.9, seed=1, hidden=(16,), weight_decay=0.0, minibatch=32, **weights):
    return Learner(
        encoding("men196"),
        hidden=hidden,
        optimizer=optimizer,
        minibatch=minibatch,
        average=average,
        weight_decay=weight_decay,
        device="cpu",
        seed=seed,
        **weights,
    )


@pytest.fixture(scope="module")
def data(game_positions):
    boards = game_positions(200, 9)[0]
    return boards, np.random.default_rng(2).dirichlet(np.ones(6), size=len(boards)).astype(np.float32)


def learn(learner, data, passes, rate=1e-2, first=0):
    return [
        learner.learn(*data, rate=rate, order=np.random.default_rng([4, k])) for k in range(first, first + passes)
    ]


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_loss_falls_on_fixed_data(optimizer, data):
    learner = learner_of(optimizer, hidden=(64,))
    passes = learn(learner, data, 60)
    (first, first_squares), (last, last_squares) = passes[0], passes[-1]
    assert 0 < last < (0.3 if optimizer != "sgd" else 0.8) * first
    assert first_squares.shape == (6,) and last_squares.sum() < first_squares.sum()
    assert learner.steps == 60 * 7


def test_loss_is_cross_entropy_over_the_targets_own(data):
    learner = learner_of()
    (excess, squares), *_ = learn(learner, data, 1, rate=1e-30)
    with torch.no_grad():
        inputs = torch.from_numpy(learner.encoding.encode(data[0]))
        chances = torch.softmax(learner.model(inputs), dim=1).double().numpy()
    divergence = (data[1] * np.log(data[1] / chances)).sum(axis=1).mean()
    assert excess == pytest.approx(divergence, rel=1e-3)
    np.testing.assert_allclose(squares, ((chances - data[1]) ** 2).mean(axis=0), rtol=1e-3)


def test_what_a_step_with_rivals_lessens(data):
    """The slope of what is said in Learner, of 150 positions, 40 of which have a rival, measured by hand."""
    learner = learner_of("sgd", minibatch=1000, equity=2.0, rivalry=5.0)
    boards, targets = data[0][:150], data[1][:150]
    known = np.zeros(150, dtype=bool)
    known[10:50] = True
    rivals, rivals_rolled = np.zeros_like(boards), np.zeros_like(targets)
    rivals[known], rivals_rolled[known] = data[0][150:190], data[1][150:190]
    rolled = data[1][-150:]
    everything = np.concatenate([boards, rivals[known]])
    wanted = np.concatenate([targets, rivals_rolled[known]])
    with torch.no_grad():
        before = learner.model(torch.from_numpy(learner.encoding.encode(everything))).double().numpy()

    def lessened(bias):
        logits = before + bias
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        gaps = (np.exp(logs) - wanted) @ POINTS
        worth = np.exp(logs) @ POINTS
        wrong = (worth[150:] - worth[:150][known]) - (rivals_rolled - rolled)[known] @ POINTS
        return -(wanted * logs).sum(axis=1).mean() + 2 * (gaps**2).mean() + 5 * (wrong**2).sum() / 150

    slopes = [(lessened(nudge) - lessened(-nudge)) / 2e-4 for nudge in 1e-4 * np.eye(6)]
    bias = learner.model.output.bias.detach().clone()
    pairs = Pairs(rolled, known, rivals, rivals_rolled)
    excess, squares = learner.learn(boards, targets, rate=1e-2, order=np.random.default_rng(1), pairs=pairs)
    moved = (bias - learner.model.output.bias.detach()).numpy() / 1e-2
    np.testing.assert_allclose(moved, slopes, rtol=1e-3, atol=1e-4)
    chances = np.exp(before[:150]) / np.exp(before[:150]).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(squares, ((chances - targets) ** 2).mean(axis=0), rtol=1e-3)
    assert excess == pytest.approx((targets * np.log(targets / chances)).sum(axis=1).mean(), rel=1e-3)


@pytest.mark.parametrize("equity", [0.0, 3.0])
def test_what_a_step_lessens(data, equity):
    """One plain step goes along the slope of cross-entropy + `equity` x squared error of equity, measured by hand."""
    learner = learner_of("sgd", minibatch=1000, equity=equity)
    with torch.no_grad():
        before = learner.model(torch.from_numpy(learner.encoding.encode(data[0]))).double().numpy()

    def lessened(bias):
        logits = before + bias
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        gaps = (np.exp(logs) - data[1]) @ POINTS
        return -(data[1] * logs).sum(axis=1).mean() + equity * (gaps**2).mean()

    slopes = [(lessened(nudge) - lessened(-nudge)) / 2e-4 for nudge in 1e-4 * np.eye(6)]
    bias = learner.model.output.bias.detach().clone()
    learn(learner, data, 1, rate=1e-2)
    moved = (bias - learner.model.output.bias.detach()).numpy() / 1e-2
    np.testing.assert_allclose(moved, slopes, rtol=2e-3, atol=2e-4)


def test_average_of_the_weights(data):
    learner = learner_of(average=0.9)
    learn(learner, data, 3)
    assert not any(torch.equal(a, p) for a, p in zip(learner.averaged, learner.parameters, strict=True))
    learn(learner, data, 60, rate=1e-30)  # the weights stand still, the average arrives
    for mean, weights in zip(learner.averaged, learner.parameters, strict=True):
        torch.testing.assert_close(mean, weights.detach(), rtol=1e-4, atol=1e-6)
    assert not any(mean.requires_grad for mean in learner.averaged), "no history of steps is kept"


def test_no_average(data):
    learner = learner_of(average=0.0)
    learn(learner, data, 2)
    assert all(torch.equal(a, p) for a, p in zip(learner.averaged, learner.parameters, strict=True))


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_learning_goes_on_from_a_state_to_the_bit(optimizer, data):
    straight, stopped = learner_of(optimizer), learner_of(optimizer)
    learn(straight, data, 2)
    state = straight.state()
    straight_loss = learn(straight, data, 2, first=2)[-1][0]
    for other in (stopped, learner_of(optimizer, seed=99)):  # the state is not touched by those who use it
        other.restore(state)
        assert learn(other, data, 2, first=2)[-1][0] == straight_loss
        assert other.steps == straight.steps
        for mine, theirs in (
            (straight.parameters, other.parameters),
            (straight.averaged, other.averaged),
        ):
            assert all(torch.equal(a, b) for a, b in zip(mine, theirs, strict=True))


def test_state_of_another_network_is_refused():
    with pytest.raises(ValueError, match="another shape"):
        learner_of(hidden=(8,)).restore(learner_of(hidden=(9,)).state())


def test_first_weights_follow_the_seed_alone():
    torch.manual_seed(1)
    one = learner_of(seed=4)
    torch.manual_seed(2)
    two, other = learner_of(seed=4), learner_of(seed=5)
    assert torch.equal(one.parameters[0], two.parameters[0])
    assert not torch.equal(one.parameters[0], other.parameters[0])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_exploding_weights_are_noticed_at_once(optimizer, data):
    with pytest.raises(NotFinite):
        learn(learner_of(optimizer), data, 3, rate=1e30)
    one_step = tuple(part[:32] for part in data)
    with pytest.raises(NotFinite):  # the loss was computed before the step and is finite
        learn(learner_of("sgd"), one_step, 1, rate=float("inf"))


@pytest.mark.parametrize(
    ("kind", "half"), [("constant", 1e-2), ("linear", 0.00505), ("exponential", 1e-3), ("cosine", 0.00505)]
)
def test_schedule(kind, half):
    assert schedule(kind, 1e-2, 1e-4, 0) == schedule(kind, 1e-2, 1e-4, -1) == pytest.approx(1e-2)
    assert schedule(kind, 1e-2, 1e-4, 0.5) == pytest.approx(half)
    assert schedule(kind, 1e-2, 1e-4, 1) == pytest.approx(1e-2 if kind == "constant" else 1e-4)
    assert schedule(kind, 1e-2, 1e-4, 2) == schedule(kind, 1e-2, 1e-4, 1)


def test_unknown_schedule():
    with pytest.raises(ValueError, match="unknown schedule 'step'"):
        schedule("step", 1, 1, 0)


def test_batches_grow_with_the_games():
    assert [batch_size(done, 64, 512) for done in (0, 1024, 1600, 8192, 10**6)] == [64, 64, 100, 512, 512]


def test_strength_is_measured_at_growing_distances():
    marks = [done for done in range(100, 100_000, 100) if reaches(done - 100, done, 5_000, 2.0)]
    assert marks == [5_000, 10_000, 20_000, 40_000, 80_000]


# --- runs

GAMES = 700
TINY = f"""
[run]
games = {GAMES}
batch_games = 32
first_batch_games = 16
seed = 3
[network]
hidden = [8]
[learning]
lambda_start = 0.9
minibatch = 64
[report]
metrics_games = 100
checkpoint_seconds = 0
strength_first = 150
strength_games = 4
opponents = ["random"]
final_games = 0
[export]
beginner_games = 50
normal_games = 300
"""
TIMES = ("seconds", "games_per_second")
OUTCOME_NAMES = ["win", "gammon", "backgammon", "loss", "gammon_loss", "backgammon_loss"]


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "tiny.toml"
    path.write_text(TINY)
    return path


def run(config, folder, *words):
    return main(["train", str(config), "--run", str(folder), "--quiet", *words])


@pytest.fixture(scope="module")
def finished(config, tmp_path_factory):
    """The run that nothing ever stopped."""
    folder = tmp_path_factory.mktemp("run") / "straight"
    assert run(config, folder) == 0
    return folder


@pytest.fixture
def short(config, tmp_path):
    """The same for fewer games."""
    path = tmp_path / "short.toml"
    path.write_text(TINY.replace(f"games = {GAMES}", "games = 320"))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="others have no such names")
def test_a_folder_whose_name_is_no_text_is_told_before_anything_is_made(short, tmp_path, capsys):
    folder = tmp_path / os.fsdecode(b"run\xff")
    assert run(short, folder) == 2
    assert "UTF-8" in capsys.readouterr().err and not folder.exists()
    assert run(short, tmp_path / "跑一局") == 0


@pytest.mark.skipif(os.name != "posix", reason="pipes close otherwise elsewhere")
def test_a_reader_that_leaves_stops_no_run(short, tmp_path):
    read, write = os.pipe()
    os.close(read)
    folder = tmp_path / "unwatched"
    words = [sys.executable, "-m", "bgai", "train", str(short), "--run", str(folder), "--set", "report.final_games=4"]
    assert subprocess.run(words, stdout=write, stderr=write, timeout=120).returncode in (0, 1)
    os.close(write)
    assert (folder / "bots" / "strong.safetensors").exists()
    assert "finished: 320 games" in (folder / "log.txt").read_text()
    assert json.loads((folder / "results.json").read_text())["table"]


def metrics_of(folder, without=TIMES):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in without} for line in lines]


def scalars_of(folder):
    """{tag: {step: value}} as TensorBoard reads the folder; no step twice."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    events.Reload()
    scalars = {}
    for tag in events.Tags()["scalars"]:
        steps = [event.step for event in events.Scalars(tag)]
        assert steps == sorted(set(steps)), f"{tag} comes twice at a step: {steps}"
        scalars[tag] = {event.step: event.value for event in events.Scalars(tag)}
    return scalars


def tensors_of(folder):
    """Every weight that a run leaves: its bots, its checkpoints, and the learner's end."""
    tensors = {}
    for path in sorted(folder.glob("bots/*")) + sorted(folder.glob("checkpoints/*")):
        network, _ = load_checkpoint(path)
        for number, (weights, bias) in enumerate(network.layers):
            tensors[path.name, number] = (weights.tobytes(), bias.tobytes())
    learner = torch.load(folder / "resume.pt", weights_only=True)["learner"]
    tensors["newest"] = [weights.numpy().tobytes() for weights in learner["model"]]
    tensors["averaged"] = [weights.numpy().tobytes() for weights in learner["averaged"]]
    tensors["steps"] = learner["steps"]
    return tensors


def next_second():
    """TensorBoard sorts event files by the second of their start; only a test resumes faster than that."""
    time.sleep(1.1)


def assert_same_run(folder, other, events=True):
    mine, theirs = tensors_of(folder), tensors_of(other)
    # A run that was stopped has a bot file more: the one of the stop.
    assert all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys())
    assert mine.keys() <= theirs.keys() or theirs.keys() <= mine.keys()
    assert metrics_of(folder) == metrics_of(other)
    if not events:
        return
    scalars, others = scalars_of(folder), scalars_of(other)
    for tag in TIMES:
        assert scalars.pop(tag).keys() == others.pop(tag).keys()
    assert scalars == others


def test_files_of_a_run(finished):
    assert sorted(path.name for path in finished.iterdir()) == [
        "bots",
        "checkpoints",
        "config.toml",
        "log.txt",
        "metrics.jsonl",
        "resume.pt",
        "tensorboard",
    ]
    assert sorted(path.stem for path in (finished / "bots").iterdir()) == ["beginner", "normal", "strong"]
    names = [path.name for path in sorted((finished / "checkpoints").iterdir())]
    assert names[0] == "games-000000000.safetensors" and names[-1] == f"games-{GAMES:09d}.safetensors"
    log = (finished / "log.txt").read_text()
    assert "begun" in log and f"finished: {GAMES} games" in log


def test_cards_of_the_bots(finished):
    games = {}
    for level in ("beginner", "normal", "strong"):
        network, card = load_checkpoint(finished / "bots" / f"{level}.safetensors")
        assert card["name"] == level and card["seed"] == 3 and "hidden = [8]" in card["config"]
        assert network.hidden == (8,)
        games[level] = card["games"]
    assert 50 <= games["beginner"] < 82 and 300 <= games["normal"] < 332 and games["strong"] == GAMES


def test_metrics_of_a_run(finished):
    lines = metrics_of(finished, without=())
    learned = [line for line in lines if "loss" in line]
    strengths = [line for line in lines if "strength" in line]
    assert len(learned) == GAMES // 100 and learned[-1]["games"] == strengths[-1]["games"] == GAMES
    assert strengths[0]["games"] == 0 and len(strengths) == 5  # untrained, 150, 300, 600 and the end
    for line in learned:
        assert list(line["squared_error"]) == OUTCOME_NAMES
        assert 0 < line["loss"] < 2 and all(0 <= error < 1 for error in line["squared_error"].values())
        assert 20 < line["plies_per_game"] < 400 and 0 <= line["gammon_rate"] <= 1
        assert 1e-5 <= line["learning_rate"] <= 1e-3 and 0.7 <= line["lambda"] <= 0.9
        assert line["games_per_second"] > 0
    assert learned[0]["learning_rate"] > learned[-1]["learning_rate"]
    for line in strengths:
        assert line["strength"]["random"]["games"] == 4
    assert [line["seconds"] for line in lines] == sorted(line["seconds"] for line in lines)


def test_tensorboard_of_a_run(finished):
    scalars = scalars_of(finished)
    learned = {line["games"]: line for line in metrics_of(finished) if "loss" in line}
    for tag in ("loss", "plies_per_game", "gammon_rate", "learning_rate"):
        assert scalars[tag].keys() == learned.keys()
        assert all(value == pytest.approx(learned[step][tag], rel=1e-5) for step, value in scalars[tag].items())
    for name in OUTCOME_NAMES:
        assert scalars[f"squared_error/{name}"].keys() == learned.keys()
    assert scalars["games_per_second"].keys() == learned.keys()
    strengths = {line["games"]: line["strength"]["random"] for line in metrics_of(finished) if "strength" in line}
    assert 0 in strengths and scalars["strength/random"].keys() == strengths.keys()


def test_plies_and_gammons_are_those_of_the_games(config, tmp_path):
    """One batch, played by the first weights: the same games as play_games gives."""
    words = ["run.games=20", "run.first_batch_games=20", "export.beginner_games=0", "export.normal_games=0"]
    assert run(config, tmp_path / "one", *(w for word in words for w in ("--set", word))) == 0
    (line,) = (line for line in metrics_of(tmp_path / "one") if "loss" in line)
    start, _ = load_checkpoint(tmp_path / "one" / "checkpoints" / "games-000000000.safetensors")
    games = play_games(start.outcomes, seed=3, first=0, count=20)
    assert line["plies_per_game"] == games.lengths.mean() and line["gammon_rate"] == (games.points == 2).mean()
    assert line["backgammon_rate"] == (games.points == 3).mean()


def test_strength_less_luck_is_what_the_arena_finds(short, tmp_path, capsys):
    """A run's scores along the way and at the end, played again by the command on the bot that it left."""
    less = [*"--set report.luckless=true --set report.strength_games=60 --set report.final_games=60".split()]
    less += ["--set", 'report.final_opponents=["pubeval"]', "--set", 'report.opponents=["pubeval"]']
    folder = tmp_path / "run"
    assert run(short, folder, *less, "--set", "export.beginner_games=0", "--set", "export.normal_games=0") == 0
    bot = folder / "bots" / "strong.safetensors"
    _, card = load_checkpoint(bot)
    words = card["measured_by"].replace("OPPONENT", "pubeval").split()
    assert words[:2] == ["BGAI_BEAROFF=off", "bgai"] and words[-1] == "--luckless"
    capsys.readouterr()
    assert main([*words[2:], "--json", str(tmp_path / "again.json")]) == 0
    [match] = json.loads((tmp_path / "again.json").read_text())["matches"]
    assert any(match["luck"]) and "less luck" in capsys.readouterr().out
    along_the_way = metrics_of(folder)[-1]["strength"]["pubeval"]
    assert along_the_way == card["strength"]["pubeval"]
    assert along_the_way["points_per_game"] == pytest.approx(match["points_per_game"], abs=1e-4)


def test_games_per_second_leave_measurements_of_strength_out(short, tmp_path, monkeypatch):
    slept = []

    def sleep_and_measure(*args, **kwargs):
        slept.append(1.0)
        time.sleep(slept[-1])
        return {}

    monkeypatch.setattr(strength, "measure", sleep_and_measure)
    assert run(short, tmp_path / "run") == 0
    lines = metrics_of(tmp_path / "run", without=())
    learned = [line for line in lines if "loss" in line]
    games = np.diff([line["games"] for line in learned], prepend=0)
    seconds = sum(games / [line["games_per_second"] for line in learned])
    assert 0 < seconds < learned[-1]["seconds"] - sum(slept[:-1])


def test_a_resume_point_of_before_the_tally_left_measurements_out(short, tmp_path, monkeypatch):
    assert run(short, tmp_path / "straight") == 0
    folder = tmp_path / "stopped"
    with monkeypatch.context() as patched:
        stop_at_save(patched, 6)
        assert run(short, folder) == 130
    state = RunFolder(folder).load_resume()
    state["tally"]["began"], state["tally"]["seconds_before"] = 1e6, state["tally"].pop("seconds")
    RunFolder(folder).save_resume(state)
    assert run(short, folder, "--resume") == 0
    assert_same_run(folder, tmp_path / "straight", events=False)


def test_the_same_run_again_with_more_workers(config, finished, tmp_path):
    assert run(config, tmp_path / "again", "--set", "run.workers=3") == 0
    assert_same_run(tmp_path / "again", finished)
    assert tensors_of(tmp_path / "again").keys() == tensors_of(finished).keys()


@pytest.mark.parametrize("key", ["opponents", "final_opponents"])
def test_an_opponent_that_is_nobody_is_refused(short, tmp_path, capsys, key):
    words = ["--set", "report.final_games=4", "--set", f'report.{key}=["ranodm"]']
    assert run(short, tmp_path / "run", *words) == 2
    assert "'ranodm'" in capsys.readouterr().err


def test_another_seed_gives_another_bot(short, tmp_path):
    for seed in ("3", "4"):
        assert run(short, tmp_path / seed, "--set", f"run.seed={seed}") == 0
    assert tensors_of(tmp_path / "3")["newest"] != tensors_of(tmp_path / "4")["newest"]


def test_finished_run_is_measured_and_exported(short, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)  # as if it were not installed
    folder = tmp_path / "run"
    words = ["report.final_games=4", 'report.final_opponents=["random", "gnubg:0"]']
    words = [w for word in words for w in ("--set", word)]
    assert run(short, folder, *words) == 0
    table = json.loads((folder / "results.json").read_text())["table"]
    assert "\n".join(table) in capsys.readouterr().out
    assert any(line.startswith("not played: ") and "gnubg" in line for line in table)
    for level in ("beginner", "normal", "strong"):
        _, card = load_checkpoint(folder / "bots" / f"{level}.safetensors")
        assert card["strength"]["random"]["games"] == 4
    before = tensors_of(folder)
    results = json.loads((folder / "results.json").read_text())
    (folder / "results.json").write_text(json.dumps({key: results[key] for key in results if key != "luckless"}))
    assert run(short, folder, "--resume", *words, "--set", "report.luckless=true") == 0  # of an older bgai
    assert "measured with report.luckless = False, not True" in capsys.readouterr().out
    assert run(short, folder, "--resume", *words) == 0
    out = capsys.readouterr().out
    assert "nothing left to train" in out and "\n".join(table) in out
    assert tensors_of(folder) == before
    assert main(["export", str(folder), "--to", str(tmp_path / "bots")]) == 0
    assert (tmp_path / "bots" / "strong.safetensors").read_bytes() == (
        folder / "bots" / "strong.safetensors"
    ).read_bytes()
    assert main(["export", str(tmp_path / "nowhere"), "--to", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "nowhere" / "bots") in capsys.readouterr().err and not (tmp_path / "none").exists()


def test_an_opponent_called_like_a_level_does_not_take_its_place(finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    levels = graded_bots(folder / "bots")
    table = measure_bots(folder / "bots", folder / "results.json", opponents=("strong",), games=4, seed=1, quiet=True)
    assert table[0].split()[-5:] == ["strong", "normal", "beginner", "strong", "(2)"]
    _, card = load_checkpoint(folder / "bots" / "strong.safetensors")
    for name, opponent in (("normal", levels["normal"]), ("strong (2)", open_bot("strong", bearoff=False))):
        played = play_match(levels["strong"], opponent, 4, 1)
        assert card["strength"][name]["points_per_game"] == played.score.mean


# --- stopped runs


def stop_at_save(monkeypatch, number):
    """Ctrl-C while the resume point of this number is written."""
    saves = []
    save_resume = RunFolder.save_resume

    def save_and_stop(folder, state):
        save_resume(folder, state)
        saves.append(state["games"])
        if len(saves) == number:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(RunFolder, "save_resume", save_and_stop)


@pytest.mark.parametrize(
    "words",
    [
        ["learning.optimizer=sgd", "learning.play_average=true", "learning.passes=2", "network.encoding=men292"],
        ["learning.optimizer=adamw", "learning.weight_decay=0.1", "learning.average=0", "network.hidden=[9, 7]"],
        ["network.sketch=[6]", "learning.without_luck=true", "run.sift=true", "run.explore=0.2"],
        ["network.sketch=[6]", "learning.without_luck=true", "learning.luck_by_network=true", "learning.rivals=0.3"],
        ["learning.all_dice=0.0005", "report.metrics_games=20"],  # some batches draw no position
    ],
    ids=["sgd", "adamw", "sketch", "rivals", "all dice"],
)
def test_stopped_and_resumed_is_the_same_to_the_bit(short, tmp_path, monkeypatch, capsys, words):
    words = [w for word in words for w in ("--set", word)]
    assert run(short, tmp_path / "straight", *words) == 0
    for number in (1, 6):  # during the very first one, before any game; and midway
        folder = tmp_path / f"stopped{number}"
        with monkeypatch.context() as patched:
            stop_at_save(patched, number)
            assert run(short, folder, *words) == 130
        assert "--resume" in capsys.readouterr().out
        assert not (folder / "bots" / "strong.safetensors").exists()
        assert run(short, folder, "--resume", *words) == 0
        assert_same_run(folder, tmp_path / "straight", events=False)


@contextmanager
def started(config, folder, *words):
    """The run as a process of its own."""
    command = [sys.executable, "-m", "train", str(config), "--run", str(folder), "--resume", "--quiet", *words]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def games_of_metrics(folder):
    text = (folder / "metrics.jsonl").read_text() if (folder / "metrics.jsonl").exists() else ""
    whole = text[: text.rfind("\n") + 1].splitlines()
    return json.loads(whole[-1])["games"] if whole else 0


def games_of_resume_point(folder):
    return torch.load(folder / "resume.pt", weights_only=True)["games"]


def wait_for_games(process, folder, games, games_of):
    """Until so many games are learned from."""
    deadline = time.monotonic() + 120
    while games_of(folder) < games:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"{games} games take too long"
        time.sleep(0.002)


def test_killed_twice_and_resumed_is_the_same_to_the_bit(config, finished, tmp_path):
    folder = tmp_path / "killed"
    # First without resume points but the one before the first game, so that metrics are ahead of it.
    for games, games_of, word in (
        (100, games_of_metrics, "report.checkpoint_seconds=1000"),
        (250, games_of_resume_point, "run.workers=2"),
    ):
        with started(config, folder, "--set", word) as process:
            wait_for_games(process, folder, games, games_of)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert (folder / "resume.pt").exists() and not (folder / "bots" / "strong.safetensors").exists()
        with open(folder / "metrics.jsonl", "ab") as file:
            file.write(b'{"games": 12, "lo\xff')
    assert 250 <= games_of_resume_point(folder) < GAMES
    next_second()
    assert run(config, folder, "--resume") == 0
    assert_same_run(folder, finished)
    assert tensors_of(folder).keys() == tensors_of(finished).keys()
    assert not list(folder.rglob("*.tmp"))


@pytest.mark.slow
def test_killed_at_any_moment_is_the_same_to_the_bit(config, finished, tmp_path):
    folder = tmp_path / "killed"
    rng = np.random.default_rng(int(time.time()))
    for _ in range(20):
        with started(config, folder, "--set", f"run.workers={rng.integers(1, 4)}") as process:
            try:
                process.wait(timeout=rng.uniform(0.5, 5))
            except subprocess.TimeoutExpired:
                process.kill()
            assert process.wait() in (0, -signal.SIGKILL), process.communicate()[1]
    next_second()
    assert run(config, folder, "--resume") == 0
    assert_same_run(folder, finished)


def test_ctrl_c_stops_with_a_checkpoint(config, finished, tmp_path):
    folder = tmp_path / "stopped"
    with started(config, folder, "--set", "report.checkpoint_seconds=1000") as process:
        wait_for_games(process, folder, 200, games_of_metrics)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.strip().startswith("stopping after this batch") and "Ctrl-C again" in err and len(err.split("\n")) == 3
    assert "stopped; go on with: bgai train" in out and "--resume" in out
    games = games_of_resume_point(folder)
    assert 200 <= games < GAMES
    assert (folder / "checkpoints" / f"games-{games:09d}.safetensors").exists()
    assert f"stopped after {games} games" in (folder / "log.txt").read_text()
    next_second()
    assert run(config, folder, "--resume") == 0
    assert_same_run(folder, finished)


def test_ctrl_c_while_the_last_strength_is_measured(config, finished, tmp_path, monkeypatch, capsys):
    folder, told = tmp_path / "stopped", []
    words = ["--set", "report.final_games=4", "--set", 'report.final_opponents=["random"]']
    measure = strength.measure

    def stop_and_measure(bot, *args, **kwargs):
        if (folder / "checkpoints" / f"games-{GAMES:09d}.safetensors").exists():
            os.kill(os.getpid(), signal.SIGINT)
            told.append(capsys.readouterr().err)
        return measure(bot, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(strength, "measure", stop_and_measure)
        assert run(config, folder, *words) == 130
    assert len(told) == 1 and "stopping" in told[0] and "stopped; go on with" in capsys.readouterr().out
    assert games_of_resume_point(folder) == GAMES and not (folder / "results.json").exists()
    assert run(config, folder, "--resume", *words) == 0
    assert (folder / "results.json").exists()
    assert_same_run(folder, finished, events=False)


def test_folders_that_are_missing_are_made_again(short, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        stop_at_save(patched, 6)
        assert run(short, folder) == 130
    shutil.rmtree(folder / "bots")
    shutil.rmtree(folder / "checkpoints")
    assert run(short, folder, "--resume") == 0
    assert sorted(path.stem for path in folder.glob("bots/*")) == ["normal", "strong"]
    assert (folder / "checkpoints" / "games-000000320.safetensors").exists()


def test_killed_before_the_first_resume_point(short, tmp_path, monkeypatch):
    assert run(short, tmp_path / "straight") == 0

    def die(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(RunFolder, "save_resume", die)
        run(short, tmp_path / "killed")
    assert not (tmp_path / "killed" / "resume.pt").exists()
    next_second()
    assert run(short, tmp_path / "killed", "--resume") == 0
    assert_same_run(tmp_path / "killed", tmp_path / "straight")


def test_loss_that_is_not_finite_stops_the_run(config, finished, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr("train.loop.schedule", lambda *a: 1e30 if a[3] > 0.4 else schedule(*a))
        assert run(config, folder) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    # 17 batches of 16 games, one of 17, and the first beyond four tenths of the run.
    assert "not finite in batch 19 (games 289 to 307, rate 1e+30)" in sentence
    assert str(folder / "resume.pt") in sentence
    assert sentence.removeprefix("bgai train: ") in (folder / "log.txt").read_text()
    state = torch.load(folder / "resume.pt", weights_only=True)
    assert (state["batch"], state["games"]) == (18, 289)
    assert all(bool(torch.isfinite(w).all()) for w in state["learner"]["model"] + state["learner"]["averaged"])
    assert run(config, folder, "--resume") == 0
    assert_same_run(folder, finished, events=False)


def test_stopped_while_it_is_measured(config, finished, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    words = ["--set", "report.final_games=4", "--set", 'report.final_opponents=["random"]']

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("train.strength.play_match", interrupt)
        assert run(config, folder, "--resume", *words) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert run(config, folder, "--resume", *words) == 0
    assert (folder / "results.json").exists()
    assert_same_run(folder, finished)


# --- run folders that cannot be used


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("network.hidden=[9]", ["network.hidden is [8] there, [9] here"]),
        ("run.seed=4", ["run.seed is 3 there, 4 here"]),
        ("learning.optimizer=sgd", ["learning.optimizer is 'adam' there, 'sgd' here"]),
    ],
)
def test_resume_with_another_config_is_refused(config, finished, capsys, override, words):
    before = (finished / "resume.pt").read_bytes()
    assert run(config, finished, "--resume", "--set", override) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert all(word in sentence for word in [*words, str(finished), "--run"])
    assert (finished / "resume.pt").read_bytes() == before


def test_a_run_is_not_begun_over_another(config, finished, tmp_path, capsys):
    before = (finished / "metrics.jsonl").read_bytes()
    assert run(config, finished) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert (finished / "metrics.jsonl").read_bytes() == before
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "love.txt").write_text("dear")
    for words in ([], ["--resume"]):
        assert run(config, tmp_path / "letters", *words) == 2
        assert "holds no run" in capsys.readouterr().err
    assert os.listdir(tmp_path / "letters") == ["love.txt"]
    assert run(config, tmp_path / "letters" / "love.txt") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_start_cut_short_before_its_config_can_be_begun(short, tmp_path):
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    assert run(short, tmp_path / "run") == 0


class Planted:
    """Unpickling this makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_wrong_resume_points_are_refused(config, finished, tmp_path, capsys):
    folder, trap = tmp_path / "run", tmp_path / "trap"
    shutil.copytree(finished, folder)
    resume = folder / "resume.pt"
    whole = resume.read_bytes()
    state = torch.load(resume, weights_only=True)
    del state["sha256"]  # as older ones, or nothing else would be looked at

    def saved(value):
        torch.save(value, resume)
        return resume.read_bytes()

    other = learner_of(hidden=(9,)).state()
    contents = {
        "empty": b"",
        "text": b"no resume point\n" * 20,
        "half": whole[: len(whole) // 2],
        "cut": whole[:-10],
        "changed": whole[:300] + bytes(300) + whole[600:],
        "code": saved(Planted(trap)),
        "list": saved([1, 2]),
        "tensor": saved(torch.zeros(2)),
        "keys missing": saved({key: state[key] for key in ("learner", "playing", "batch", "games")}),
        "numbers": saved({key: 1 for key in state}),
        "another network": saved({**state, "learner": other}),
        "no optimizer": saved({**state, "learner": {**state["learner"], "optimizer": {}}}),
    }
    (folder / "bots" / "strong.safetensors").unlink()  # with it the run would be finished
    for name, content in contents.items():
        resume.write_bytes(content)
        assert run(config, folder, "--resume") == 2, name
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1 and str(resume) in err and "weights_only" not in err, (name, err)
        assert resume.read_bytes() == content
    assert not trap.exists()
    resume.write_bytes(whole)
    assert run(config, folder, "--resume") == 0


def test_run_config_that_cannot_be_read(config, finished, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    for content in (b"[run]\ngmaes = 3\n", b"\xff\xfe", b"[run"):
        (folder / "config.toml").write_bytes(content)
        assert run(config, folder, "--resume") == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1 and "config.toml" in err, err


def test_wrong_configs_and_devices_leave_no_folder(tmp_path, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text("[run]\ngmaes = 3\n")
    assert run(path, tmp_path / "run") == 2
    assert "run.gmaes is unknown; did you mean 'games'?" in capsys.readouterr().err
    path.write_bytes(b"# \xff\n")
    assert run(path, tmp_path / "run") == 2
    assert "wrong.toml" in capsys.readouterr().err
    assert run("no-such-config", tmp_path / "run") == 2
    assert "there is no config 'no-such-config'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


# --- targets over all rolls, and runs that begin with a bot


def test_all_dice_targets_are_the_mean_over_the_rolls(network, games):
    boards = games.boards[5::40]
    bot = ValueBot(network, name="any")
    for board, target in zip(boards, all_dice_targets(network.outcomes, boards), strict=True):
        mean = np.zeros(6)
        for roll in itertools.product(range(1, 7), repeat=2):
            _, outcomes, _ = bot.rank(Position(board), roll)[0]
            mean += np.array(outcomes) / 36
        np.testing.assert_allclose(target, mean, atol=1e-5)


def test_all_dice_lessons_draw_their_share(network):
    how = {"seed": 5, "first": 0, "count": 200, "lam": 0.7}
    whole = play_lesson(network.outcomes, **how, all_dice=0.0)
    some = play_lesson(network.outcomes, **how, all_dice=0.02)
    share = len(some.boards) / len(whole.boards)
    assert 0.015 < share < 0.025
    every = {board.tobytes() for board in whole.boards}
    assert all(board.tobytes() in every for board in some.boards)


def test_batches_that_draw_no_position_take_no_step(short, tmp_path):
    assert run(short, tmp_path / "run", "--set", "learning.all_dice=1e-9") == 0
    state = torch.load(tmp_path / "run" / "resume.pt", weights_only=True)
    assert state["games"] == 320 and state["learner"]["steps"] == 0
    assert not any("loss" in line for line in metrics_of(tmp_path / "run"))


def test_a_run_begins_with_a_bot(config, finished, tmp_path):
    bot = str(finished / "bots" / "strong.safetensors")
    words = ["--set", f"network.start={bot}", "--set", "learning.all_dice=0.05"]
    assert run(config, tmp_path / "polish", *words) == 0
    begun, _ = load_checkpoint(tmp_path / "polish" / "checkpoints" / "games-000000000.safetensors")
    given, _ = load_checkpoint(bot)
    for mine, theirs in zip(begun.layers, given.layers, strict=True):
        assert same(mine, theirs)


def test_a_committee_says_the_mean(finished):
    networks = [load(bot, bearoff=False).network for bot in (finished, "normal")]
    boards, starts = np.tile(start_board(), (3, 1)), np.arange(4)
    said = [network.outcomes(boards, boards, starts) for network in networks]
    together = mean_of([network.outcomes for network in networks])(boards, boards, starts)
    np.testing.assert_allclose(together, (said[0] + said[1]) / 2, rtol=1e-6)
    assert np.abs(said[0] - said[1]).max() > 0.01


def test_a_run_is_taught_by_a_committee(short, finished, tmp_path, capsys):
    words = [
        "--set",
        f"network.start={finished}",
        "--set",
        "learning.lambda_start=0",
        "--set",
        "learning.lambda_end=0",
    ]
    assert run(short, tmp_path / "alone", *words) == 0
    assert run(short, tmp_path / "taught", *words, "--set", 'learning.committee=["normal"]') == 0
    boards = np.tile(start_board(), (1, 1))
    alone, taught, teacher = (
        load(bot, bearoff=False).network.outcomes_of(boards)
        for bot in (tmp_path / "alone", tmp_path / "taught", "normal")
    )
    assert np.abs(taught - teacher).sum() < np.abs(alone - teacher).sum()
    capsys.readouterr()
    assert run(short, tmp_path / "none", "--set", 'learning.committee=["nobody"]') == 2
    assert "learning.committee: " in capsys.readouterr().err and not (tmp_path / "none").exists()


def test_a_run_says_that_it_begins_with_an_unfinished_one(short, finished, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patched:
        stop_at_save(patched, 3)
        assert run(short, tmp_path / "half") == 130
    games = games_of_resume_point(tmp_path / "half")
    for start in (tmp_path / "half", finished):
        capsys.readouterr()
        assert run(short, tmp_path / "next" / start.name, "--set", f"network.start={start}") == 0
        told = f"{start} is not finished: this run begins with its weights after {games:,} games"
        assert (told in capsys.readouterr().out) == (start != finished)


def test_a_start_that_does_not_fit_is_refused_before_the_run_begins(config, finished, tmp_path, capsys):
    words = ["--set", f"network.start={finished}", "--set", "network.hidden=[3]"]
    assert run(config, tmp_path / "other", *words) == 2
    assert "cannot grow to [3]" in capsys.readouterr().err
    assert run(config, tmp_path / "other", "--set", "network.start=nowhere.safetensors") == 2
    assert "there is no bot file nowhere.safetensors" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_sketch_of_another_size_than_the_starts(short, finished, tmp_path, capsys):
    words = ["--set", "network.sketch=[6]"]
    assert run(short, tmp_path / "with", *words) == 0
    words[1:] = [f"network.start={tmp_path / 'with'}", "--set", "network.sketch=[7]"]
    assert run(short, tmp_path / "other", *words) == 0
    assert "random weights: network.sketch is [7], the start's is [6]\n" in (tmp_path / "other/log.txt").read_text()
    capsys.readouterr()
    words += ["--set", "run.sift=true"]
    assert run(short, tmp_path / "sifted", *words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "run.sift" in err and "network.sketch is [7], the start's is [6]" in err
    assert run(short, tmp_path / "sifted", *words, "--set", f"network.start={finished}") == 2
    assert "network.sketch is [7], the start's is none" in capsys.readouterr().err
    assert not (tmp_path / "sifted").exists()
    assert run(short, tmp_path / "sifted", *words, "--set", "network.sketch=[6]") == 0
    assert "random weights" not in (tmp_path / "sifted" / "log.txt").read_text()


# --- scattered starts


def test_scattered_starts_are_positions_of_every_kind():
    boards, opened = first_boards(7, 0, 4_000, 0.5)
    assert 0.45 < opened.mean() < 0.55
    assert (boards[opened] == start_board()).all()
    scattered = boards[~opened]
    for board in scattered[:500]:
        Position(board.tolist())  # legal: at most 15 men, no shared point, not two players shut out
    assert not points_lost_many(scattered).any() and not points_lost_many(turn(scattered)).any()
    assert len(np.unique(scattered, axis=0)) > 0.99 * len(scattered)
    far = np.maximum(scattered[:, 19:], 0).sum(axis=1)
    assert (far == 0).mean() > 0.2 and (far >= 4).mean() > 0.1
    assert (scattered[:, 25] > 1).mean() > 0.02 and (scattered[:, 0] < -1).mean() > 0.02
    assert (np.maximum(scattered, 0).sum(axis=1) < 15).mean() > 0.15


def test_scattered_starts_depend_on_seed_and_game_alone():
    whole, opened = first_boards(7, 100, 60, 0.3)
    for begin in (0, 17, 59):
        part, part_opened = first_boards(7, 100 + begin, 60 - begin, 0.3)
        np.testing.assert_array_equal(part, whole[begin:])
        np.testing.assert_array_equal(part_opened, opened[begin:])
    assert not (first_boards(8, 100, 60, 0.3)[0] == whole).all()


def test_scattered_games_begin_with_any_roll(network):
    games = play_games(network.outcomes, seed=3, first=0, count=400, ways=SelfPlay(scattered=1.0))
    begins = np.cumsum(games.lengths) - games.lengths
    boards, _ = first_boards(3, 0, 400, 1.0)
    np.testing.assert_array_equal(games.boards[begins], boards)
    # An opening roll is never a double, so these take the roll of ply 1.
    dice = rolls(3, np.arange(400), 1)
    assert (dice[:, 0] == dice[:, 1]).any()
    longer = games.lengths > 1
    np.testing.assert_array_equal(
        games.boards[begins[longer] + 1], one_ply(network.outcomes, boards, dice).boards[longer]
    )
    opening = play_games(network.outcomes, seed=3, first=0, count=400)
    begins = np.cumsum(opening.lengths) - opening.lengths
    assert (opening.boards[begins] == start_board()).all()


# --- exploring


def test_exploring_makes_other_plays_now_and_then(network):
    plain = play_games(network.outcomes, seed=3, first=0, count=200)
    assert not plain.explored.any()
    games = play_games(network.outcomes, seed=3, first=0, count=200, ways=SelfPlay(explore=0.2))
    # A fifth of the rolls, but for those with a single play.
    assert 0.14 < games.explored.mean() < 0.2
    assert same(
        play_games(network.outcomes, seed=3, first=50, count=1, ways=SelfPlay(explore=0.2)), one_of(games, 50)
    )
    # What is told of a position is its best play, whatever was made.
    begins = np.cumsum(games.lengths) - games.lengths
    best = one_ply(network.outcomes, games.boards[begins], rolls(3, np.arange(200), 0))
    np.testing.assert_array_equal(games.next_outcomes[begins], best.outcomes)
    went_on = games.boards[begins + 1]
    differs = (went_on != best.boards).any(axis=1)
    np.testing.assert_array_equal(differs, games.explored[begins])
    # And what is made instead comes near it.
    loss = []
    for i in np.flatnonzero(differs):
        rows, starts, outcomes = value_afterstates(
            network.outcomes, games.boards[begins[i] : begins[i] + 1], rolls(3, np.array([i]), 0)
        )
        made = np.flatnonzero((rows == went_on[i]).all(axis=1))[0]
        loss.append(equities(outcomes)[made] - equities(outcomes).min())
    assert 0 <= min(loss) and np.mean(loss) < 0.08


# --- luck


def test_luck_is_what_the_roll_brings_beyond_the_mean_of_all(network):
    bot = ValueBot(network, name="any")
    games = play_games(
        network.outcomes, seed=3, first=0, count=3, sketch=network.outcomes, ways=SelfPlay(without_luck=True)
    )
    assert same(games._replace(luck=games.luck * 0), play_games(network.outcomes, seed=3, first=0, count=3))
    ply = 0
    for i in range(games.lengths[0]):
        mean = np.zeros(6)
        for roll in itertools.product(range(1, 7), repeat=2):
            mean += np.array(bot.rank(Position(games.boards[i]), roll)[0][1]) / 36
        dice = tuple(rolls(3, np.array([0]), ply)[0].tolist())
        got = np.array(bot.rank(Position(games.boards[i]), dice)[0][1])
        np.testing.assert_allclose(games.luck[i], got - mean, atol=1e-5)
        ply += 1


def test_without_luck_returns_have_less_noise_and_the_same_mean(network):
    how = {"seed": 5, "first": 0, "count": 3_000, "lam": 0.0, "all_dice": 0.0}
    plain = play_lesson(network.outcomes, **how)
    less = play_lesson(network.outcomes, **how, sketch=network.outcomes, ways=SelfPlay(without_luck=True))
    np.testing.assert_array_equal(plain.boards, less.boards)
    sure = all_dice_targets(network.outcomes, plain.boards[:2000]) @ POINTS
    noise, rest = plain.targets[:2000] @ POINTS - sure, less.targets[:2000] @ POINTS - sure
    assert rest.std() < 0.001 < noise.std()  # here the network measures its own luck
    later = ~np.isin(np.arange(len(plain.boards)), np.cumsum(plain.games.lengths) - plain.games.lengths)
    luck = less.games.luck[later] @ POINTS  # opening rolls are no doubles, so theirs need not be fair
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))


def test_the_network_measures_luck_better_than_a_sketch(network):
    torch.manual_seed(6)
    sketch = to_network(encoding("men196"), list(ValueModel(196, [12]).parameters()))
    how = {"seed": 5, "first": 0, "count": 200, "lam": 0.0, "all_dice": 0.0, "sketch": sketch.outcomes}
    sure, noise = None, []
    for by_network in (False, True):
        ways = SelfPlay(without_luck=True, luck_by_network=by_network)
        lesson = play_lesson(network.outcomes, **how, ways=ways)
        sure = all_dice_targets(network.outcomes, lesson.boards) @ POINTS if sure is None else sure
        noise.append((lesson.targets @ POINTS - sure).std())
        later = ~np.isin(np.arange(len(lesson.boards)), np.cumsum(lesson.games.lengths) - lesson.games.lengths)
        luck = lesson.games.luck[later] @ POINTS
        assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))
    assert noise[1] < 0.75 * noise[0]  # though this sketch knows nothing of the network


def test_rivals_are_the_plays_nearest_to_those_made(network):
    bot = ValueBot(network, name="any")
    how = {"seed": 3, "first": 0, "count": 12, "lam": 0.4, "all_dice": 0.0, "sketch": network.outcomes}
    ways = SelfPlay(explore=0.3, without_luck=True, luck_by_network=True)
    plain = play_lesson(network.outcomes, **how, ways=ways)
    lesson = play_lesson(network.outcomes, **how, ways=ways._replace(rivals=1.0))
    np.testing.assert_array_equal(lesson.boards, plain.boards)
    np.testing.assert_array_equal(lesson.targets, plain.targets)
    assert not plain.has_rival.any() and lesson.has_rival.any()
    known = lesson.has_rival
    for boards, rolled in ((lesson.boards, lesson.rolled), (lesson.rivals, lesson.rivals_rolled)):
        np.testing.assert_allclose(rolled[known], all_dice_targets(network.outcomes, boards[known]), atol=1e-5)
    games, row = lesson.games, 0
    for number, length in enumerate(games.lengths):
        assert not known[row]  # nobody's play led there
        for ply in range(length - 1):
            dice = tuple(rolls(3, np.array([number]), ply)[0].tolist())
            ranked = bot.rank(Position(lesson.boards[row + ply]), dice)
            worth = {play.after.board.tobytes(): equity for play, _, equity in ranked}
            made = worth.pop(lesson.boards[row + ply + 1].tobytes())
            gaps = {after: abs(equity - made) for after, equity in worth.items()}
            near = min(gaps.values(), default=1.0)
            if known[row + ply + 1]:
                assert gaps[lesson.rivals[row + ply + 1].tobytes()] == pytest.approx(near, abs=1e-6)
            assert known[row + ply + 1] == (near < 0.1)
        row += length
    some = play_lesson(network.outcomes, **how, ways=ways._replace(rivals=0.25))
    assert 0.1 * known.sum() < some.has_rival.sum() < 0.4 * known.sum() and not (some.has_rival & ~known).any()


def one_of(games, number):
    """The games with only this one in them."""
    rows = np.repeat(np.arange(len(games.lengths)), games.lengths) == number
    each = [array[rows] for array in games[:-2]]
    return Games(*each, games.lengths[[number]], games.points[[number]])
