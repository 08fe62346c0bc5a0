"""The bearoff tables against rules played out in plain Python, numbers known by hand, and gnubg's own tables."""

import functools
import itertools
import json
import os
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest

import bgai
from bgai.bots import ValueBot
from bgai.cli import main
from bgai.evaluation import bearoff
from bgai.evaluation.bearoff import POSITIONS, OneSided, bearoff_index
from bgai.evaluation.bearoff_tables import (
    FILE,
    BearoffTables,
    DamagedTables,
    bearoff_outcomes,
    build_tables,
    cache_folder,
    exact_outcomes,
    open_tables,
    read_tables,
    write_tables,
)
from bgai.evaluation.checkpoint import save_checkpoint
from bgai.evaluation.encoding import encoding
from bgai.evaluation.network import Network
from bgai.evaluation.search import equities
from bgai.evaluation.two_sided import MOST_MEN, Cube, TwoSided, build_two_sided, positions_of
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
def tables():
    return build_tables()


@pytest.fixture(scope="module")
def table(tables):
    return tables.one


@pytest.fixture(scope="module")
def two(tables):
    return tables.two


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


# Both sides, each for itself


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


def test_chances_of_winning_against_gnubg(tables):
    gnubg = pytest.importorskip("gnubg_nn")
    from bgai.referees import gnubg_boards

    rng = np.random.default_rng(5)
    for most, plies, mean, worst in ((15, gnubg.p_1sbear, 3e-5, 3e-4), (6, gnubg.p_bearoff, 5e-5, 3e-4)):
        numbers = rng.integers(1, comb(most + 6, 6), size=(2_000, 2))
        numbers = numbers[(numbers.max(axis=1) >= positions_of(6)) == (most == 15)].tolist()
        mine, theirs = (np.array([gnubg.bearoff_id_2_pos(pair[side]) for pair in numbers]) for side in (0, 1))
        mask, outcomes = bearoff_outcomes(tables, boards_of(mine, theirs))
        assert mask.all() and len(mask) > 1_900
        known = [gnubg.probabilities(lists, plies)[0] for lists in gnubg_boards(boards_of(mine, theirs))]
        errors = np.abs(outcomes[:, :3].sum(axis=1) - known)
        assert errors.mean() < mean and errors.max() < worst
        used = tables.one if most == 15 else tables.two
        np.testing.assert_allclose(outcomes[:, :3].sum(axis=1), used.win_chance(mine, theirs), atol=1e-6)


def test_gammons_known_by_hand(tables):
    stuck, quick = on_points(1, *[3] * 14), on_points(1)
    four = on_points(1, 1, 1, 1)

    def chances(mine, theirs):
        mask, outcomes = bearoff_outcomes(tables, boards_of(mine, theirs))
        assert mask.all() and outcomes.sum() == pytest.approx(1, abs=1e-6)
        return outcomes[0]

    np.testing.assert_allclose(chances(quick, stuck), [0, 1, 0, 0, 0, 0], atol=1e-6)
    # Off at once with a double; else the opponent misses with 2-2 alone, and the next roll ends it.
    gammon = 1 / 6 + 5 / 6 / 36
    np.testing.assert_allclose(chances(four, stuck), [1 - gammon, gammon, 0, 0, 0, 0], atol=1e-6)
    # The same for him who has yet to roll: his 35 of 36 rolls save the gammon, and after the miss he may lose it.
    np.testing.assert_allclose(chances(stuck, quick), [0, 0, 0, 35 / 36, 1 / 36, 0], atol=1e-6)
    assert chances(on_points(1, *[3] * 13), quick)[4] == 0


def test_only_pure_bearoffs_are_valued(tables, game_positions, scattered_positions):
    boards = np.concatenate([game_positions(3_000, 1)[0], scattered_positions(3_000, 2)[0]])
    mask, outcomes = bearoff_outcomes(tables, boards)
    home_alone = [
        max(men[7:]) <= 0 <= min(men[:19]) and max(men[1:7]) > 0 > min(men[19:25]) for men in boards.tolist()
    ]
    assert 50 < mask.sum() < len(boards) and mask.tolist() == home_alone
    assert outcomes.dtype == np.float32 and (outcomes >= 0).all()
    np.testing.assert_allclose(outcomes.sum(axis=1), mask, atol=1e-6)
    assert not outcomes[~mask].any()


