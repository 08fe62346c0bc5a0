"""Match files: real ones, samples by hand, what gnubg makes of ours, and what damaged ones are told."""

import random
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bgai.notation.mat import read_mat, write_mat
from bgai.notation.matchfiles import MOST_BYTES, parse_record, read_file, write_file
from bgai.notation.record import Action, Game, InvalidRecord, Record
from bgai.notation.sgf import read_sgf, write_sgf
from bgai.rules.match import Match
from bgai.rules.plays import legal_plays

MATCHES = Path(__file__).parent / "data" / "matches"
# Counted by hand or by grep in the files: length, final score, games, rolls with a recorded play or dance.
REAL = {
    "backgammon-studio-3pt-0": (3, (3, 0), 2),
    "backgammon-studio-9pt-1": (9, (3, 9), 7),
    "backgammon-studio-13pt-2": (13, (13, 5), 10),
    "backgammon-studio-13pt-3": (13, (8, 13), 13),
    "backgammongalaxy-1pt-4": (1, (1, 0), 1),
    "backgammongalaxy-3pt-5": (3, (0, 3), 3),
    "backgammongalaxy-5pt-6": (5, (5, 0), 3),
    "backgammongalaxy-17pt-7": (17, (12, 17), 18),
}
SHORT = ["backgammon-studio-3pt-0", "backgammongalaxy-1pt-4", "backgammongalaxy-3pt-5"]
GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")

MONEY = """\
; [Event "Club evening"]
; [Jacoby "On"]

 0 point match

 Game 1
 Ann : 0                        Bob : 0
  1) 31: 8/5 6/5                 42: 8/4 6/4
  2)  Doubles => 2               Beavers => 4
  3)  Takes
  4) 65: 24/13                   21: 13/11 24/23
      Wins 8 points

 Game 2
 Ann : 8                        Bob : 0
  1)                             52: 13/8 24/22
  2)  Doubles => 2               Drops
      Wins 1 point

 Game 3
 Ann : 9                        Bob : 0
  1) 61: 13/7 8/7                64: 24/14
"""


@pytest.fixture(scope="module")
def read():
    """The record of a real file; read once."""
    known: dict[str, Record] = {}

    def get(name: str) -> Record:
        if name not in known:
            known[name] = read_file(MATCHES / f"{name}.mat")
        return known[name]

    return get


def rolls_in(text: str) -> int:
    return len(re.findall(r"(?<!\S)[1-6]{2}:", text))


# Real files


@pytest.mark.parametrize("name", SHORT)
def test_short_real_matches_are_read_whole(read, name):
    check_whole(read(name), name)


@pytest.mark.slow
def test_all_real_matches_are_read_whole(read):
    records = [read(name) for name in REAL]
    for record, name in zip(records, REAL, strict=True):
        check_whole(record, name)
        assert read_mat(write_mat(record)) == record
        assert read_sgf(write_sgf(record)) == record
    assert sum(len(record.games) for record in records) == 57
    plays = [action for record in records for game in record.games for action in game.actions if action.play]
    assert len(plays) == 2069


def check_whole(record: Record, name: str) -> None:
    length, score, games = REAL[name]
    assert (record.length, record.score, len(record.games)) == (length, score, games)
    assert record.players == ("PlayerA", "PlayerB") and record.crawford
    text = (MATCHES / f"{name}.mat").read_text()
    assert sum(action.dice is not None for game in record.games for action in game.actions) == rolls_in(text)
    told = [tuple(map(int, score)) for score in re.findall(r"^ PlayerA : (\d+) +PlayerB : (\d+)", text, re.MULTILINE)]
    assert [game.score for game in record.games] == told
    for game in record.games:
        assert (game.winner is not None) and game.end.decision == "over"


@pytest.mark.parametrize("name", SHORT)
def test_real_matches_come_back_from_both_formats(read, name):
    record = read(name)
    assert read_mat(write_mat(record)) == record
    assert read_sgf(write_sgf(record)) == record


