"""The public API: what a front end gets from `import bgai`, with random networks and with the shipped bots."""

from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.arena import play_match
from bgai.bots import LEVELS, Bot, ValueBot, open_bot
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding, encoding_names
from bgai.evaluation.network import Network
from bgai.evaluation.search import set_certain

POINTS_OF = (1, 2, 3, -1, -2, -3)


def save_random_bot(path: Path, name: str, hidden: tuple[int, ...] = (40, 16), seed: int = 1) -> Path:
    """A bot file with random weights that give varied chances."""
    inputs = encoding(name)
    rng = np.random.default_rng(seed)
    given = (inputs.width, hidden[0] + inputs.extras, *hidden[1:])
    layers = tuple(
        (rng.normal(0, 0.4, (m, n)).astype(np.float32), rng.normal(0, 0.4, m).astype(np.float32))
        for n, m in zip(given, (*hidden, 6), strict=True)
    )
    save_checkpoint(path, Network(inputs, layers), {"name": "wild", "description": "random weights"})
    return path


@pytest.fixture(scope="module", params=encoding_names())
def bot(request, tmp_path_factory) -> ValueBot:
    """A bot with random weights, loaded from its file."""
    return bgai.load(save_random_bot(tmp_path_factory.mktemp("bots") / "wild.safetensors", request.param))


def pairs(boards: np.ndarray, dice: np.ndarray) -> list[tuple[bgai.Position, tuple[int, int]]]:
    return [
        (bgai.Position(men), (int(high), int(low)))
        for men, (high, low) in zip(boards.tolist(), dice.tolist(), strict=True)
    ]


@pytest.fixture(scope="module")
def rolled(game_positions, scattered_positions) -> tuple[np.ndarray, np.ndarray]:
    """Boards [n, 26] and dice [n, 2] from games and from scattered men."""
    parts = game_positions(90, 11), scattered_positions(90, 12)
    return np.concatenate([boards for boards, _ in parts]), np.concatenate([dice for _, dice in parts])


def test_what_the_readme_promises_to_front_ends(bot):
    pos = bgai.Position.start()
    assert pos.board.dtype == np.int8 and pos.board.shape == (26,)
    assert pos.pips == (167, 167)
    assert pos.id == "4HPwATDgc/ABMA"
    assert bgai.Position.from_id(pos.id) == pos

    plays = bgai.legal_plays(pos, (3, 1))
    assert len(plays) == 16
    five_point = next(play for play in plays if str(play) == "8/5 6/5")
    assert sorted(tuple(move) for move in five_point.moves) == [(6, 5), (8, 5)]
    assert five_point.after.turned().board[[5, 6, 8]].tolist() == [2, 4, 2]
    assert bgai.parse_play("6-5, 8-5", pos, (3, 1)) == five_point

    assert bot.choose(pos, (3, 1)) in plays
    play, outcomes, equity = bot.rank(pos, (3, 1))[0]
    assert play in plays and isinstance(equity, float)
    assert isinstance(outcomes, bgai.Outcomes) and isinstance(bot.evaluate(pos), bgai.Outcomes)
    assert list(outcomes._asdict()) == ["win", "gammon", "backgammon", "loss", "gammon_loss", "backgammon_loss"]

    boards = np.repeat(pos.board[None], 3, axis=0)
    dice = np.array([[3, 1], [6, 5], [2, 2]])
    after, starts = bgai.afterstates(boards, dice)
    assert after.shape == (starts[-1], 26) and np.diff(starts).tolist() == [16, 7, 75]
    chosen = bot.choose_boards(boards, dice)
    assert chosen.shape == (3, 26) and chosen.dtype == np.int8
    for i in range(3):
        assert chosen[i].tolist() in after[starts[i] : starts[i + 1]].tolist()