def test_a_game_that_is_over_has_its_exact_outcome(tables):
    boards = boards_of([on_points(6), on_points(*[2] * 15)], (0,) * 6)
    mask, outcomes = bearoff_outcomes(tables, boards)
    assert mask.all() and points_lost_many(boards).tolist() == [1, 2]
    np.testing.assert_array_equal(outcomes, [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]])
    assert not bearoff_outcomes(tables, boards_of((0,) * 6))[0].any()


def test_boards_are_checked_and_there_may_be_none(tables):
    with pytest.raises(InvalidPosition, match=r"boards\[0\]"):
        bearoff_outcomes(tables, boards_of(on_points(*[1] * 16)))
    mask, outcomes = bearoff_outcomes(tables, np.zeros((0, 26), dtype=np.int8))
    assert mask.shape == (0,) and outcomes.shape == (0, 6)
    assert not bearoff_outcomes(tables, start_board()[None])[0].any()


# Both sides, each knowing the other

SEEN_BY_THE_OTHER = {
    Cube.NONE: Cube.NONE,
    Cube.CENTRED: Cube.CENTRED,
    Cube.MINE: Cube.THEIRS,
    Cube.THEIRS: Cube.MINE,
}


@functools.cache
def plain_hold(mine: Men, theirs: Men, cube: Cube) -> Fraction:
    """Equity of the player to roll who does not double, by the rules of the game and of the cube."""
    if not sum(theirs):
        return Fraction(-1)
    other = SEEN_BY_THE_OTHER[cube]
    return sum(
        chance * max(-plain_equity(theirs, men, other) for men in following(mine, roll))
        for roll, chance in ROLLS.items()
    )


def plain_equity(mine: Men, theirs: Men, cube: Cube) -> Fraction:
    hold = plain_hold(mine, theirs, cube)
    if not sum(theirs) or cube in (Cube.NONE, Cube.THEIRS):
        return hold
    return max(hold, min(2 * plain_hold(mine, theirs, Cube.THEIRS), Fraction(1)))


@pytest.mark.parametrize("men", [2, 6])
def test_equities_are_those_of_the_plain_rules(two, men):
    table = two if men == 6 else build_two_sided(men)
    assert table.men == men and table.hold.dtype == np.float32
    assert table.hold.shape == (positions_of(men), positions_of(men), 4)
    for mine, theirs in itertools.product(positions(2), repeat=2):
        for cube in Cube:
            exact = float(plain_equity(mine, theirs, cube))
            assert table.equity(np.array(mine), np.array(theirs), cube) == pytest.approx(exact, abs=1e-6)
            known = table.hold[bearoff_index(np.array(mine)), bearoff_index(np.array(theirs)), cube]
            assert known == pytest.approx(float(plain_hold(mine, theirs, cube)), abs=1e-6)


def test_every_entry_follows_from_those_that_the_plays_lead_to(tables, two):
    rng = np.random.default_rng(7)
    all_men = np.array(positions(6))
    mine, theirs = all_men[rng.integers(0, len(all_men), (2, 400))]
    expected, chosen_by_speed = np.zeros((4, 400)), np.zeros(400)
    for (high, low), chance in ROLLS.items():
        rows, starts = afterstates(boards_of(mine, theirs), np.tile(np.array([high, low], dtype=np.int8), (400, 1)))
        his, mine_after = rows[:, 1:7], -rows[:, 24:18:-1]
        for cube in Cube:
            after = -two.equity(his, mine_after, SEEN_BY_THE_OTHER[cube])
            expected[cube] += float(chance) * np.maximum.reduceat(after, starts[:-1])
            if cube == Cube.NONE:
                fewest = [
                    after[start + np.argmin(tables.one.mean_rolls(mine_after[start:end]))]
                    for start, end in itertools.pairwise(starts)
                ]
                chosen_by_speed += float(chance) * np.array(fewest)
    found = two.hold[bearoff_index(mine), bearoff_index(theirs)]
    np.testing.assert_allclose(found, expected.T, atol=1e-6)
    by_speed = expected[Cube.NONE] - chosen_by_speed
    assert by_speed.min() > -1e-6 and 0 < by_speed.max() < 0.04  # playing for speed alone is never better


