"""The bearoff table against rules played out in plain Python, numbers known by hand, and gnubg's own tables."""

import functools
import itertools
import os
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

from bgai.evaluation import bearoff
from bgai.evaluation.bearoff import (
    POSITIONS,
    bearoff_index,
    bearoff_outcomes,
    build_one_sided,
    cache_folder,
    one_sided,
)
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.plays import legal_plays
from bgai.rules.position import InvalidPosition, Position, start_board

Men = tuple[int, ...]
ROLLS = {(high, low): Fraction(1 if high == low else 2, 36) for high in range(1, 7) for low in range(1, high + 1)}


def positions(most: int) -> list[Men]:
    """All ways to put 1 to `most` men on the points 1 to 6."""
    return [men for men in itertools.product(range(most + 1), repeat=6) if 1 <= sum(men) <= most]


def boards_of(mine, theirs=(1, 0, 0, 0, 0, 0)) -> np.ndarray:
    """Boards [N, 26] of pure bearoffs; both sides' men [N, 6] or [6] on their points 1 to 6."""
    mine, theirs = np.broadcast_arrays(np.array(mine), np.array(theirs))
    boards = np.zeros((*mine.shape[:-1], 26), dtype=np.int8)
    boards[..., 1:7] = mine
    boards[..., 24:18:-1] = -theirs
    return boards.reshape(-1, 26)


def on_points(*points: int) -> Men:
    return tuple(points.count(point) for point in range(1, 7))


@functools.cache
def following(men: Men, roll: tuple[int, int]) -> frozenset[Men]:
    """What the roll can lead to, by the plain rules."""
    plays = legal_plays(Position((0, *men, *(0,) * 19)), roll)
    return frozenset(tuple(-n for n in play.after.men[24:18:-1]) for play in plays)


@functools.cache
def plain_mean(men: Men, leave: int = 0) -> Fraction:
    """Fewest expected rolls until at most `leave` men are left."""
    if sum(men) <= leave:
        return Fraction(0)
    best = {roll: min(plain_mean(after, leave) for after in following(men, roll)) for roll in ROLLS}
    return 1 + sum(chance * best[roll] for roll, chance in ROLLS.items())


@pytest.fixture(scope="module")
def table():
    return build_one_sided()


# One side


def test_every_position_has_its_own_number():
    men = np.array(positions(4))
    numbers = bearoff_index(men)
    assert sorted(numbers) == list(range(1, comb(10, 6)))
    assert bearoff_index(np.zeros(6, dtype=np.int8)) == 0
    assert bearoff_index(np.array(on_points(*[6] * 15))) == POSITIONS - 1 == comb(21, 6) - 1


@pytest.mark.parametrize(
    "men", [[1, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0], [8, 8, 0, 0, 0, 0], [300, 0, 0, 0, 0, 0], [1.0] * 6, 3]
)
def test_men_that_cannot_be_are_refused(table, men):
    with pytest.raises(ValueError, match="men"):
        table.mean_rolls(np.array(men))


def test_expected_rolls_of_up_to_four_men_are_those_of_the_plain_rules(table):
    for men in positions(4):
        assert table.mean_rolls(np.array(men)) == pytest.approx(float(plain_mean(men)), rel=1e-6), men


def test_chance_to_bear_off_in_one_roll_by_trying_every_play(table):
    men = np.array(positions(3))
    dice = np.array(list(itertools.product(range(1, 7), repeat=2)), dtype=np.int8)
    rows, starts = afterstates(np.repeat(boards_of(men), 36, axis=0), np.tile(dice, (len(men), 1)))
    all_off = (rows[:, 19:25] == 0).all(axis=1)
    rolls_that_do = np.logical_or.reduceat(all_off, starts[:-1]).reshape(-1, 36).sum(axis=1)
    np.testing.assert_allclose(table.rolls[bearoff_index(men), 1], rolls_that_do / 36, rtol=1e-6)


def test_two_men_off_in_one_roll_as_players_know_it(table):
    # Of 36 rolls, the table that stands in backgammon books.
    known = {
        (1, 1): 36, (2, 1): 36, (3, 1): 34, (4, 1): 29, (5, 1): 23, (6, 1): 15,
        (2, 2): 26, (3, 2): 25, (4, 2): 23, (5, 2): 19, (6, 2): 13,
        (3, 3): 17, (4, 3): 17, (5, 3): 14, (6, 3): 10,
        (4, 4): 11, (5, 4): 10, (6, 4): 8, (5, 5): 6, (6, 5): 6, (6, 6): 4,
    }  # fmt: skip
    for points, rolls in known.items():
        assert table.rolls[bearoff_index(np.array(on_points(*points))), 1] * 36 == pytest.approx(rolls), points


