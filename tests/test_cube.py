"""The cube: textbook points of money play, match scores by hand, the match equity table against published values."""

import numpy as np
import pytest

import bgai
from bgai.bots import ValueBot
from bgai.evaluation.bearoff_tables import build_tables
from bgai.evaluation.cube import (
    CENTRE,
    MINE,
    THEIRS,
    Stakes,
    after_pass,
    best_values,
    cash_point,
    classes,
    cube_values,
)
from bgai.evaluation.cube_decision import stakes_of
from bgai.evaluation.cubeful import looked_ahead, play_values, static_values
from bgai.evaluation.lookahead import look_ahead
from bgai.evaluation.match_equity import compute_table, match_equity, parse_table, table_text
from bgai.evaluation.search import value_afterstates
from bgai.rules.match import Match
from bgai.rules.position import Position, start_board

TABLE = match_equity()


def chances(win, gammons=0.0, lost_gammons=0.0):
    """Outcomes [1, 6] with these shares of gammons among wins and losses."""
    lose = 1 - win
    return np.array(
        [[win * (1 - gammons), win * gammons, 0, lose * (1 - lost_gammons), lose * lost_gammons, 0]], dtype=np.float64
    )


def money(owner=CENTRE, jacoby=False):
    return Stakes.money(1, jacoby=jacoby)._replace(owner=np.array([owner]))


def at_score(mine, theirs, cube=1, owner=CENTRE, crawford=False):
    number = lambda n: np.array([n], dtype=np.int64)  # noqa: E731
    return Stakes(number(mine), number(theirs), number(cube), number(owner), np.array([crawford]), np.array([False]))


def values(outcomes, stakes, x):
    return cube_values(outcomes, np.array([float(x)]), stakes, TABLE.pre, TABLE.post)[0]


def take_point(outcomes, stakes, x):
    """Chance that the doubled player needs; `outcomes` are the doubler's."""
    found = values(outcomes, stakes, x)
    return 1 - cash_point(outcomes, float(x), stakes, found, TABLE.pre, TABLE.post)


# --- money


def test_textbook_take_points():
    """25 % with a dead cube, 20 % with a live one; 1/2 of 2 + x/2 between them (Janowski). The chances that he has
    now do not matter."""
    for x, take in ((0, 0.25), (1, 0.2), (0.5, 0.5 / 2.25)):
        for now in (0.5, 0.74, 0.78, 0.9):
            assert take_point(chances(now), money(), x) == pytest.approx(take, abs=1e-6)


def test_gammons_move_the_take_point():
    """Janowski: with W points a win and L a loss, dead (L - 1/2) / (W + L), live (L - 1/2) / (W + L + 1/2)."""
    outcomes = chances(0.5, gammons=0.4, lost_gammons=0.2)  # for him who is doubled W = 1.2, L = 1.4
    assert take_point(outcomes, money(), 0) == pytest.approx(0.9 / 2.6)
    assert take_point(outcomes, money(), 1) == pytest.approx(0.9 / 3.1, abs=1e-6)


def test_a_dead_cube_is_worth_the_outcomes():
    outcomes = chances(0.6, gammons=0.25)
    equity = 0.6 * 1.25 - 0.4
    no_double, take, passed = values(outcomes, money(), 0)
    assert no_double == pytest.approx(equity)
    assert take == pytest.approx(2 * equity)
    assert passed == 1


def test_a_live_cube_in_the_middle():
    """Even chances are worth nothing; at the live cash point everything is worth a point; owning the cube is worth
    half a point more at even chances than facing it: (0.5 / 0.8) * 2 - 1 = 0.25 against -0.25."""
    assert values(chances(0.5), money(), 1)[0] == pytest.approx(0)
    np.testing.assert_allclose(values(chances(0.8), money(), 1), [1, 1, 1], atol=1e-9)
    assert values(chances(0.5), money(MINE), 1)[0] == pytest.approx(0.25)
    assert values(chances(0.5), money(THEIRS), 1)[0] == pytest.approx(-0.25)
    assert np.isnan(values(chances(0.5), money(THEIRS), 1)[1:]).all()