def test_the_last_roll_is_doubled_from_half_and_passed_from_three_quarters(two, table):
    # The opponent is off with his next roll, so the roller's chance to be off at once is all there is.
    ace = np.array(on_points(1))
    seen = set()
    for points in itertools.combinations_with_replacement(range(1, 7), 2):
        men = np.array(on_points(*points))
        p = float(table.rolls[bearoff_index(men), 1])
        assert two.win_chance(men, ace) == pytest.approx(p, abs=1e-6)
        decision = two.decision(men, ace, Cube.CENTRED)
        assert decision.hold == pytest.approx(2 * p - 1, abs=1e-6)
        assert decision.taken == pytest.approx(2 * (2 * p - 1), abs=1e-6)
        assert decision.takes == (p <= 0.75)
        if p < 1:  # else he has won, and doubling changes nothing
            assert decision.doubles == (p > 0.5)
            seen.add((bool(decision.doubles), bool(decision.takes)))
    assert len(seen) == 3  # no double; double, take; double, pass
    # 27 of 36: a border of the take.
    six = two.decision(np.array(on_points(6)), ace, Cube.MINE)
    assert six.doubles and six.takes and six.taken == pytest.approx(1, abs=1e-6)
    # Jacoby's 5-2 against a man who is sure: 19 of 36, and doubling doubles the advantage.
    assert two.equity(np.array(on_points(5, 2)), ace, Cube.MINE) == pytest.approx(4 / 36, abs=1e-6)
    assert two.equity(np.array(on_points(5, 2)), ace, Cube.THEIRS) == pytest.approx(2 / 36, abs=1e-6)


def test_stacks_on_the_ace_points_as_players_know_them(two):
    # Two men go off with a roll, four with a double: no skill, so the numbers follow from counting rolls.
    @functools.cache
    def hold(mine: int, theirs: int, cube: Cube) -> Fraction:
        if theirs <= 0:
            return Fraction(-1)
        other = SEEN_BY_THE_OTHER[cube]
        return -Fraction(5, 6) * equity(theirs, mine - 2, other) - Fraction(1, 6) * equity(theirs, mine - 4, other)

    def equity(mine: int, theirs: int, cube: Cube) -> Fraction:
        value = hold(mine, theirs, cube)
        if theirs <= 0 or cube in (Cube.NONE, Cube.THEIRS):
            return value
        return max(value, min(2 * hold(mine, theirs, Cube.THEIRS), Fraction(1)))

    stacks = np.array([on_points(*[1] * count) for count in range(1, 7)])
    for mine, theirs, cube in itertools.product(range(1, 7), range(1, 7), Cube):
        exact = float(equity(mine, theirs, cube))
        assert two.equity(stacks[mine - 1], stacks[theirs - 1], cube) == pytest.approx(exact, abs=1e-6)
    # The books' chances with two and three rolls each, both a double and a pass.
    for men, chance in ((4, 0.861), (6, 0.788)):
        assert two.win_chance(stacks[men - 1], stacks[men - 1]) == pytest.approx(chance, abs=5e-4)
        decision = two.decision(stacks[men - 1], stacks[men - 1], Cube.CENTRED)
        assert decision.doubles and not decision.takes