def test_effective_pips_known_by_hand(table):
    assert table.effective_pips(np.array(on_points(1))) == pytest.approx(49 / 6)
    assert table.effective_pips(np.array(on_points(6))) == pytest.approx(49 / 6 * 45 / 36)  # 9 rolls of 36 miss
    assert table.effective_pips(np.zeros(6, dtype=int)) == 0
    # A stack on the ace point loses four men to a double and two to any other roll.
    rolls = [Fraction(0)] * 4
    for _ in range(15):
        rolls.append(1 + Fraction(5, 6) * rolls[-2] + Fraction(1, 6) * rolls[-4])
    stacks = np.zeros((15, 6), dtype=int)
    stacks[:, 0] = range(1, 16)
    np.testing.assert_allclose(table.effective_pips(stacks) * 6 / 49, [float(n) for n in rolls[4:]], rtol=1e-6)
    # Trice's rule: seven for each roll without doubles, and one.
    np.testing.assert_allclose(table.effective_pips(stacks[3::2]), 7 * np.arange(2, 8) + 1, atol=0.03)


def test_the_chances_of_every_position_are_whole(table):
    assert table.rolls.shape == (POSITIONS, bearoff.MOST_ROLLS + 1)
    assert (table.rolls >= 0).all() and (table.first >= 0).all()
    np.testing.assert_allclose(table.rolls.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(table.first.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(table.rolls @ np.arange(bearoff.MOST_ROLLS + 1), table.mean, rtol=1e-6)
    assert table.rolls[:, -1].max() < 1e-9 and table.first[:, -1].max() < 1e-9


def test_one_man_fewer_never_needs_more_rolls(table):
    men = np.array(positions(6))
    means = table.mean_rolls(men)
    for point in range(6):
        here = men[:, point] > 0
        fewer = men[here] - np.eye(6, dtype=int)[point]
        assert (table.mean_rolls(fewer) <= means[here] + 1e-6).all()


def test_expected_rolls_to_the_first_man_are_those_of_the_plain_rules(table):
    full = POSITIONS - len(table.first)
    for men in ((1, 0, 14, 0, 0, 0), (0, 15, 0, 0, 0, 0), (0, 0, 9, 6, 0, 0), (0, 0, 0, 15, 0, 0)):
        chances = table.first[bearoff_index(np.array(men)) - full]
        assert chances @ np.arange(len(chances)) == pytest.approx(float(plain_mean(men, leave=14)), rel=1e-6), men
    ready = table.first[bearoff_index(np.array((1, 0, 14, 0, 0, 0))) - full]
    assert ready[1] == pytest.approx(35 / 36)  # only 2-2 takes no man off


def test_gnubgs_table_says_the_same(table):
    gnubg = pytest.importorskip("gnubg_nn")
    men = np.array([gnubg.bearoff_id_2_pos(number) for number in range(1, POSITIONS)])
    assert (bearoff_index(men) == np.arange(1, POSITIONS)).all()
    theirs = np.zeros((POSITIONS, table.rolls.shape[1]))
    theirs[0, 0] = 1
    for number in range(1, POSITIONS):
        chances = gnubg.bearoff_probabilities(number)
        theirs[number, 1 : 1 + len(chances)] = chances
    # gnubg's are rounded to 1/65535; in a few positions plays as fast as each other differ in their chances.
    differences = np.abs(table.rolls - theirs).max(axis=1)
    assert np.quantile(differences, 0.99) < 1e-4 and differences.max() < 0.004
    np.testing.assert_allclose(table.mean, theirs @ np.arange(theirs.shape[1]), atol=3e-4)


# Both sides


@functools.cache
def plain_win_chance(mine: Men, theirs: Men) -> Fraction:
    """Chance of the player to roll when both know the other's men and play for the win."""
    if not sum(theirs):
        return Fraction(0)
    total = Fraction(0)
    for roll, chance in ROLLS.items():
        after = following(mine, roll)
        won = any(not sum(men) for men in after)
        total += chance if won else chance * max(1 - plain_win_chance(theirs, men) for men in after)
    return total


def test_chances_of_winning_against_best_play_of_both(table):
    men = positions(2)
    exact = np.array([[float(plain_win_chance(mine, theirs)) for theirs in men] for mine in men])
    ours = table.win_chance(np.array(men)[:, None], np.array(men))
    assert ours.shape == exact.shape
    errors = np.abs(ours - exact)
    single = np.array(men).sum(axis=1) == 1  # one man has no choice that matters
    assert errors[single][:, single].max() < 1e-6
    assert errors.mean() < 1e-5 and errors.max() < 5e-4


def test_chances_of_winning_against_gnubg(table):
    gnubg = pytest.importorskip("gnubg_nn")
    from bgai.referees import gnubg_boards

    rng = np.random.default_rng(5)
    for most, plies, mean, worst in ((15, gnubg.p_1sbear, 3e-5, 3e-4), (6, gnubg.p_bearoff, 2e-3, 0.015)):
        numbers = rng.integers(1, comb(most + 6, 6), size=(2_000, 2)).tolist()
        mine, theirs = (np.array([gnubg.bearoff_id_2_pos(pair[side]) for pair in numbers]) for side in (0, 1))
        mask, outcomes = bearoff_outcomes(table, boards_of(mine, theirs))
        assert mask.all()
        known = [gnubg.probabilities(lists, plies)[0] for lists in gnubg_boards(boards_of(mine, theirs))]
        errors = np.abs(outcomes[:, :3].sum(axis=1) - known)
        assert errors.mean() < mean and errors.max() < worst
        np.testing.assert_allclose(outcomes[:, :3].sum(axis=1), table.win_chance(mine, theirs), atol=1e-6)


def test_gammons_known_by_hand(table):
    stuck, quick = on_points(1, *[3] * 14), on_points(1)
    four = on_points(1, 1, 1, 1)

    def chances(mine, theirs):
        mask, outcomes = bearoff_outcomes(table, boards_of(mine, theirs))
        assert mask.all() and outcomes.sum() == pytest.approx(1, abs=1e-6)
        return outcomes[0]

    np.testing.assert_allclose(chances(quick, stuck), [0, 1, 0, 0, 0, 0], atol=1e-6)
    # Off at once with a double; else the opponent misses with 2-2 alone, and the next roll ends it.
    gammon = 1 / 6 + 5 / 6 / 36
    np.testing.assert_allclose(chances(four, stuck), [1 - gammon, gammon, 0, 0, 0, 0], atol=1e-6)
    # The same for him who has yet to roll: his 35 of 36 rolls save the gammon, and after the miss he may lose it.
    np.testing.assert_allclose(chances(stuck, quick), [0, 0, 0, 35 / 36, 1 / 36, 0], atol=1e-6)
    assert chances(on_points(1, *[3] * 13), quick)[4] == 0


def test_only_pure_bearoffs_are_valued(table, game_positions, scattered_positions):
    boards = np.concatenate([game_positions(3_000, 1)[0], scattered_positions(3_000, 2)[0]])
    mask, outcomes = bearoff_outcomes(table, boards)
    home_alone = [
        max(men[7:]) <= 0 <= min(men[:19]) and max(men[1:7]) > 0 > min(men[19:25]) for men in boards.tolist()
    ]
    assert 50 < mask.sum() < len(boards) and mask.tolist() == home_alone
    assert outcomes.dtype == np.float32 and (outcomes >= 0).all()
    np.testing.assert_allclose(outcomes.sum(axis=1), mask, atol=1e-6)
    assert not outcomes[~mask].any()


def test_a_game_that_is_over_has_its_exact_outcome(table):
    boards = boards_of([on_points(6), on_points(*[2] * 15)], (0,) * 6)
    mask, outcomes = bearoff_outcomes(table, boards)
    assert mask.all() and points_lost_many(boards).tolist() == [1, 2]
    np.testing.assert_array_equal(outcomes, [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]])
    assert not bearoff_outcomes(table, boards_of((0,) * 6))[0].any()


def test_boards_are_checked_and_there_may_be_none(table):
    with pytest.raises(InvalidPosition, match=r"boards\[0\]"):
        bearoff_outcomes(table, boards_of(on_points(*[1] * 16)))
    mask, outcomes = bearoff_outcomes(table, np.zeros((0, 26), dtype=np.int8))
    assert mask.shape == (0,) and outcomes.shape == (0, 6)
    assert not bearoff_outcomes(table, start_board()[None])[0].any()


# The file


def same(one, other) -> bool:
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("rolls", "first", "mean"))