def test_jacoby_takes_the_gammons_of_a_centred_cube():
    outcomes = chances(0.7, gammons=0.5)
    assert values(outcomes, money(), 0)[0] == pytest.approx(0.7 * 1.5 - 0.3)
    assert values(outcomes, money(jacoby=True), 0)[0] == pytest.approx(0.4)
    assert values(outcomes, money(MINE, jacoby=True), 0)[0] == pytest.approx(0.7 * 1.5 - 0.3)
    # Too good to double without Jacoby, a pass with it.
    many = chances(0.9, gammons=0.7)
    assert values(many, money(), 0.7)[0] > 1
    assert values(many, money(jacoby=True), 0.7)[0] <= 1


def test_turned_stakes_and_values():
    stakes = at_score(3, 5, cube=2, owner=MINE)
    turned = stakes.turned()
    assert (turned.my_away[0], turned.their_away[0], turned.owner[0]) == (5, 3, THEIRS)
    np.testing.assert_allclose(after_pass(np.array([0.3]), stakes), [0.7])
    np.testing.assert_allclose(after_pass(np.array([0.3]), money()), [-0.3])


# --- matches


def test_last_game_of_the_match_is_its_outcomes():
    assert values(chances(0.37), at_score(1, 1), 0.7)[0] == pytest.approx(0.37)
    assert np.isnan(values(chances(0.37), at_score(1, 1), 0.7)[1:]).all()


def test_two_away_each_is_decided_by_the_first_cube():
    """After a double the winner of the game wins the match: double and take is worth the win chance."""
    no_double, take, passed = values(chances(0.6, gammons=0.3), at_score(2, 2), 0.7)
    assert take == pytest.approx(0.6)
    assert passed == pytest.approx(TABLE.pre[1, 2])
    assert no_double <= take + 1e-9
    assert take_point(chances(0.5), at_score(2, 2), 1) == pytest.approx(1 - TABLE.pre[1, 2])


def test_crawford_game_has_no_cube():
    outcomes = chances(0.5, gammons=0.2, lost_gammons=0.2)
    found = values(outcomes, at_score(3, 1, crawford=True), 0.7)
    by_hand = 0.5 * (0.8 * TABLE.post[2] + 0.2 * TABLE.post[1])
    assert found[0] == pytest.approx(by_hand)
    assert np.isnan(found[1:]).all()


def test_after_crawford_the_player_behind_doubles_and_the_leader_cannot():
    outcomes = chances(0.5, gammons=0.25, lost_gammons=0.25)
    behind = values(outcomes, at_score(4, 1), 0.7)
    assert behind[1] > behind[0]
    assert behind[1] == pytest.approx(0.5 * (0.75 * TABLE.post[2] + 0.25))
    assert np.isnan(values(outcomes, at_score(1, 4), 0.7)[1:]).all()  # his cube would be dead


# The player behind needs so many points, the leader one: equities of no double and of double and take by gnubg
# 1.07 at two plies, per unit of the cube; the first two are from real matches.
AFTER_CRAWFORD = {
    "4HPwAQXgc+RBIA:MAEgAsAAgAAE": (0.338, 0.338),  # 5
    "XGID=--A--BCbB---bE---bcc-Bba--:0:0:1:00:5:6:0:7:10": (0.633, 0.633),  # 2
    "XGID=-b--aBE-B---cDa---bbb-b-AA:0:0:1:00:5:6:0:7:10": (0.769, 0.823),  # 2
    "XGID=-b----E-C-A-dD---c-f--A-A-:0:0:1:00:4:6:0:7:10": (0.491, 0.491),  # 3
    "XGID=-BDbB-D-----B----a--cbdbaA:0:0:1:00:3:6:0:7:10": (0.641, 0.860),  # 4
    "XGID=-b--aBE-B---cDa---bbb-b-AA:0:0:1:00:3:6:0:7:10": (0.738, 0.798),  # 4
    "XGID=-BDbB-D-----B----a--cbdbaA:0:0:1:00:2:6:0:7:10": (0.196, 0.196),  # 5
    "XGID=-DAB---------------a-a-bc-:0:0:1:00:2:6:0:7:10": (0.651, 0.660),  # 5
}


