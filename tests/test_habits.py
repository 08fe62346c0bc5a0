"""Weaker levels: a strong network with habits. Nothing absurd, the same every time, and what is liked is done."""

import numpy as np
import pytest

import bgai
from bgai.arena import play_match
from bgai.bots import ValueBot
from bgai.evaluation.checkpoint import InvalidCheckpoint, load_checkpoint, save_checkpoint
from bgai.evaluation.habits import Habits
from bgai.evaluation.search import equities, value_afterstates


@pytest.fixture(scope="module")
def network():
    return bgai.load("normal", bearoff=False).network


@pytest.fixture(scope="module")
def rolled(game_positions):
    boards, dice = game_positions(400, 21)
    going = (boards.max(axis=1) > 0) & (boards.min(axis=1) < 0)
    return boards[going], dice[going]


def lost(network, chosen, rolled):
    """What each choice loses by the network itself."""
    rows, starts, outcomes = value_afterstates(network.outcomes, *rolled)
    values = equities(outcomes)
    found = []
    for i, (first, end) in enumerate(zip(starts, starts[1:], strict=False)):
        mine = first + np.flatnonzero((rows[first:end] == chosen[i]).all(axis=1))[0]
        found.append(values[mine] - values[first:end].min())
    return np.array(found)


def with_habits(network, **habits):
    return ValueBot(network, name="habitual", habits=Habits(**habits))


def test_no_noise_and_no_likes_is_the_network_itself(network, rolled):
    plain = ValueBot(network, name="plain").choose_boards(*rolled)
    np.testing.assert_array_equal(with_habits(network, margin=0.3).choose_boards(*rolled), plain)
    # Without a margin noise can only decide between equals.
    assert lost(network, with_habits(network, margin=0.0, noise=0.5).choose_boards(*rolled), rolled).max() == 0


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_nothing_is_lost_beyond_the_margin(margin, network, rolled):
    bot = with_habits(network, margin=margin, noise=1.0)
    errors = lost(network, bot.choose_boards(*rolled), rolled)
    assert errors.max() <= margin + 1e-6
    assert errors.mean() > 0.1 * margin


def test_the_same_every_time_and_in_any_batch(network, rolled):
    boards, dice = rolled
    bot = with_habits(network, margin=0.3, noise=0.1, seed=4)
    chosen = bot.choose_boards(boards, dice)
    np.testing.assert_array_equal(bot.choose_boards(boards[::-1], dice[::-1])[::-1], chosen)
    alone = [bot.choose_boards(boards[i : i + 1], dice[i : i + 1])[0] for i in range(0, 40)]
    np.testing.assert_array_equal(np.stack(alone), chosen[:40])
    other = with_habits(network, margin=0.3, noise=0.1, seed=5).choose_boards(boards, dice)
    assert 0.05 < (other != chosen).any(axis=1).mean() < 0.9


def test_more_noise_loses_more(network, rolled):
    means = [
        lost(network, with_habits(network, margin=0.5, noise=n).choose_boards(*rolled), rolled).mean()
        for n in (0.02, 0.06, 0.15)
    ]
    assert 0 < means[0] < means[1] < means[2]


def test_likes_are_followed(network, rolled):
    def count(**likes):
        mine = -with_habits(network, margin=0.5, **likes).choose_boards(*rolled)[:, 1:25]
        return (mine == 1).sum(), (mine > 1).sum(), np.maximum(mine[:, :6], 0).sum()

    plain = count()
    assert count(blots=0.05)[0] > plain[0] > count(blots=-0.05)[0]
    assert count(points=0.05)[1] > plain[1] > count(points=-0.05)[1]
    assert count(back=0.05)[2] > plain[2] > count(back=-0.05)[2]


def test_habits_are_kept_in_the_bot_file(network, tmp_path, rolled):
    habits = Habits(margin=0.3, noise=0.1, blots=0.01, seed=3)
    file = tmp_path / "weak.safetensors"
    save_checkpoint(file, network, {"habits": habits.as_card()})
    bot = bgai.load(file, bearoff=False)
    assert bot.habits == habits
    wanted = ValueBot(network, name="x", habits=habits).choose_boards(*rolled)
    np.testing.assert_array_equal(bot.choose_boards(*rolled), wanted)
    assert bgai.load("strong", bearoff=False).habits is None


@pytest.mark.parametrize(
    "told",
    [1, [], {}, {"noise": 1}, {"margin": "x"}, {"margin": -1}, {"margin": 1e9}, {"margin": True},
     {"margin": 10**400}, {"margin": 0.1, "noise": float("nan")},
     {"margin": 0.1, "z": 1}, {"margin": 0.1, "seed": -1}, {"margin": 0.1, "seed": 0.5}],
    ids=lambda told: str(told)[:30],
)  # fmt: skip
def test_wrong_habits_are_told(told, network, tmp_path):
    file = tmp_path / "weak.safetensors"
    save_checkpoint(file, network, {"habits": told})
    with pytest.raises(InvalidCheckpoint, match="habits"):
        load_checkpoint(file)


def test_levels_are_in_order():
    strong, normal, beginner = (bgai.load(level, bearoff=False) for level in ("strong", "normal", "beginner"))
    for better, worse in ((strong, normal), (normal, beginner)):
        score = play_match(better, worse, 2000, 6).score
        assert score.mean - score.half_width > 0