def test_the_table_is_kept_in_a_file(table, tmp_path, monkeypatch):
    monkeypatch.setenv("BGAI_HOME", str(tmp_path / "home"))
    assert same(one_sided(), table)
    [file] = (tmp_path / "home").iterdir()
    assert file.stat().st_size < 7_000_000
    written = file.stat().st_mtime_ns
    assert same(one_sided(), table)
    assert file.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", ["one bit", "cut", "empty", "text", "another file"])
def test_a_damaged_file_is_built_anew(table, tmp_path, damage):
    one_sided(tmp_path)
    [file] = tmp_path.iterdir()
    whole = file.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "one bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "cut": whole[:middle],
        "empty": b"",
        "text": b"this is no table",
        "another file": whole.replace(b"bgai-bearoff", b"bgai-somebot"),
    }[damage]
    file.write_bytes(damaged)
    assert same(one_sided(tmp_path), table)
    assert file.stat().st_size == len(whole) and list(tmp_path.iterdir()) == [file]
    mended = file.stat().st_mtime_ns
    assert same(one_sided(tmp_path), table) and file.stat().st_mtime_ns == mended


def test_a_folder_that_cannot_be_written_does_no_harm(table, tmp_path):
    (tmp_path / "file").write_text("")
    assert same(one_sided(tmp_path / "file"), table)
    assert same(one_sided(tmp_path / "file" / "folder"), table)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other folders")
def test_where_the_file_lies(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder({"BGAI_HOME": "/here", "XDG_CACHE_HOME": "/there"}) == Path("/here")
    assert cache_folder({"XDG_CACHE_HOME": "/there"}) == Path("/there/bgai")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "bgai" == cache_folder({})