@pytest.mark.parametrize("text", AFTER_CRAWFORD)
def test_after_crawford_waiting_a_roll_costs_what_gnubg_says(text):
    match, wanted = bgai.parse_id(text), AFTER_CRAWFORD[text]
    decision = bgai.load("strong@2", bearoff=False).cube(match)
    assert decision.no_double == pytest.approx(wanted[0], abs=0.05)
    offered = min(decision.double_take, decision.double_pass)
    assert offered - decision.no_double == pytest.approx(wanted[1] - wanted[0], abs=0.03)
    assert ("the same" in decision.why) == (offered - decision.no_double < 0.0005)
    for level in ("strong", "strong@2"):  # however little it costs, who always waits never doubles
        assert bgai.load(level, bearoff=False).cube(match).doubles


@pytest.mark.parametrize("x", [0, 0.7, 1])
def test_after_crawford_the_cube_is_as_good_as_turned(x):
    """Four points behind and one: he wins 2 with the cube turned, 4 with a gammon, whoever is on roll."""
    turned = 0.5 * (0.75 * TABLE.post[2] + 0.25)
    even = chances(0.5, gammons=0.25, lost_gammons=0.25)
    assert values(even, at_score(4, 1), x)[0] == pytest.approx(turned)
    assert values(even, at_score(1, 4), x)[0] == pytest.approx(1 - turned)
    # Where the leader would pass it is worth the point, and not less.
    ahead = chances(0.7, gammons=0.25)
    assert values(ahead, at_score(4, 1), x)[0] == pytest.approx(TABLE.post[3])
    assert values(np.roll(ahead, 3, axis=1), at_score(1, 4), x)[0] == pytest.approx(1 - TABLE.post[3])
    # A gammon may win more without the cube than a pass.
    gammonish = chances(0.95, gammons=0.9)
    undoubled = 0.95 * (0.1 * TABLE.post[3] + 0.9 * TABLE.post[2])
    assert undoubled > TABLE.post[3]
    assert values(gammonish, at_score(4, 1), x)[0] == pytest.approx(undoubled)


def test_a_dead_cube_is_not_turned():
    assert np.isnan(values(chances(0.6), at_score(2, 7, cube=2, owner=MINE), 0.7)[1:]).all()
    assert not np.isnan(values(chances(0.6), at_score(3, 7, cube=2, owner=MINE), 0.7)[1:]).any()


def test_far_from_the_end_a_match_is_like_money():
    outcomes = chances(0.62, gammons=0.2, lost_gammons=0.2)
    by_money = values(outcomes, money(), 0.68)
    found = values(outcomes, at_score(25, 25), 0.68)
    won, lost = TABLE.pre[24, 25], TABLE.pre[25, 24]
    per_cube = (found - (won + lost) / 2) / ((won - lost) / 2)
    np.testing.assert_allclose(per_cube, by_money, atol=0.05)


def test_values_rise_with_the_win_chance():
    rng = np.random.default_rng(3)
    grid = np.linspace(0, 1, 101)
    for _ in range(60):
        mine, theirs = rng.integers(1, 26, size=2)
        cube = int(rng.choice([1, 2, 4]))
        owner = CENTRE if cube == 1 else int(rng.choice([MINE, THEIRS]))
        for x in (0.0, 0.7, 1.0):
            found = np.array([values(chances(p, 0.3, 0.2), at_score(mine, theirs, cube, owner), x) for p in grid])
            assert (found[:, 0] >= -1e-9).all() and (found[:, 0] <= 1 + 1e-9).all()
            assert (np.diff(found[:, 0]) >= -1e-9).all()
            best = best_values(found)
            assert (best >= found[:, 0] - 1e-12).all()


# --- the table

# Kazaross-XG2 (2011): points away of one player and the other, and the first one's chance.
PUBLISHED = {
    (1, 2): 0.67736, (1, 3): 0.75076, (1, 5): 0.84179, (2, 3): 0.59947, (2, 4): 0.66870, (2, 5): 0.74359,
    (3, 4): 0.57150, (3, 5): 0.64795, (4, 5): 0.57732, (5, 7): 0.62582, (2, 9): 0.90197, (4, 9): 0.78802,
}  # fmt: skip