def test_what_must_hold_of_all_equities(two):
    men = np.array(positions(6))
    none, centred, mine, theirs = (two.equity(men[:, None], men, cube) for cube in Cube)
    assert np.abs([none, centred, mine, theirs]).max() <= 1 + 1e-6
    rounding = 1e-6
    # It is good to own the cube, and bad when the opponent does.
    assert (mine >= centred - rounding).all() and (centred >= theirs - rounding).all()
    assert (mine >= none - rounding).all() and (none >= theirs - rounding).all()
    # It is good to roll first, and to have fewer men.
    assert (none + none.T >= -rounding).all()
    for point in range(6):
        here = men[:, point] > 0
        fewer = men[here] - np.eye(6, dtype=int)[point]
        some = fewer.any(axis=1)
        better = two.equity(fewer[some][:, None], men, Cube.MINE)
        assert (better >= mine[here][some] - rounding).all()


def test_the_one_sided_table_is_near(table, two):
    men = np.array(positions(6))
    errors = np.abs(table.win_chance(men[:, None], men) - two.win_chance(men[:, None], men))
    assert errors.mean() < 0.001 and errors.max() < 0.015
    single = men.sum(axis=1) == 1
    assert errors[single][:, single].max() < 1e-6


def test_gnubgs_two_sided_table_says_the_same(two):
    gnubg = pytest.importorskip("gnubg_nn", reason="gnubg's table comes with the package gnubg-nn, not installed")
    path = Path(gnubg.__file__).parent / "data" / "gnubg_ts0.bd"
    if not path.is_file():
        pytest.skip(f"this gnubg-nn has no two-sided table {path.name}")
    data = path.read_bytes()
    assert data.startswith(b"gnubg-TS-06-06-1")
    theirs = np.frombuffer(data[40:], dtype="<u2").reshape(*two.hold.shape) / 32767.5 - 1
    # Its columns: no cube, mine, centred, the opponent's; each of what is added up rounded to 1/32768.
    differences = np.abs(theirs[1:, 1:, [0, 2, 1, 3]] - two.hold[1:, 1:])
    assert differences.mean() < 5e-5 and differences.max() < 2e-4


def test_what_the_two_sided_table_cannot_say_is_refused(two):
    few, seven = np.array(on_points(1)), np.array(on_points(*[1] * 7))
    with pytest.raises(ValueError, match="at most 6 men"):
        two.win_chance(few, seven)
    with pytest.raises(ValueError, match="may not double"):
        two.decision(few, few, Cube.THEIRS)
    for men in (0, MOST_MEN + 1, 15):
        with pytest.raises(ValueError, match=f"1 to {MOST_MEN} men a side, not {men}"):
            build_two_sided(men)


# Boards, and the bots that use the tables


def test_the_tables_overrule_estimates_of_pure_bearoffs_alone(tables, game_positions):
    boards = np.concatenate([game_positions(4_000, 3)[0], boards_of(np.array(positions(3)), on_points(6, 6, 5))])
    estimates = np.random.default_rng(1).random((len(boards), 6)).astype(np.float32)
    mask, exact = bearoff_outcomes(tables, boards)
    overruled = estimates.copy()
    assert exact_outcomes(tables, boards, overruled) == mask.sum() and 0 < mask.sum() < len(boards)
    np.testing.assert_array_equal(overruled, np.where(mask[:, None], exact, estimates))
    alone = estimates.copy()
    for i in range(len(boards) - 200, len(boards)):
        exact_outcomes(tables, boards[i : i + 1], alone[i : i + 1])
    np.testing.assert_array_equal(alone[-200:], overruled[-200:])
    few = (np.maximum(boards, 0).sum(axis=1) <= 6) & (np.minimum(boards, 0).sum(axis=1) >= -6)
    sides = boards[mask & few][:, 1:7], -boards[mask & few][:, 24:18:-1]
    np.testing.assert_allclose(overruled[mask & few, 0], tables.two.win_chance(*sides), atol=1e-6)


def wild_network(seed: int = 0) -> Network:
    inputs, rng = encoding("men196"), np.random.default_rng(seed)
    sizes = ((inputs.width, 20), (20, 6))
    return Network(
        inputs, tuple((rng.normal(0, 0.1, (m, n)).astype(np.float32), np.zeros(m, np.float32)) for n, m in sizes)
    )