def test_choose_rank_and_choose_boards_agree(bot, rolled):
    boards, dice = rolled
    chosen = bot.choose_boards(boards, dice)
    for (pos, roll), after in zip(pairs(boards, dice), chosen.tolist(), strict=True):
        play = bot.choose(pos, roll)
        assert play == bot.rank(pos, roll)[0][0]
        assert list(play.after.men) == after
        assert play == bot.choose(pos, roll[::-1])  # dice have no order


def test_rank_has_every_legal_play_once_best_first(bot, rolled):
    for pos, roll in pairs(*rolled):
        ranking = bot.rank(pos, roll)
        assert sorted(str(play) for play, _, _ in ranking) == sorted(map(str, bgai.legal_plays(pos, roll)))
        equities = [equity for _, _, equity in ranking]
        assert equities == sorted(equities, reverse=True)
        for play, outcomes, equity in ranking:
            assert sum(outcomes) == pytest.approx(1, abs=1e-6) and min(outcomes) >= 0
            by_hand = sum(chance * points for chance, points in zip(outcomes, POINTS_OF, strict=True))
            assert equity == pytest.approx(by_hand, abs=1e-6) == outcomes.equity
            # What a play is worth is what the opponent's position is worth to him, turned.
            assert outcomes == pytest.approx(bot.evaluate(play.after).turned(), abs=1e-5)