def test_table_is_near_the_published_one():
    apart = [abs(TABLE.pre[pair] - chance) for pair, chance in PUBLISHED.items()]
    assert max(apart) < 0.02
    assert np.mean(apart) < 0.006


def test_table_adds_up():
    pre = TABLE.pre[1:, 1:]
    np.testing.assert_allclose(pre + pre.T, 1, atol=1.1e-5)
    assert (np.diff(pre, axis=0) < 0).all() and (np.diff(pre, axis=1) > 0).all()
    assert (np.diff(TABLE.post[1:]) < 0).all()


def test_one_away_two_away_by_hand():
    """The Crawford game at 2-away: a win leads to one-all, a gammon wins the match."""
    even = np.array([0.37, 0.125, 0.005] * 2)
    table = compute_table(even, even[None], np.ones(1), 0.7)
    assert table.pre[2, 1] == pytest.approx(0.37 * 0.5 + 0.13)
    assert table.post[2] == pytest.approx(0.5)  # the leader passes or takes, it is the same
    assert table.post[3] == pytest.approx(0.37 * 0.5 + 0.13)  # a pass would leave 2 away: a half
    again = parse_table(table_text(table, "a note\nof two lines"))
    np.testing.assert_allclose(again.pre, table.pre, atol=1e-5)


@pytest.mark.parametrize("text", ["", "0.5,0.5\n", "a,b\n"])
def test_a_wrong_table_is_refused(text):
    with pytest.raises(ValueError):
        parse_table(text)


# --- decisions of a bot


@pytest.fixture(scope="module")
def bot():
    return bgai.load("strong", bearoff=False)


def last_roll(mine, theirs=1):
    """The roller has men on these points of his home, the opponent one man on his ace point."""
    men = [0] * 26
    for point in mine:
        men[point] += 1
    men[24] = -theirs
    return Position(men)


# Rolls of 36 that bear off two men at once (known from every textbook).
BEAR_OFF = {(1, 2): 36, (2, 3): 25, (2, 5): 19, (3, 4): 17, (1, 6): 15, (4, 5): 10, (6, 6): 4}


@pytest.mark.parametrize(("men", "rolls"), BEAR_OFF.items())
def test_last_roll_by_looking_ahead(men, rolls, bot):
    """He doubles from a half on, and the other takes from a quarter on: no cube can be turned afterwards."""
    match = Match(turn=0, decision="roll", position=last_roll(men))
    p = rolls / 36
    found = looked_ahead(bot.outcomes, match.position.board[None], stakes_of(match))[0]
    np.testing.assert_allclose(found, [2 * p - 1, 2 * (2 * p - 1), 1], atol=0.03)
    decision = bgai.load("strong@2", bearoff=False).cube(match)
    if p > 0.52:
        assert decision.doubles
        assert decision.takes == (p < 0.75)
    elif p < 0.48:
        assert decision.action == "no double"


def test_opening_is_no_double_and_a_take(bot):
    decision = bot.cube(Match(turn=1, decision="roll"))
    assert decision.action == "no double" and decision.takes
    assert -0.05 < decision.no_double < 0.2
    assert -0.4 < decision.double_take < 0.05
    assert decision.double_pass == 1
    assert decision.match_chances is None
    assert 0.2 < decision.take_point < 0.32
    assert decision.market_losers < 0.05


def test_a_static_decision_evaluates_its_position_once(bot, monkeypatch):
    asked, outcomes = [], bot.outcomes
    monkeypatch.setattr(bot, "outcomes", lambda *arrays: asked.append(len(arrays[1])) or outcomes(*arrays))
    decision = bot.cube(Match(turn=1, decision="roll"))
    assert asked == [1]
    assert decision.market_losers == 0 and len(asked) > 1