def test_what_a_real_match_says(read):
    record = read("backgammongalaxy-3pt-5")
    assert record.headers == (("Site", "BackgammonGalaxy"), ("Variation", "Backgammon"), ("Unrated", "Off"))
    assert [(game.winner, game.points) for game in record.games] == [(1, 1), (1, 1), (1, 1)]
    assert [game.start.crawford for game in record.games] == [False, False, True]
    first = record.games[0]
    assert [str(action.play) for action in first.actions[:2]] == ["24/18 13/11", "13/9 8/7*"]
    assert [(action.player, action.kind) for action in first.actions[-2:]] == [(1, "double"), (0, "drop")]
    unrecorded = read("backgammon-studio-3pt-0").games[-1]
    assert [action.kind for action in unrecorded.actions[-2:]] == ["roll", "resign"]


# Samples by hand


def test_a_money_session_with_a_beaver():
    record = read_mat(MONEY)
    assert (record.length, record.jacoby, record.beavers, record.score) == (0, True, True, (9, 0))
    assert record.players == ("Ann", "Bob") and record.headers == (("Event", "Club evening"),)
    first, second, third = record.games
    assert [action.kind for action in first.actions] == "play play double beaver play play resign".split()
    assert (first.end.cube, first.end.cube_owner, first.winner, first.points) == (4, 1, 0, 8)
    assert first.actions[-1] == Action(1, "resign", points=2)
    assert (second.winner, second.points) == (0, 1)
    assert third.winner is None and third.end.decision == "roll"
    for text in (write_mat(record), write_sgf(record)):
        assert parse_record(text) == record


@pytest.mark.parametrize("left", ["Doubles => 2", "doubles", "Double => 2", "Redoubles => 2"])
@pytest.mark.parametrize("right", ["Takes", "take", "Accepts"])
def test_words_of_other_dialects(left, right):
    text = (
        f" 3 point match\n\n Game 1\n A : 0       B : 0\n 1) 31: 8/5 6/5    42: 8/4 6/4\n 2) {left}       {right}\n"
    )
    assert read_mat(text).games[0].end.cube == 2


def test_plays_in_every_notation_mean_the_same():
    head = " 3 point match\n\n Game 1\n A : 0          B : 0\n"
    games = [
        read_mat(head + f"  1) 62: {first}   55: {second}\n").games
        for first, second in [
            ("24/18 13/11", "8/3(2) 6/1(2)"),
            ("13/11 24/18", "6/1* 8/3 6/1* 8/3"),
            ("13-11, 24-18", "6/1(2) 8/3(2)"),
        ]
    ]
    assert games[0] == games[1] == games[2]


def test_a_single_game_without_any_heading():
    record = read_mat(" gnubg                      you\n  1) 31: 8/5 6/5          42: 8/4 6/4\n  2) 21: 13/10\n")
    assert (record.players, record.length, len(record.games[0].actions)) == (("gnubg", "you"), 0, 3)


def test_jacoby_is_seen_where_the_points_fit_no_other_rule():
    # A gammon with the cube in the middle that counted one point, and nothing that says why.
    start = Match(beavers=True, jacoby=True)
    game = gammon(start)
    record = Record(("A", "B"), (game,), jacoby=True, beavers=True)
    silent = re.sub(r"; \[Jacoby.*\n", "", write_mat(record))
    assert "Wins 1 point" in silent and read_mat(silent) == record


def gammon(start: Match) -> Game:
    """Player 0 rolls sixes and fives and wins a gammon; player 1 dances or plays little."""
    rng = random.Random(3)
    table = start.begin(6, 5)
    actions: list[Action] = []
    while table.decision != "over":
        if table.decision == "roll":
            table = table.roll((6, 6) if table.turn == 0 else (1, 2))
        assert table.dice is not None
        plays = legal_plays(table.position, table.dice)
        wanted = min if table.turn == 0 else max
        key = [(play.after.pips[1] - play.after.pips[0], rng.random()) for play in plays]
        play = plays[key.index(wanted(key))]
        actions.append(Action(table.turn, "play", table.dice, play))
        table = table.play(play)
    assert abs(table.position.off[0]) == 0  # the loser bore nobody off
    return Game(start, tuple(actions))