def test_a_bot_with_tables_plays_bearoffs_by_them_and_all_else_as_before(tables, game_positions):
    bare, bot = ValueBot(wild_network(), name="wild"), ValueBot(wild_network(), name="wild", bearoff=tables)
    assert "tables" in repr(bot) and "tables" not in repr(bare)
    boards, dice = game_positions(4_000, 5)
    rows, starts = afterstates(boards, dice)
    mask, exact = bearoff_outcomes(tables, rows)
    over = points_lost_many(rows) > 0
    known = np.logical_and.reduceat(mask | over, starts[:-1]) & (boards[:, 7:] <= 0).all(axis=1)
    unknown = ~np.logical_or.reduceat(mask, starts[:-1])
    chosen, before = bot.choose_boards(boards, dice), bare.choose_boards(boards, dice)
    np.testing.assert_array_equal(chosen[unknown], before[unknown])
    assert known.sum() > 100 and (chosen[known] != before[known]).any()
    worst = equities(exact)
    for i in np.flatnonzero(known)[:100]:
        here = slice(starts[i], starts[i + 1])
        assert (rows[here][np.argmin(worst[here])] == chosen[i]).all()
        np.testing.assert_array_equal(bot.choose_boards(boards[i : i + 1], dice[i : i + 1])[0], chosen[i])


def test_a_bot_with_tables_ranks_and_evaluates_by_them(tables):
    bot = ValueBot(wild_network(), name="wild", bearoff=tables)
    [board] = boards_of(on_points(6, 5, 2), on_points(4, 3, 1))
    pos = Position(board.tolist())
    men = np.array(on_points(6, 5, 2)), np.array(on_points(4, 3, 1))
    assert bot.evaluate(pos).win_chance == pytest.approx(float(tables.two.win_chance(*men)), abs=1e-6)
    ranked = bot.rank(pos, (4, 1))
    for play, outcomes, equity in ranked:
        his = bot.evaluate(play.after)
        assert equity == pytest.approx(-his.equity, abs=1e-6) and outcomes.win_chance == pytest.approx(
            his.turned().win_chance
        )
    assert [equity for _, _, equity in ranked] == sorted((equity for _, _, equity in ranked), reverse=True)
    assert bot.choose(pos, (4, 1)) == ranked[0][0]


# The file


@pytest.fixture(scope="module")
def small():
    """Tables that are quickly made: two men a side."""
    return build_tables(2)


@pytest.fixture
def bot_file(tmp_path) -> Path:
    save_checkpoint(tmp_path / "wild.safetensors", wild_network(), {})
    return tmp_path / "wild.safetensors"


def same(one: BearoffTables, other: BearoffTables) -> bool:
    names = ("rolls", "first", "mean")
    return np.array_equal(one.two.hold, other.two.hold) and all(
        np.array_equal(getattr(one.one, name), getattr(other.one, name)) for name in names
    )


def test_the_tests_never_see_the_users_own_tables():
    assert cache_folder(os.environ) != cache_folder({}) and not (cache_folder(os.environ) / FILE).exists()


def test_the_tables_are_kept_in_a_file(tables, tmp_path):
    assert same(open_tables(tmp_path / "new" / "cache"), tables)
    [file] = (tmp_path / "new" / "cache").iterdir()
    assert file.name == FILE and file.stat().st_size < 20_000_000
    written = file.stat().st_mtime_ns
    assert same(open_tables(file.parent), tables) and same(read_tables(file), tables)
    assert file.stat().st_mtime_ns == written