def test_actions_of_clear_positions(bot):
    ahead = [0, 2, 3, 3, 3, 2, 2] + [0] * 12 + [-3, -3, -3, -3, -3, 0, 0]  # 51 pips against 60
    decision = bot.cube(Match(turn=0, decision="roll", position=Position(ahead)))
    assert decision.action == "double, pass"
    assert "pass" in decision.why
    assert not bot.take(Match(turn=0, decision="take", position=Position(ahead)))
    behind = Position(ahead).turned()
    decision = bot.cube(Match(turn=0, decision="roll", position=behind, beavers=True))
    assert decision.action == "no double" and decision.takes and decision.beavers
    closed = [-3, 0, 2, 2, 2, 2, 2, 2] + [0] * 9 + [2, 1, -1, -1, -2, -2, -3, -3, 0]
    decision = bot.cube(Match(turn=0, decision="roll", position=Position(closed)))
    assert decision.action == "too good" and not decision.doubles
    decision = bot.cube(Match(turn=0, decision="roll", position=Position(closed), jacoby=True))
    assert decision.action == "double, pass"


def test_why_there_is_no_cube(bot):
    for match, reason in (
        (Match(length=5, score=(4, 2), crawford=True, turn=1, decision="roll"), "Crawford"),
        (Match(cube=2, cube_owner=1, turn=0, decision="roll"), "other player owns"),
        (Match(length=5, score=(4, 2), turn=0, decision="roll"), "dead"),
        (Match(cube=2, cube_owner=0, max_cube=2, turn=0, decision="roll"), "higher"),
    ):
        decision = bot.cube(match)
        assert decision.action == "no cube" and reason in decision.why, decision
        assert decision.double_take is None and decision.take_point is None
        assert np.isfinite(decision.no_double)


@pytest.mark.parametrize("wrong", ["x", None, Position.start()], ids=["text", "nothing", "position"])
def test_what_is_no_match_is_told(bot, wrong):
    for ask in (bot.cube, bot.take, bot.choose_in):
        with pytest.raises(ValueError, match="decisions with the cube need a bgai.Match, such as"):
            ask(wrong)


def test_what_is_no_position_and_no_bot_is_told(bot):
    for ask in (lambda: bot.choose("x", (3, 1)), lambda: bot.rank(None, (3, 1)), lambda: bot.evaluate("x")):
        with pytest.raises(ValueError, match="a position is a bgai.Position, such as Position.start"):
            ask()
    for wrong in (None, 3, b"strong"):
        with pytest.raises(bgai.UnknownBot, match="a bot is given by a name or a path, such as 'strong'"):
            bgai.load(wrong)


def test_wrong_moments_are_told(bot):
    with pytest.raises(ValueError, match="no cube decision"):
        bot.cube(Match())
    with pytest.raises(ValueError, match="nobody has doubled"):
        bot.take(Match(turn=0, decision="roll"))
    with pytest.raises(ValueError, match="no roll to play"):
        bot.choose_in(Match(turn=0, decision="roll"))


def test_plays_at_the_score(bot):
    """At double match point gammons count nothing, when the opponent needs one and he four they win the match."""
    match = Match(turn=0, decision="play", dice=(3, 1))
    assert str(bot.choose_in(match)) == "8/5 6/5"
    boards, dice = start_board()[None], np.array([[6, 4]], dtype=np.int8)
    rows, _, outcomes = value_afterstates(bot.outcomes, boards, dice)
    each = Stakes(*(np.repeat(array, len(rows)) for array in at_score(1, 1)))
    found = play_values(rows, outcomes, each)
    np.testing.assert_allclose(found, outcomes[:, 3:].sum(axis=1), atol=1e-6)
    chosen = bot.choose_at(boards, dice, at_score(1, 1))
    np.testing.assert_array_equal(chosen[0], rows[np.argmax(found)])


def test_classes():
    contact = start_board()
    race = np.zeros(26, dtype=np.int8)
    race[6], race[19] = 5, -5
    last = np.zeros(26, dtype=np.int8)
    last[1], last[24] = 2, -2
    assert classes(np.stack([contact, race, last])).tolist() == [0, 1, 2]