def test_names_and_headers_of_all_kinds_come_back():
    headers = (("Event", "Spring ] Cup \\ 2"), ("EventDate", "2024.03.31"), ("Site", "Zürich: hall"), ("Round", "1"))
    game = read_mat(MONEY).games[2]
    game = Game(replace(game.start, score=(0, 0)), game.actions)
    record = Record(("Zoë: the [great]", "李"), (game,), jacoby=True, beavers=True, headers=headers)
    assert set(read_mat(write_mat(record)).headers) == set(headers)
    for text in (write_mat(record), write_sgf(record)):
        back = parse_record(text)
        assert back.players == record.players and dict(back.headers) == dict(headers) and back.games == record.games


def test_a_player_may_resign_out_of_turn():
    text = " 5 point match\n\n Game 1\n A : 0      B : 0\n  1) 31: 8/5 6/5      42: 8/4 6/4\n      Wins 2 points\n"
    game = read_mat(text).games[0]
    assert game.actions[-1] == Action(1, "resign", points=2) and game.winner == 0
    other = read_mat(text.replace("      Wins", " " * 30 + "Wins")).games[0]
    assert other.actions[-1] == Action(0, "resign", points=2) and other.end.score == (0, 2)


def test_sgf_by_gnubg():
    # As gnubg 1.07 saved it: dice of a player who then resigned; comments and variations are passed over.
    text = (
        "(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07.001]MI[length:3][game:0][ws:0][bs:0]PW[Zoe]PB[one]DT[2026-11-30]"
        "RU[Crawford]RE[W+2R]GS[M:0 0 2 0 0][D:0 0]\n;W[62xrmk]C[a \\] comment]LU[+0.1]\n;B[31qtst]A[0][x E 1]"
        "\n;W[31hefe]\n;PL[B]DI[61](;C[main])(;B[61lrqr]))\n"
    )
    record = read_sgf(text)
    assert record.headers == (("EventDate", "2026.11.30"),) and record.score == (2, 0)
    kinds = [action.kind for action in record.games[0].actions]
    assert kinds == ["play", "play", "play", "roll", "resign"]


# gnubg itself