def test_evaluate_is_the_network_computed_the_plain_way(bot, rolled):
    boards, _ = rolled
    inputs = bot.network.encoding.encode(boards).astype(np.float64)
    values, extras = np.split(inputs, [bot.network.encoding.width], axis=1)
    for number, (weights, bias) in enumerate(bot.network.layers):
        values = np.maximum(values, 0) if number else values
        if number == 1:
            values = np.concatenate([values, extras], axis=1)
        values = values @ weights.T.astype(np.float64) + bias
    chances = np.exp(values - values.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    for men, expected in zip(boards.tolist(), chances, strict=True):
        # Who has borne off a man cannot lose a gammon.
        if sum(n for n in men if n > 0) < 15:
            expected[3:] = expected[3:].sum(), 0, 0
        if -sum(n for n in men if n < 0) < 15:
            expected[:3] = expected[:3].sum(), 0, 0
        assert bot.evaluate(bgai.Position(men)) == pytest.approx(expected, abs=1e-5)


def test_a_choice_does_not_depend_on_the_batch(bot, rolled):
    boards, dice = rolled
    chosen = bot.choose_boards(boards, dice)
    order = np.random.default_rng(3).permutation(len(boards))
    np.testing.assert_array_equal(bot.choose_boards(boards[order], dice[order]), chosen[order])
    for begin, end in ((0, 1), (7, 8), (50, 83)):
        np.testing.assert_array_equal(bot.choose_boards(boards[begin:end], dice[begin:end]), chosen[begin:end])
    twice = np.repeat(boards, 2, axis=0), np.repeat(dice, 2, axis=0)
    np.testing.assert_array_equal(bot.choose_boards(*twice), np.repeat(chosen, 2, axis=0))


def test_values_do_not_depend_on_the_batch_to_the_bit(bot, rolled):
    boards, _ = rolled
    together = bot.network.outcomes_of(boards)
    set_certain(boards, together)
    for i in range(0, len(boards), 7):
        assert bot.evaluate(bgai.Position(boards[i].tolist())) == tuple(together[i].tolist())


def test_a_bot_is_deterministic_and_leaves_its_arguments_alone(tmp_path, rolled):
    boards, dice = rolled
    file = save_random_bot(tmp_path / "wild.safetensors", "men196")
    before = boards.copy(), dice.copy()
    chosen = bgai.load(file).choose_boards(boards, dice)
    np.testing.assert_array_equal(bgai.load(str(file)).choose_boards(boards, dice), chosen)
    np.testing.assert_array_equal(boards, before[0])
    np.testing.assert_array_equal(dice, before[1])


def test_arrays_of_any_whole_kind_and_order_are_taken(bot, rolled):
    boards, dice = rolled
    chosen = bot.choose_boards(boards, dice)
    for kind in (np.int16, np.int64):
        np.testing.assert_array_equal(bot.choose_boards(boards.astype(kind), dice.astype(kind)), chosen)
    np.testing.assert_array_equal(bot.choose_boards(np.asfortranarray(boards), dice[:, ::-1]), chosen)
    np.testing.assert_array_equal(bot.choose_boards(boards.tolist(), dice.tolist()), chosen)


@pytest.mark.parametrize("name", ["wild", "random", "pubeval", "gnubg:0", "bgsage:1"])
def test_no_boards_give_no_boards(name, bot):
    if ":" in name or name == "pubeval":
        pytest.importorskip("bgsage" if name.startswith("bgsage") else "gnubg_nn")
    player: Bot = bot if name == "wild" else open_bot(name)
    boards, dice = np.empty((0, 26), dtype=np.int8), np.empty((0, 2), dtype=np.int8)
    chosen = player.choose_boards(boards, dice)
    assert chosen.shape == (0, 26) and chosen.dtype == np.int8
    after, starts = bgai.afterstates(boards, dice)
    assert after.shape == (0, 26) and starts.tolist() == [0]


# Finished games


def position(men: dict[int, int]) -> bgai.Position:
    """Men by index; the others are borne off."""
    return bgai.Position([men.get(index, 0) for index in range(26)])


# The opponent's home is points 19 to 24 of the mover, whose own is 1 to 6.
LOST = {
    "single": ({1: 1}, 1),
    "single with a man on the bar, as one is off": ({25: 1, 20: 13}, 1),
    "gammon": ({18: 15}, 2),
    "gammon close to home": ({1: 15}, 2),
    "backgammon in his home": ({19: 1, 1: 14}, 3),
    "backgammon on the bar": ({25: 1, 6: 14}, 3),
    "nobody has men left: the other moved last": ({}, 1),
}


@pytest.mark.parametrize(("men", "points"), LOST.values(), ids=LOST.keys())
def test_finished_games_are_exact_for_both_players(bot, men, points):
    lost = position(men)
    exact = [0.0] * 6
    exact[2 + points] = 1.0
    assert bot.evaluate(lost) == tuple(exact)
    assert bot.evaluate(lost).equity == -points
    if men:
        assert bot.evaluate(lost.turned()) == tuple(exact[3:] + exact[:3])
        assert bot.evaluate(lost.turned()).equity == points


@pytest.mark.parametrize(
    ("opponent", "points"),
    [({24: -14}, 1), ({24: -15}, 2), ({7: -1, 24: -14}, 2), ({3: -1, 24: -14}, 3), ({0: -1, 24: -14}, 3)],
)
def test_a_winning_play_is_ranked_with_its_exact_outcome(bot, opponent, points):
    # 6/off 1/off wins at once; 6/5/off leaves the man on point 1.
    pos = position({6: 1, 1: 1, **opponent})
    ranking = bot.rank(pos, (6, 1))
    assert len(ranking) == 2
    [(play, outcomes, equity)] = [entry for entry in ranking if len(set(entry[0].moves)) == 2 and entry[2] == points]
    assert sorted(tuple(move) for move in play.moves) == [(1, 0), (6, 0)]
    assert outcomes[points - 1] == 1 and sum(outcomes) == 1
    if points == 3:  # nothing is worth more, whatever these random weights think of the other play
        assert ranking[0][0] == play == bot.choose(pos, (6, 1))


@pytest.mark.parametrize("over", [position({1: 1}), position({1: 1}).turned(), position({})])
def test_nothing_is_chosen_when_the_game_is_over(bot, over):
    for ask in (bot.choose, bot.rank):
        with pytest.raises(ValueError, match="the game is over"):
            ask(over, (3, 1))


def test_a_roll_without_a_legal_play_gives_no_play(bot):
    closed = position({25: 1, 13: 14, **{point: -2 for point in range(19, 25)}, 1: -3})
    for player in (bot, open_bot("random")):
        play = player.choose(closed, (6, 5))
        assert play.moves == () and str(play) == "no play" and play.after == closed.turned()
    [(play, outcomes, equity)] = bot.rank(closed, (3, 3))
    assert play.moves == () and play.after == closed.turned()
    assert equity == pytest.approx(-bot.evaluate(closed.turned()).equity, abs=1e-5)
    np.testing.assert_array_equal(
        bot.choose_boards(closed.board[None], np.array([[6, 5]])), closed.turned().board[None]
    )


# Wrong input


@pytest.mark.parametrize("dice", [(0, 1), (3, 7), (3,), (1, 2, 3), (2.0, 1), "31", None, (True, 1)])
def test_wrong_dice_are_refused_in_one_sentence(bot, dice):
    for ask in (bot.choose, bot.rank, bgai.legal_plays):
        with pytest.raises(ValueError, match="a roll is two whole numbers from 1 to 6") as error:
            ask(bgai.Position.start(), dice)
        assert "\n" not in str(error.value)


START = bgai.Position.start().board[None]


@pytest.mark.parametrize(
    ("boards", "dice", "sentence"),
    [
        (START, [[3, 7]], "dice must be whole numbers from 1 to 6"),
        (START, [[0, 3]], "dice must be whole numbers from 1 to 6"),
        (START, [[3.0, 1.0]], "dice must be whole numbers from 1 to 6"),
        (START, [3, 1], r"dice must have the shape \[1, 2\]"),
        (START, [[3, 1], [3, 1]], r"dice must have the shape \[1, 2\]"),
        (START[0], [[3, 1]], r"boards must have the shape \[B, 26\], not \[26\]"),
        (START[:, :24], [[3, 1]], r"boards must have the shape \[B, 26\], not \[1, 24\]"),
        (START.astype(float), [[3, 1]], "boards must hold whole numbers"),
        (START * 2, [[3, 1]], r"boards\[0\]: the player to roll has 30 men"),
        (-START[:, ::-1] + np.eye(26, dtype=np.int8)[0], [[3, 1]], r"boards\[0\]: index 0 is the opponent's bar"),
    ],
)
def test_wrong_arrays_are_refused_in_one_sentence(bot, boards, dice, sentence):
    for ask in (bot.choose_boards, bgai.afterstates):
        with pytest.raises(ValueError, match=sentence) as error:
            ask(boards, np.array(dice))
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("stong", bgai.UnknownBot, "there is no bot 'stong': give beginner, normal, strong"),
        ("random", bgai.UnknownBot, "bgai.bots.open_bot also take random"),
        ("missing.safetensors", FileNotFoundError, "there is no bot file missing.safetensors"),
        ("no/where", FileNotFoundError, "there is no bot file"),
        (".", bgai.UnknownBot, "is no training run"),
        ("text.safetensors", bgai.InvalidCheckpoint, "text.safetensors"),
    ],
)
def test_what_cannot_be_loaded_says_why(tmp_path, monkeypatch, name, kind, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.safetensors").write_text("this is no bot")
    with pytest.raises(kind, match=sentence) as error:
        bgai.load(name)
    assert "\n" not in str(error.value)


def test_a_run_folder_gives_its_strong_bot_or_else_its_newest(tmp_path):
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    for games, seed in ((5000, 2), (20000, 3)):
        save_random_bot(run / "checkpoints" / f"games-{games:09d}.safetensors", "men196", seed=seed)
    newest = bgai.load(run / "checkpoints" / "games-000020000.safetensors")
    assert bgai.load(run).evaluate(bgai.Position.start()) == newest.evaluate(bgai.Position.start())
    (run / "bots").mkdir()
    strong = bgai.load(save_random_bot(run / "bots" / "strong.safetensors", "men196", seed=4))
    assert bgai.load(run).evaluate(bgai.Position.start()) == strong.evaluate(bgai.Position.start())


def test_a_bot_of_ones_own_needs_one_method():
    class FirstBot(Bot):
        name = "first"

        def choose_boards(self, boards, dice):
            after, starts = bgai.afterstates(boards, dice)
            return after[starts[:-1]]

    assert FirstBot().choose(bgai.Position.start(), (3, 1)) in bgai.legal_plays(bgai.Position.start(), (3, 1))
    assert play_match(FirstBot(), FirstBot(), 10, seed=1).score.mean == 0

    class CheatingBot(FirstBot):
        def choose_boards(self, boards, dice):
            return boards

    with pytest.raises(ValueError, match="first chose a board that no legal play"):
        CheatingBot().choose(bgai.Position.start(), (3, 1))


# The shipped bots


@pytest.mark.parametrize("name", LEVELS)
def test_shipped_bots_say_what_they_are(name):
    bot = bgai.load(name)
    assert bot.name == name
    assert bot.description
    assert bot.card["games"] >= 1 and "[learning]" in bot.card["config"]
    for score in bot.card["strength"].values():
        assert score["games"] >= 1000 and abs(score["points_per_game"]) < 3 and 0 < score["interval"] < 0.2


@pytest.mark.parametrize("name", ["normal", "strong"])
def test_shipped_bots_know_what_the_start_is_worth(name):
    outcomes = bgai.load(name).evaluate(bgai.Position.start())
    # Rollouts of strong programs: the player to roll wins 52 to 53 % and about +0.07 points, 27 % are gammons.
    assert 0.49 < outcomes.win_chance < 0.57
    assert -0.02 < outcomes.equity < 0.2
    if name == "strong":
        assert 0.15 < outcomes.cumulative[1] + outcomes.cumulative[3] < 0.4


@pytest.mark.parametrize("name", ["normal", "strong"])
def test_it_is_good_to_be_the_one_to_roll(game_positions, name):
    boards, _ = game_positions(300, 5)
    bot = bgai.load(name)
    values = [[bot.evaluate(p).equity, bot.evaluate(p.turned()).equity] for p in (bgai.Position(b) for b in boards)]
    gained = np.sum(values, axis=1)
    assert gained.mean() > 0.02
    assert (gained > -0.3).mean() > 0.98


@pytest.mark.parametrize("name", LEVELS)
def test_shipped_bots_see_who_is_winning(name):
    bot = bgai.load(name)
    # A race: 8 pips left against 60, and the same seen by the other player.
    ahead = position({1: 2, 2: 3, 19: -5, 20: -5, 21: -5})
    assert bot.evaluate(ahead).win_chance > 0.9
    assert bot.evaluate(ahead.turned()).win_chance < 0.3


@pytest.mark.parametrize(
    ("roll", "best"), [((3, 1), "8/5 6/5"), ((4, 2), "8/4 6/4"), ((6, 1), "13/7 8/7"), ((5, 3), "8/3 6/3")]
)
def test_the_strong_bot_makes_the_point_in_the_opening(roll, best):
    assert str(bgai.load("strong").choose(bgai.Position.start(), roll)) == best


@pytest.mark.parametrize(
    ("better", "worse"), [("strong", "beginner"), ("normal", "beginner"), ("beginner", "random")]
)
def test_the_levels_are_graded(better, worse):
    mean, half_width = play_match(open_bot(better), open_bot(worse), 2000, seed=9).score
    assert mean - half_width > 0


def test_a_man_borne_off_saves_the_gammon(bot):
    saved = bgai.Position([0, 14] + [0] * 22 + [-15, 0])
    assert bot.evaluate(saved).gammon_loss == bot.evaluate(saved).backgammon_loss == 0
    assert sum(bot.evaluate(saved)) == pytest.approx(1, abs=1e-6)
    assert bot.evaluate(saved.turned()).gammon == bot.evaluate(saved.turned()).backgammon == 0