def test_a_bot_uses_the_tables_where_they_are(small, tmp_path, monkeypatch, bot_file):
    monkeypatch.setenv("BGAI_CACHE", str(tmp_path / "cache"))
    assert bgai.load(bot_file).bearoff is None
    assert not (tmp_path / "cache").exists()  # and does not make them
    write_tables(tmp_path / "cache" / FILE, small)
    found = bgai.load(bot_file).bearoff
    assert found is not None and same(found, small)
    assert bgai.load(bot_file).bearoff is found  # read once
    assert bgai.bots.open_bot(str(bot_file)).bearoff is found
    assert bgai.load(bot_file, bearoff=False).bearoff is None
    for off in ("off", "0", "No", "false"):
        monkeypatch.setenv("BGAI_BEAROFF", off)
        assert bgai.load(bot_file).bearoff is None
    monkeypatch.setenv("BGAI_BEAROFF", "on")
    assert bgai.load(bot_file).bearoff is found


def test_measurements_say_whether_they_are_with_the_tables(small, tmp_path, monkeypatch, bot_file, capsys):
    monkeypatch.setenv("BGAI_CACHE", str(tmp_path / "cache"))
    write_tables(tmp_path / "cache" / FILE, small)
    commands = (
        ["arena", str(bot_file), "random", "--games", "2"],
        ["rate", str(bot_file), "--benchmark"],
    )
    for command in commands:
        for off, told in (("off", 0), ("on", 1)):
            monkeypatch.setenv("BGAI_BEAROFF", off)
            assert main([*command, "--json", str(tmp_path / "out.json")]) == 0
            assert capsys.readouterr().out.count("by the exact tables") == told
            found = [bot["bearoff_tables"] for bot in json.loads((tmp_path / "out.json").read_text())["bots"]]
            assert found == [bool(told), False][: len(found)]


def test_training_and_the_eyes_that_see_luck_never_use_the_tables(small, tmp_path, monkeypatch, bot_file):
    from bgai.arena.luck import open_eyes
    from train.results import graded_bots
    from train.strength import open_opponents

    monkeypatch.setenv("BGAI_CACHE", str(tmp_path / "cache"))
    write_tables(tmp_path / "cache" / FILE, small)
    opened, _ = open_opponents([str(bot_file)])
    bot_file.rename(tmp_path / "strong.safetensors")
    for bot in (*opened.values(), *graded_bots(tmp_path).values(), open_eyes()):
        assert isinstance(bot, ValueBot) and bot.bearoff is None


def damaged(whole: bytes, damage: str) -> bytes:
    middle = len(whole) // 2
    return {
        "one bit": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "cut": whole[:middle],
        "empty": b"",
        "text": b"this is no table",
        "another file": whole.replace(b"bgai-bearoff", b"bgai-somebot"),
    }[damage]


@pytest.mark.parametrize("damage", ["one bit", "cut", "empty", "text", "another file"])
def test_a_damaged_file_is_told_of_and_built_anew(small, tmp_path, caplog, damage):
    file = tmp_path / FILE
    write_tables(file, small)
    file.write_bytes(damaged(file.read_bytes(), damage))
    with pytest.raises(DamagedTables, match="is damaged"):
        read_tables(file)
    assert same(open_tables(tmp_path, 2), small)
    [told] = caplog.messages
    assert told.startswith(f"{file} is damaged: ") and told.endswith("; it is built anew")
    assert list(tmp_path.iterdir()) == [file] and same(read_tables(file), small)
    assert same(open_tables(tmp_path, 2), small) and len(caplog.messages) == 1