def test_static_values_do_not_depend_on_the_batch(bot, game_positions):
    boards = game_positions(40, 11)[0]
    boards = boards[(boards.max(axis=1) > 0) & (boards.min(axis=1) < 0)]
    stakes = Stakes.money(len(boards))
    outcomes = bot.outcomes(boards, boards, np.arange(len(boards) + 1))
    together = static_values(outcomes, boards, stakes)
    for i in range(0, len(boards), 7):
        one = static_values(outcomes[i : i + 1], boards[i : i + 1], stakes.take(np.array([i])))
        np.testing.assert_array_equal(one[0], together[i])


def test_exact_tables_decide_the_last_rolls(bot):
    """Five and two against a man who is sure to come off: 19 of 36 win, with any cube."""
    tables = build_tables(men=2)
    exact = ValueBot(bot.network, name="exact", bearoff=tables)
    for owner, cube in ((None, 1), (0, 2), (1, 2)):
        match = Match(turn=0, decision="roll", position=last_roll((2, 5)), cube=cube, cube_owner=owner)
        decision = exact.cube(match)
        p = 19 / 36
        assert decision.no_double == pytest.approx(2 * p - 1, abs=1e-5)
        if owner != 1:
            assert decision.double_take == pytest.approx(2 * (2 * p - 1), abs=1e-5)
            assert decision.action == "double, take"
        else:
            assert decision.action == "no cube"
    # Two men each on the two points: he who rolls wins at once with 26 rolls, or the other does with 26 of his.
    match = Match(turn=0, decision="roll", position=Position([0, 0, 2] + [0] * 20 + [-2, 0, 0]))
    q = 26 / 36
    failing = -min(2 * (2 * q - 1), 1)  # the other doubles, and is taken or passed
    assert exact.cube(match).no_double == pytest.approx(q + (1 - q) * failing, abs=1e-4)
    untouched = exact.cube(Match(length=5, turn=0, decision="roll", position=match.position))
    assert untouched.match_chances is not None


@pytest.mark.parametrize("mine", [(2, 5), (1, 6), (3, 4), (6, 6)])
def test_the_take_point_of_a_last_roll_is_a_quarter(mine, bot):
    exact = ValueBot(bot.network, name="exact", bearoff=build_tables(men=2))
    decision = exact.cube(Match(turn=0, decision="roll", position=last_roll(mine)))
    assert decision.take_point == pytest.approx(0.25, abs=1e-4)


def test_the_take_point_never_contradicts_the_decision(bot):
    """Exact values of all positions of two men against two, money and owned cube."""
    exact = ValueBot(bot.network, name="exact", bearoff=build_tables(men=2))
    sides = [side for one in range(1, 7) for side in ([one], *([one, two] for two in range(one, 7)))]
    near = 0
    for mine in sides:
        for theirs in sides:
            men = [0] * 26
            for point in mine:
                men[point] += 1
            for point in theirs:
                men[25 - point] -= 1
            decision = exact.cube(Match(turn=0, decision="roll", position=Position(men)))
            if decision.double_take != pytest.approx(1, abs=1e-5):
                assert decision.takes == (1 - decision.outcomes.win_chance > decision.take_point), men
                near += abs(decision.double_take - 1) < 0.1
    assert near >= 10


@pytest.mark.parametrize("level", ["strong", "strong@2"])
def test_the_take_point_fits_the_decision_at_every_score(level):
    near_the_edge = "-B-BBCB-------A----bbccbb-"
    for score in ("0:0:0:0", "0:0:1:0", "3:2:0:7", "6:4:0:7", "4:6:0:7", "2:2:0:5"):
        bottom, top, rules, length = score.split(":")
        match = bgai.parse_id(f"XGID={near_the_edge}:0:0:1:00:{bottom}:{top}:{rules}:{length}:10")
        decision = bgai.load(level, bearoff=False).cube(match)
        if decision.take_point is not None:
            assert decision.takes == (1 - decision.outcomes.win_chance >= decision.take_point - 1e-9), score


