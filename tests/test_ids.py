"""Identifiers: what XG and gnubg say of the same position, round trips, and what damaged ones are told."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from bgai.notation.fibs import from_fibs, to_fibs
from bgai.notation.gnubg_id import match_id, to_gnubg
from bgai.notation.ids import FORMS, InvalidId, format_id, parse_id
from bgai.notation.plain import from_dict, to_dict
from bgai.notation.xgid import from_xgid, to_xgid
from bgai.rules.match import Match
from bgai.rules.position import Position

# XGID and gnubg ID of the same moment; gnubg's has no place for beavers and the limit of the cube.
PAIRS = [
    ("-b----E-C---eE---c-e----B-:0:0:1:53:1:2:1:3:10", "4HPwATDgc/ABMA:8IluACAACAAE"),
    ("-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8", "4HPkASjg2+ABMA:cAkHAAAAAAAA"),
    ("--CBCBC------B--b--cabbcb-:1:1:1:21:0:0:0:0:8", "u61jAAButwMGAA:UQkFAAAAAAAE"),
    ("-BDB-------------a------e-:1:-1:-1:42:0:0:0:5:8", "ewMAAD4gAAAAAA:AQGqAAAAAAAE"),
    ("-A-B--A---------------d---:0:0:1:00:0:0:0:0:10", "PAAAICMAAAAAAA:cAkAAAAAAAAE"),
]

# What gnubg 1.07 shows for an ID with `set output rawboard on`.
MEN_1 = "-1:0:0:0:0:2:0:4:0:5:0:0:-3:0:2:0:0:-3:-2:-2:-3:0:0:0:0:2"
MEN_0 = "-2:0:0:0:0:3:2:2:3:0:0:-2:0:3:0:0:-5:0:-4:0:-2:0:0:0:0:1"
RAW_BOARDS = [
    ("UQngACAAIAAE", f"board:root:gnubg:7:4:2:{MEN_1}:1:0:0:0:0:2:1:0:0:1:-1:0:25:0:1:0:0:0:0:0:1"),
    ("AYHlACAAIAAE", f"board:root:gnubg:7:4:2:{MEN_0}:-1:3:1:3:1:2:0:1:0:1:-1:0:25:1:0:0:0:0:0:0:1"),
    ("sIHlAGAAIAAE", f"board:root:gnubg:7:4:6:{MEN_0}:-1:3:1:3:1:1:1:1:0:1:-1:0:25:1:0:0:0:0:0:0:0"),
    ("cAngAGAAIAAE", f"board:root:gnubg:7:4:6:{MEN_1}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:1:0:0:0:0:1:1"),
]
# What it asks an external player in the same matches: without a double, names and score the other way round.
REQUESTS = [
    ("UQngACAAIAAE", f"board:gnubg:root:7:2:4:{MEN_1}:1:0:0:0:0:2:1:0:0:1:-1:0:25:0:1:0:0:0:0:0:1\n\0"),
    ("URHgACAAIAAE", f"board:root:gnubg:7:4:2:{MEN_1}:1:0:0:0:0:2:1:0:1:1:-1:0:25:0:1:0:0:0:0:0:1\n\0"),
    ("ARngACAAIAAE", f"board:root:gnubg:7:4:2:{MEN_0}:-1:0:0:0:0:2:0:1:1:1:-1:0:25:1:0:0:0:0:0:0:1\n\0"),
]
MEN_ID = "cNvBASCY54MBMA"


def random_match(position: Position, dice: tuple[int, int], seed: int) -> Match:
    """A match in any state that can be with these men."""
    pick = random.Random(seed)
    length = pick.choice([0, 0, 1, 3, 5, 7, 25])
    values: dict = {"position": position, "length": length, "turn": pick.randrange(2)}
    values["score"] = tuple(pick.randrange(length or 40) for _ in range(2))
    away = [length - points for points in values["score"]]
    values["crawford"] = length > 1 and away.count(1) == 1 and pick.random() < 0.5
    if not values["crawford"] and pick.random() < 0.6:
        values["cube"] = 2 ** pick.randrange(1, 9)
        values["cube_owner"] = pick.randrange(2)
    if not length:
        values["jacoby"], values["beavers"] = pick.random() < 0.5, pick.random() < 0.5
    values["decision"] = pick.choice(["roll", "play", "take", "resign"])
    if values["decision"] == "take":
        if values["crawford"]:
            values["decision"] = "roll"
        elif values.get("cube", 1) > 1:
            values["cube_owner"] = values["turn"]
    if values["decision"] == "play" or (values["decision"] == "resign" and pick.random() < 0.5):
        values["dice"] = dice
    if values["decision"] == "resign":
        values["resigned"] = pick.randint(1, 3)
    return Match(**values)


@pytest.fixture(scope="module")
def matches(game_positions, scattered_positions) -> list[Match]:
    """Random states on positions from games and from scattered men, both bars occupied among them."""
    made = []
    for seed, (boards, rolled) in enumerate((game_positions(300, 5), scattered_positions(300, 6))):
        for i, (board, dice) in enumerate(zip(boards.tolist(), rolled.tolist(), strict=True)):
            made.append(random_match(Position(board), (dice[0], dice[1]), 1000 * seed + i))
    assert any(match.position.men[25] and match.position.men[0] for match in made)
    assert {match.decision for match in made} == {"roll", "play", "take", "resign"}
    return made


# Vectors


@pytest.mark.parametrize(("xgid", "gnubg"), PAIRS)
def test_xg_and_gnubg_mean_the_same(xgid, gnubg):
    match = parse_id(xgid)
    assert to_gnubg(match) == gnubg
    told = parse_id(gnubg)
    assert replace(match, beavers=False, max_cube=told.max_cube) == told
    assert to_gnubg(told) == gnubg
    high_first = xgid.replace(":16:", ":61:")
    assert to_xgid(match) == "XGID=" + high_first
    assert parse_id(f"  XGID={xgid}\n") == parse_id("=" + xgid) == match


def test_a_match_id_alone_stands_on_the_opening_position():
    match = parse_id("QYkqASAAIAAA")
    assert (match.length, match.score, match.cube, match.cube_owner, match.dice) == (9, (2, 4), 2, 0, (5, 2))
    assert match.position == Position.start() and match.decision == "play"


def test_a_position_id_alone_is_money_and_player_1_to_roll():
    assert parse_id("4HPwATDgc/ABMA") == Match(decision="roll", turn=1)


@pytest.mark.parametrize(("identifier", "line"), RAW_BOARDS)
def test_fibs_boards_as_gnubg_shows_them(identifier, line):
    match = parse_id(f"{MEN_ID}:{identifier}")
    assert parse_id(line) == match
    # gnubg gives both players the dice, counts nobody on the bar, and lets both double in the Crawford game.
    ours, theirs = (text.split(":") for text in (to_fibs(match, ("root", "gnubg")), line))
    same = [*range(33), 37, *([] if match.crawford else [38, 39]), *range(40, 47), *range(49, 53)]
    assert [ours[i] for i in same] == [theirs[i] for i in same]


@pytest.mark.parametrize(("identifier", "line"), REQUESTS)
def test_requests_to_an_external_player(identifier, line):
    assert from_fibs(line, gnubg_request=True) == parse_id(f"{MEN_ID}:{identifier}")


def test_fibs_boards_of_either_colour_and_direction():
    # The same moment as told by FIBS to the player of the negative men, who moves from 1 to 24.
    match = parse_id(RAW_BOARDS[0][1])
    men = [int(n) for n in MEN_1.split(":")]
    negative = ":".join(str(-n) for n in men)
    backwards = ":".join(str(n) for n in reversed(men))
    rest = "0:0:0:0:2:1:0:0"
    assert parse_id(f"board:a:b:7:4:2:{negative}:-1:{rest}:-1:-1:0:25:0:1:0:0:0:0:0:1") == match
    assert parse_id(f"board:a:b:7:4:2:{backwards}:1:{rest}:1:1:25:0:0:1:0:0:0:0:0:1") == match


def test_unlimited_fibs_matches_are_money():
    line = RAW_BOARDS[0][1].replace(":7:4:2:", ":9999:4:2:")
    assert parse_id(line).length == 0


@pytest.mark.parametrize(
    ("identifier", "winner", "points"),
    [
        ("AAAA4AAAAAAAAA:MAJgAAAAEAAE", 1, 1),  # borne off
        ("4HPwATDgc/ABMA:QkMXAIAAAAAA", 0, 8),  # a gammon resigned with the cube at 4
        ("4HPwATDgc/ABMA:cARgAAAACAAE", 1, 1),  # a double dropped
    ],
)
def test_finished_games_as_gnubg_writes_them(identifier, winner, points):
    match = parse_id(identifier)
    assert (match.decision, match.winner, match.points) == ("over", winner, points)
    assert to_gnubg(match) == identifier


# Round trips


def test_gnubg_ids_come_back(matches):
    for match in matches:
        assert parse_id(to_gnubg(match)) == replace(match, beavers=False)


def test_xgids_and_fibs_boards_come_back_where_they_can_express_the_moment(matches):
    for match in matches:
        if match.decision == "resign":
            for write in (to_xgid, to_fibs):
                with pytest.raises(InvalidId, match="cannot express an offered resignation"):
                    write(match)
            continue
        assert parse_id(to_xgid(match)) == match
        assert parse_id(to_fibs(match)) == replace(match, beavers=False, jacoby=False)


def test_dictionaries_come_back_through_json(matches):
    for match in [*matches, Match(), Match(length=5, score=(4, 1), crawford=True)]:
        assert parse_id(format_id(match, "dict")) == match
        assert from_dict(to_dict(match)) == match


def test_a_dictionary_may_leave_out_and_take_a_position_id():
    assert from_dict({"length": 3}) == Match(length=3)
    assert parse_id('{"position": "4HPwATDgc/ABMA", "decision": "roll"}') == Match(decision="roll")


# What is refused


XGID = PAIRS[0][0]
FIBS = RAW_BOARDS[0][1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no identifier known here"),
        ("hello", "give an XGID, a gnubg Position ID"),
        ("x" * 3000, "at most 2000 characters"),
        ("4HPwATDgc/ABM", "is no identifier known here"),
        ("4HPwATDgc/ABM!", "only A-Z a-z 0-9 + / stand in one"),
        ("////////////AA", "Position ID: "),
        ("4HPwATDgc/ABMA:8IluACAACAA", "a Match ID has 12 characters"),
        ("4HPwATDgc/ABMA:8IluACA?CAAE", "Match ID: character 8 is '?'"),
        ("4HPwATDgc/ABMA:////////////", "the bits after bit 66 must be 0"),
        ("IAkAAAAAAAAE", "bits 4-5, the cube's owner, are 2"),
        ("cAgAAAAAAAAE", "bits 8-10, the state, are 0: no game has begun"),
        ("cAEAAAAAAAAE", "bit 11 lets the player decide who is not on roll"),
        ("cBkAAAAAAAAE", "bits 11-12 say that the doubler must answer a double (a beaver)"),
        ("cAkEAAAAAAAE", "bits 15-20, the dice, are 0 and 1"),
        ("8AkAAAAAAAAE", "a money session has no Crawford game"),
        (XGID[:-3], "an XGID has 10 fields"),
        ("-" + XGID, "XGID field 1, the men, has 26 characters, this one has 27"),
        (XGID.replace("E", "P", 1), "character 7 is 'P'; it must be -, A to O or a to o"),
        (XGID.replace("-b", "Ab", 1), "character 1 is the top player's bar and must be lower case"),
        (XGID.replace("B-:", "Bb:"), "character 26 is the bottom player's bar and must be upper case"),
        (XGID.replace("E", "O", 1), "XGID: the player to roll has 25 men"),
        (XGID.replace(":53:", ":57:"), "XGID field 5, the dice, must be 00, two dice such as 31, or D"),
        (XGID.replace(":53:", ":B:"), "waiting beavers and raccoons are not read"),
        (XGID.replace(":0:0:1:", ":16:0:1:"), "XGID field 2, the cube as a power of two, must be a whole number"),
        (XGID.replace(":0:0:1:", ":0:2:1:"), "XGID field 3, the cube's owner, must be 1 or -1 or 0, not '2'"),
        (XGID.replace(":0:0:1:", ":0:0:0:"), "XGID field 4, the turn, must be 1 or -1, not '0'"),
        (XGID.replace(":1:2:1:3:", ":1:3:0:3:"), "player 0 cannot have 3 points of 3"),
        (XGID.replace(":1:2:1:3:", ":1:1:1:3:"), "exactly one player has 2 of 3 points; the score is 1-1"),
        (XGID.replace(":3:10", ":3:x"), "XGID field 10, the cube's limit as a power of two,"),
        ("board:a:b:1:2", 'a FIBS board is "board", two names and 50 numbers'),
        (FIBS.replace(":7:4:", ":seven:4:"), "field 4 of the FIBS board, match length, must be a whole number"),
        (FIBS.replace(":1:-1:0:25:", ":3:-1:0:25:"), "field 42 of the FIBS board, colour, must be 1 or -1, not 3"),
        (FIBS.replace(":0:25:0:1:", ":0:25:0:2:"), "opponent's men off, is 2, but 14 of 15 men are on the board"),
        (FIBS.replace("-1:0:0:0:0:2", "1:0:0:0:0:2"), "index 0 is the opponent's bar and must not be positive"),
        ("{", "the text begins like JSON, but is none"),
        ('{"lenght": 5}', "'lenght' is no field of a match; did you mean 'length'?"),
        ('{"cube": 3}', "dict: cube must be 1, 2, 4, 8"),
        ('{"position": [1, 2]}', "dict: a position has 26 numbers"),
        ('{"score": 4}', "dict: score must be two numbers"),
        ("[" * 1000, "is no identifier known here"),
        ('{"a":' * 390, "the text begins like JSON"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, sentence):
    with pytest.raises(InvalidId) as error:
        parse_id(text)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_moments_without_an_identifier():
    with pytest.raises(InvalidId, match="there is no Match ID before the opening throw"):
        match_id(Match())
    with pytest.raises(InvalidId, match="an XGID cannot express the opening throw"):
        to_xgid(Match())
    with pytest.raises(InvalidId, match="a name in a FIBS board must be text without colons"):
        to_fibs(Match(decision="roll"), ("a:b", "c"))
    with pytest.raises(InvalidId, match="there is no form 'xg'"):
        format_id(Match(), "xg")
    with pytest.raises(InvalidId, match="an identifier is text, not int"):
        parse_id(5)  # type: ignore[arg-type]


def test_damaged_texts_never_give_another_error(matches):
    rng = np.random.default_rng(7)
    signs = list('ABab019+/-:={}[]",x é')
    for match in matches[:150]:
        for form in FORMS:
            try:
                text = list(format_id(match, form))
            except InvalidId:
                continue
            for _ in range(3):
                text[rng.integers(len(text))] = str(rng.choice(signs))
            try:
                parse_id("".join(text))
            except InvalidId as error:
                assert "\n" not in str(error)


def test_xgid_function_reads_its_own_only():
    assert from_xgid(XGID).length == 3
    with pytest.raises(InvalidId):
        from_xgid(json.dumps({}))