def test_a_bot_mends_a_damaged_file(small, tables, tmp_path, monkeypatch, bot_file, caplog):
    monkeypatch.setenv("BGAI_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "cache" / FILE
    write_tables(file, small)
    file.write_bytes(file.read_bytes()[:-1])
    found = bgai.load(bot_file).bearoff
    assert found is not None and same(found, tables) and same(read_tables(file), tables)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("wrong", ["shape", "positions", "type", "one side"])
def test_a_file_with_a_right_checksum_must_have_the_right_arrays_too(small, tmp_path, wrong):
    one, hold = small.one, small.two.hold
    arrays = {"shape": hold[:, :-1], "positions": hold[:5, :5], "type": hold.astype(np.float64), "one side": hold}
    if wrong == "one side":
        one = OneSided(one.rolls[:-1], one.first, one.mean)
    write_tables(tmp_path / FILE, BearoffTables(one, TwoSided(np.ascontiguousarray(arrays[wrong]))))
    with pytest.raises(DamagedTables, match="its arrays are not those"):
        read_tables(tmp_path / FILE)


def test_a_folder_that_cannot_be_written_does_no_harm(small, tmp_path):
    (tmp_path / "file").write_text("")
    assert same(open_tables(tmp_path / "file", 2), small)
    assert same(open_tables(tmp_path / "file" / "folder", 2), small)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other folders")
def test_where_the_file_lies(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder({"BGAI_CACHE": "/own", "BGAI_HOME": "/here", "XDG_CACHE_HOME": "/there"}) == Path("/own")
    assert cache_folder({"BGAI_HOME": "/here", "XDG_CACHE_HOME": "/there"}) == Path("/here")
    assert cache_folder({"XDG_CACHE_HOME": "/there"}) == Path("/there/bgai")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "bgai" == cache_folder({})


# The command


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Runs `bgai bearoff WORDS` with a cache folder of its own: exit code, what it printed, what was wrong."""
    monkeypatch.setenv("BGAI_CACHE", str(tmp_path / "cache"))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["bearoff", *words])
        return code, *capsys.readouterr()

    return run


def test_the_command_builds_and_tells(say, tmp_path, monkeypatch):
    file = tmp_path / "cache" / FILE
    code, out, err = say()
    assert code == 0 and "There are no bearoff tables" in out and "bgai bearoff --build" in out
    code, out, _ = say("--build", "--men", "2")
    assert code == 0 and out.startswith(f"wrote {file} (") and read_tables(file).two.men == 2
    code, out, _ = say("--build")
    assert code == 0 and "are there already" in out
    code, out, _ = say("--info")
    assert code == 0 and str(file) in out and "54,264" in out and "28 x 28" in out and "bots use them" in out
    monkeypatch.setenv("BGAI_BEAROFF", "off")
    assert "bots do not use them" in say("--info")[1]
    file.write_bytes(file.read_bytes()[:-1])
    code, _, err = say("--info")
    assert code == 2 and "is damaged" in err and "`bgai bearoff --build` makes it anew" in err
    code, out, _ = say("--build", "--men", "1")
    assert code == 0 and "is damaged" in out and read_tables(file).two.men == 1


def test_the_command_knows_positions(say):
    [sure] = boards_of(on_points(5, 2), on_points(1))
    sure_id = Position(sure.tolist()).id
    code, _, err = say(sure_id)
    assert code == 2 and "there are no bearoff tables" in err
    say("--build", "--men", "2")
    code, out, err = say(sure_id)
    assert code == 0 and "wins 52.78%" in out and "cube of the player to roll: +0.1111, redouble, take" in out
    xgid, bare = (
        "XGID=--A--A------------------a-:0:0:1:00:0:0:0:0:10",
        "--A--A------------------a-:0:0:1:00:0:0:0:0:10",
    )
    assert say(xgid) == say(bare) == say(f"{sure_id}:cAkAAAAAAAAE") == (0, out, "")
    for field, what in (
        (":0:0:1:21:0:0:0:0:10", "the dice of the identifier count"),
        (":0:0:1:00:2:0:0:5:10", "the score of the identifier counts"),
        (":0:0:1:21:2:0:0:5:10", "the score and the dice of the identifier count"),
    ):
        code, told, err = say(xgid[: xgid.index(":")] + field)
        assert (code, told) == (0, out) and f": {what} for nothing here" in err
    [many] = boards_of(on_points(5, 2, 2), on_points(1))
    code, out, err = say(Position(many.tolist()).id)
    assert code == 0 and "for speed alone" in out and "cube" not in out
    code, _, err = say("4HPwATDgc/ABMA")
    assert code == 2 and "is no bearoff" in err
    for words in (("--men", "3"), ("--build", "--men", "10"), ("nonsense",)):
        code, out, err = say(*words)
        assert code == 2 and not out and err.startswith("bgai bearoff: ") and len(err.splitlines()) == 1