def through_gnubg(record: Record, form: str, folder: Path) -> tuple[Record, Record]:
    """What gnubg saves as SGF and exports as .mat after it has opened our file."""
    write_file(record, folder / f"ours.{form}", form)
    opening = "import mat" if form == "mat" else "load match"
    settings = [
        "confirm save off",
        "confirm new off",
        *(f"automatic {what} off" for what in ("game", "roll", "move")),
    ]
    commands = [f"set {setting}" for setting in settings]
    commands += ["set player 0 human", "set player 1 human", f"{opening} {folder}/ours.{form}"]
    commands += [f"save match {folder}/back.sgf", f"export match mat {folder}/back.mat"]
    (folder / "commands").write_text("\n".join(commands) + "\n")
    assert GNUBG is not None
    done = subprocess.run(
        [GNUBG, "-t", "-q", "-c", str(folder / "commands")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/games:/usr/bin:/bin"},
    )
    assert "WARNING" not in done.stdout, done.stdout
    return read_file(folder / "back.sgf"), read_file(folder / "back.mat")


def same_games(record: Record, back: Record) -> None:
    assert (back.players, back.length, back.score) == (record.players, record.length, record.score)
    assert [game.actions for game in back.games] == [game.actions for game in record.games]
    assert [game.start.crawford for game in back.games] == [game.start.crawford for game in record.games]


@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed; apt-get install gnubg")
@pytest.mark.parametrize("form", ["mat", "sgf"])
@pytest.mark.parametrize("name", SHORT)
def test_gnubg_opens_our_files_and_gives_them_back(read, name, form, tmp_path):
    for back in through_gnubg(read(name), form, tmp_path):
        same_games(read(name), back)


@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed; apt-get install gnubg")
@pytest.mark.parametrize("form", ["mat", "sgf"])
def test_gnubg_reads_our_money_sessions(form, tmp_path):
    record = read_mat(MONEY)
    sgf, _ = through_gnubg(record, form, tmp_path)
    same_games(record, sgf)


@pytest.mark.slow
@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed; apt-get install gnubg")
@pytest.mark.parametrize("name", [name for name in REAL if name not in SHORT])
def test_gnubg_opens_all_our_files_and_gives_them_back(read, name, tmp_path):
    for form in ("mat", "sgf"):
        for back in through_gnubg(read(name), form, tmp_path):
            same_games(read(name), back)


# What is refused


HEAD = " 5 point match\n\n Game 1\n Ann : 0        Bob : 0\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty"),
        ("\0\1\2", "the file is not text"),
        ("hello", "line 1: expected players and score"),
        (" 5 point match\n", "there is no game in this text"),
        (" 5 point match\nhello\n Game 1\n", 'line 2: expected " Game 1"'),
        (" 5000 point match\n", "line 1: a match has at most 999 points, not 5000"),
        (" 5 point match\n\n Game 1\n", "line 3: a line with the players and the score must follow"),
        (" 5 point match\n Game 1\n Ann\n", 'line 3: expected players and score, as in "Ann : 0      Bob : 2"'),
        (" 5 point match\n Game 1\n A : 7     B : 0\n", "line 3: player 0 cannot have 7 points of 5"),
        (HEAD + "  1) 31: 8/5\n", "line 5, left: 8/5 is not legal with 3-1: both dice can be played"),
        (HEAD + "  1) 31: 8/5 6/5     42: 24/20 24/22 6/4\n", "line 5, right: this takes 3 dice"),
        (HEAD + "  1) 77: 8/5\n", "line 5: expected a row such as"),
        (
            HEAD + "  1) 31: 8/5 6/5\n  2) 31: 8/5 6/5\n",
            "line 6, left: player 0 cannot play now: player 1 is on roll",
        ),
        (HEAD + "  1) 31: 8/5 6/5     Takes\n", "line 5, right: take is not possible now"),
        (HEAD + "  1) Doubles => 2     Takes\n", "line 5, left: the game must begin with a roll, not with double"),
        (HEAD + "  1) 31: 8/5 6/5     Doubles => 4\n", "line 5, right: expected Doubles => 2, not 'doubles => 4'"),
        (HEAD + "  1) 31: 8/5 6/5     42: ????\n  2) 31: 8/5 6/5\n", "the roll 4-2 before this was not played"),
        (HEAD + "  1) 31: 8/5 6/5     42: 8/4 6/4     31: 8/5\n", "line 5: a row has at most two entries"),
        (HEAD + "  1) 31: 8/5 6/5     Doubles => 2\n  2) Drops     Wins 2 points\n", "it must be 1"),
        (
            HEAD + "  1) 31: 8/5 6/5     Doubles => 2\n  2) Drops\n    Wins 1 point\n",
            "the other player won this game",
        ),
        (HEAD + "  1) 31: 8/5 6/5\n     Wins 7 points\n", "7 points were won; it must be 3"),
        (HEAD + "      Wins 1 point\n\n Game 2\n Ann : 2        Bob : 0\n", "game 2 begins at 2-0, but after"),
        (
            HEAD.replace("Ann : 0", "Ann : 3") + "      Wins 2 points\n\n Game 2\n Ann : 5        Bob : 0\n",
            "player 0 cannot have 5 points of 5",
        ),
        (HEAD + "x" * 2000, "line 5 has 2000 characters; this is no .mat file"),
        ("(", "line 1: the file ends within a game"),
        ("()", "line 1: a game must have at least one node"),
        ("(;GM[6])\n)", "line 2: this ) closes nothing"),
        ("(;GM[6])\nhello", "line 2: expected a game that begins with ("),
        ("(;GM[1])", "line 1: this is no backgammon game: GM must be 6, not '1'"),
        ("(;GM[6]\n;B[99abab])", "line 2: expected a move such as 31hfeh, double, take or drop, not '99abab'"),
        ("(;GM[6]\n;B[31abab])", "line 2: "),
        ("(;GM[6]\n;AE[a:y])", "line 2: AE sets up a position"),
        ("(;GM[6]MI[length:x])", "line 1: MI[length:...] must have a number from 0 to 999, not 'x'"),
        ("(;GM[6]%)", "line 1: '%)' does not belong into an SGF file"),
        ("(" * 100_000, "line 1: the file ends within a game"),
        ("(;GM[6]MI[length:3]RU[Crawford:CrawfordGame])", "exactly one player has 2 of 3 points"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, sentence):
    with pytest.raises(InvalidRecord) as error:
        parse_record(text)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_large_files_are_refused_before_they_are_read(tmp_path):
    large = tmp_path / "large.mat"
    with open(large, "wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(InvalidRecord, match="large.mat is larger than 16 MB; no match file is"):
        read_file(large)


def test_files_may_be_latin_1_and_have_a_byte_order_mark(tmp_path):
    latin, marked = tmp_path / "latin.mat", tmp_path / "marked.mat"
    latin.write_bytes(MONEY.replace("Bob", "Zoë").encode("latin-1"))
    marked.write_bytes(b"\xef\xbb\xbf" + MONEY.replace("\n", "\r\n").encode())
    assert read_file(latin).players == ("Ann", "Zoë")
    assert read_file(marked) == read_mat(MONEY)


CHINESE = MONEY.replace("Ann", "张伟").replace("Bob", "李娜（北京）")


@pytest.mark.parametrize(
    ("text", "written", "read_as"),
    [
        (CHINESE, "utf-8", None),
        (CHINESE, "gb18030", "GB18030"),
        (CHINESE, "gbk", "GB18030"),
        *(
            (MONEY.replace("Bob", name), "latin-1", "Latin-1")
            for name in ("Müller", "Päävo", "Jørgen Ærø", "François")
        ),
    ],
)
def test_encodings_are_found_out_and_told(tmp_path, text, written, read_as):
    file, said = tmp_path / "m.mat", []
    file.write_bytes(text.encode(written))
    assert read_file(file, said.append) == read_mat(text)
    assert said == ([] if read_as is None else [f"{file} is not UTF-8 and is read as {read_as}"])


@pytest.mark.parametrize("charset", ["Big5", "windows-1251", "UTF-8", "nonsense", "hex", "utf-16"])
def test_sgf_may_say_its_encoding(tmp_path, charset):
    """One that is no encoding, or not the file's, is not believed."""
    names = {"Big5": "張偉", "windows-1251": "Борис"}
    text = write_sgf(read_mat(MONEY.replace("Ann", names.get(charset, "Zoë")))).replace("UTF-8", charset)
    file, said = tmp_path / "m.sgf", []
    file.write_bytes(text.encode(charset if charset in names else "latin-1"))
    assert read_file(file, said.append).players == (names.get(charset, "Zoë"), "Bob")
    assert said[0].endswith(charset if charset in names else "Latin-1")


def test_records_are_checked_when_they_are_made():
    record = read_mat(MONEY)
    with pytest.raises(InvalidRecord, match="game 2 begins at 9-0, but after the games before it is 8-0"):
        replace(record, games=(record.games[0], record.games[2]))
    with pytest.raises(InvalidRecord, match="game 1 has other rules than the record"):
        replace(record, length=5)
    with pytest.raises(InvalidRecord, match="action 2: player 0 cannot play now: player 1 is on roll"):
        Game(record.games[0].start, record.games[0].actions[:1] * 2)
    with pytest.raises(InvalidRecord, match="a game begins before the opening throw"):
        Game(Match(decision="roll"), ())


def test_damaged_files_never_give_another_error():
    rng = random.Random(11)
    record = read_mat(MONEY)
    texts = [MONEY, write_mat(record), write_sgf(record)]
    for _ in range(200):
        text = list(rng.choice(texts))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            what = rng.choice(["cut", "sign", "swap", "end"])
            if what == "cut":
                del text[at : at + rng.randint(1, 30)]
            elif what == "sign":
                text[at] = rng.choice("()[];:=>/*0123456789abyz \n\t\\é\u2028")
            elif what == "swap":
                text[at : at + 5] = reversed(text[at : at + 5])
            else:
                text = [*text[:at], *text[at // 2 :]][:3000]
            if not text:
                break
        try:
            parse_record("".join(text))
        except InvalidRecord as error:
            assert "\n" not in str(error)