def test_who_is_doubled_is_answered():
    """A huge take, a drop, and a beaver where they are played; while nobody has doubled there is no answer."""
    bot = bgai.load("strong", bearoff=False)
    opening = "XGID=-b----E-C---eE---c-e----B-"
    ahead = Position([0, 2, 3, 3, 3, 2, 2] + [0] * 12 + [-3, -3, -3, -3, -3, 0, 0])
    take = bot.cube(bgai.parse_id(f"{opening}:0:0:1:D:0:0:0:5:10"))
    assert take.answer == "take"
    assert take.answer_why == f"a pass would cost {take.double_pass - take.double_take:.3f}"
    drop = bot.cube(Match(turn=0, decision="take", position=ahead))
    assert drop.answer == "pass"
    assert drop.answer_why == f"a take would cost {drop.double_take - drop.double_pass:.3f}"
    behind = bot.cube(Match(turn=0, decision="take", position=ahead.turned(), beavers=True))
    assert behind.answer == "beaver" and behind.answer_why.startswith("a pass would cost ")
    assert bot.cube(Match(turn=0, decision="take", position=ahead.turned())).answer == "take"
    asked_to_roll = bot.cube(Match(turn=0, decision="roll", position=ahead))
    assert asked_to_roll.answer is None and asked_to_roll.answer_why is None


def test_in_a_match_there_are_no_beavers(bot):
    behind = Position([0, 2, 3, 3, 3, 2, 2] + [0] * 12 + [-3, -3, -3, -3, -3, 0, 0]).turned()
    money_game = bot.cube(Match(turn=0, decision="roll", position=behind))
    assert money_game.beavers and "beaver" in money_game.why
    match = bot.cube(Match(length=9, turn=0, decision="roll", position=behind))
    assert match.double_take < 0 and not match.beavers and "beaver" not in match.why


def test_deeper_plays_count_the_score_too():
    """At one-all only wins count: the deeper bot takes the play with most of them, by its own deeper look."""
    deep = bgai.load("strong@2", bearoff=False)
    boards, dice = start_board()[None], np.array([[5, 2]], dtype=np.int8)
    last, rows = at_score(1, 1), value_afterstates(deep.outcomes, boards, dice)[0]
    wins = look_ahead(deep.outcomes, rows, 1)[:, 3:].sum(axis=1)
    chosen = deep.choose_at(boards, dice, last)[0]
    assert wins[(rows == chosen).all(axis=1)][0] == pytest.approx(wins.max(), abs=1e-6)
    match = Match(length=1, turn=0, decision="play", dice=(5, 2))
    assert deep.choose_in(match).after.men == tuple(chosen.tolist())


@pytest.mark.parametrize("level", ["normal", "strong", "strong@2"])
def test_useless_doubles_are_answered(level):
    """A double may be offered where it cannot help the doubler; who drops it there throws the match away."""
    bot = bgai.load(level, bearoff=False)
    board = "XGID=-b----E-C---eE---c-e----B-:0:0"
    both_need_one = bgai.parse_id(f"{board}:1:D:4:4:0:5:10")
    assert both_need_one.decision == "take" and both_need_one.score == (4, 4)
    decision = bot.cube(both_need_one)
    assert decision.takes and bot.take(both_need_one) and not decision.doubles
    assert decision.match_chances is not None
    waits, doubles, passed = decision.match_chances
    assert doubles == pytest.approx(waits) and passed == 1
    assert doubles == pytest.approx(decision.outcomes.win_chance, abs=0.01 if level.endswith("@2") else 1e-6)
    leader_doubles = bgai.parse_id(f"{board}:-1:D:3:4:0:5:10")
    assert leader_doubles.score[leader_doubles.turn] == 4
    assert bot.take(leader_doubles)
    # He who needs two points has to double; who needs one then may drop, for he still needs only one.
    must_double = bgai.parse_id(f"{board}:1:D:3:4:0:5:10")
    chances = bot.cube(must_double).match_chances
    assert chances[2] == 0.5 and bot.take(must_double) == (chances[1] <= 0.5)
    for match in (both_need_one, leader_doubles, must_double):
        stakes = stakes_of(match)
        assert bot.takes(match.position.board[None], stakes)[0] == bot.take(match)
