"""`bgai play` with a scripted person against a simple bot."""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bgai.bots import Bot, UnknownBot, ValueBot
from bgai.evaluation.encoding import encoding, encoding_names
from bgai.evaluation.network import Network
from bgai.frontends import saved, terminal
from bgai.frontends.saved import DamagedSave, Game, Session
from bgai.frontends.terminal import Table, play_session
from bgai.notation.plays import parse_play
from bgai.rules.dice import roll
from bgai.rules.moves import afterstates
from bgai.rules.plays import legal_plays

SEED = 5  # the person starts; there are turns with one legal play and with none


class SmallestBot(Bot):
    """Plays the afterstate that comes first in the order of its numbers."""

    name = "smallest"

    def choose_boards(self, boards, dice):
        chosen = np.empty_like(boards)
        for i in range(len(boards)):
            rows, _ = afterstates(boards[i : i + 1], dice[i : i + 1])
            chosen[i] = min(rows.tolist())
        return chosen


def open_test_bot(text: str) -> Bot:
    if text not in ("smallest", "second"):
        raise UnknownBot(f"there is no bot {text!r} here")
    bot = SmallestBot()
    bot.name = text
    return bot


class Person:
    """Says its lines one after another and then leaves; remembers what it was asked and told."""

    def __init__(self, *lines: str, then: Callable[[str], str] | None = None):
        self.lines = list(lines)
        self.then = then
        self.heard: list[str] = []

    def ask(self, prompt: str) -> str:
        self.heard.append(prompt)
        if self.lines:
            return self.lines.pop(0)
        if self.then is None:
            raise EOFError
        return self.then(prompt)

    def say(self, text: str) -> None:
        self.heard.append(text)

    @property
    def text(self) -> str:
        """What was heard, without the line breaks of wrapping."""
        return " ".join("\n".join(self.heard).split())


def sit_down(
    folder: Path, *lines: str, then=None, wanted: str | None = "smallest", seed: int | None = SEED
) -> Person:
    person = Person(*lines, then=then)
    table = Table(person.ask, person.say, open_test_bot, folder / "game.json")
    try:
        play_session(table, wanted=wanted, seed=seed)
    except EOFError:
        person.heard.append("LEFT")
    return person


def on_file(folder: Path) -> Session | None:
    return saved.load(folder / "game.json")


def first_play_then_stop(prompt: str) -> str:
    """Plays number 1 of every list and no second game."""
    return "1" if re.fullmatch(r"[1-6]-[1-6]> ", prompt) else "n"


def test_a_whole_game_by_numbers_reaches_its_end(tmp_path):
    person = sit_down(tmp_path, then=first_play_then_stop)
    # The same game without the terminal: rules and dice alone decide who wins.
    game = Game(SEED)
    while not game.points:
        if game.person_to_roll:
            game = game.played(legal_plays(game.position, game.dice)[0])
        else:
            game = game.played(SmallestBot().choose(game.position, game.dice))
    kind = ("single game: 1 point", "gammon: 2 points", "backgammon: 3 points")[abs(game.points) - 1]
    won, lost = max(game.points, 0), max(-game.points, 0)
    assert f"{'You win' if won else 'smallest wins'} a {kind}." in person.text
    assert f"Score of this session: you {won}, smallest {lost}." in person.text
    assert "`bgai play --bot smallest --seed 5`" in person.text
    assert person.heard[-1] == "Goodbye."
    assert list(tmp_path.iterdir()) == []


def test_several_games_are_counted_and_each_has_its_own_dice(tmp_path):
    person = sit_down(tmp_path, "resign", "2", "y", "resign", "", "", "resign", "backgammon", "n")
    scores = [line for line in person.heard if line.startswith("Score")]
    assert [line.split()[-1] for line in scores] == ["2.", "3.", "6."]
    assert [f"--seed {seed}`" in person.text for seed in range(SEED, SEED + 4)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("answer", "points"),
    [("", 1), ("1", 1), ("single", 1), ("2", 2), ("gammon", 2), ("3", 3), ("Backgammon", 3)],
)
def test_resigning_costs_what_the_person_chose(tmp_path, answer, points):
    person = sit_down(tmp_path, "resign", "4", answer, "n")
    assert "Please type 1, 2, 3 or n." in person.heard
    assert f"Score of this session: you 0, smallest {points}." in person.text


def test_resigning_can_be_thought_better_of(tmp_path):
    sit_down(tmp_path, "resign", "n", "1")
    assert len(on_file(tmp_path).game.turns) == 2


def test_opening_shows_every_throw_and_the_higher_die_starts(tmp_path):
    seen = set()
    for seed in range(40):
        person = sit_down(tmp_path / str(seed), seed=seed)
        throws = re.findall(r"You throw (\d), smallest throws (\d): (.*?)[.]", person.text)
        number = 0
        for mine, theirs, what in throws:
            number += 1
            assert (int(mine), int(theirs)) == tuple(roll(seed, 0, number))
            expected = "a tie, both throw again" if mine == theirs else "you start"
            assert what == (expected if mine >= theirs else "smallest starts")
            seen.add(what)
        assert mine != theirs
        first = max(mine, theirs) + "-" + min(mine, theirs)
        assert f"You rolled {first}." in person.text or f"smallest rolls {first} and plays" in person.text
    assert len(seen) == 3


def test_typed_notation_is_played_and_the_bots_reply_is_shown(tmp_path):
    game = Game(SEED)
    assert game.person_to_roll
    play = legal_plays(game.position, game.dice)[3]
    person = sit_down(tmp_path, str(play))
    after = on_file(tmp_path).game
    assert after.turns[0].play == play
    assert f"You play {play}." in person.heard
    high, low = game.played(play).dice
    assert f"smallest rolls {high}-{low} and plays {after.turns[1].play}." in person.heard


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("24/13", "Not played: "),
        ("13/12 13/12 13/12 13/12 13/12", "Not played: "),
        ("what?", "Not played: cannot read 'what?'"),
        ("b 20", "Not played: "),
        ("\x00\x1b[2J", "Not played: "),
        ("pass", "Not played: you cannot pass"),
        ("0", "numbered from 1"),
        ("99999999999999999999999", "numbered from 1"),
        ("", "Type a play such as"),
        ("hlep", "There is no command 'hlep'; did you mean help?"),
        ("list 9", "there is no page '9'"),
        ("list x", "there is no page 'x'"),
        ("undo", "There is no turn of yours to take back."),
        ("hint", "smallest gives no hints"),
        ("help", "take back your last turn"),
        ("pips", "Pips: you 167, smallest 167."),
        ("P", "Pips: you 167, smallest 167."),
        ("save", "The game is saved in"),
    ],
)
def test_whatever_is_typed_gets_an_answer_and_the_turn_goes_on(tmp_path, line, answer):
    person = sit_down(tmp_path, line, "1")
    assert answer in person.text
    assert len(on_file(tmp_path).game.turns) == 2
    lines = [heard for said in person.heard for heard in said.splitlines() if str(tmp_path) not in heard]
    assert max(map(len, lines)) <= 80


def test_list_numbers_are_those_that_are_played(tmp_path):
    game = Game(SEED)
    plays = legal_plays(game.position, game.dice)
    person = sit_down(tmp_path, "list", str(len(plays)))
    listed = dict(re.findall(r"(\d+)\. (\S+(?: [\dbar]+/\S+)*)", "\n".join(person.heard)))
    assert listed == {str(number): str(play) for number, play in enumerate(plays, start=1)}
    assert on_file(tmp_path).game.turns[0].play == plays[-1]


def test_hints_are_the_bots_ranking_with_the_numbers_of_the_list(tmp_path):
    chance = np.random.default_rng(1)
    inputs = encoding(encoding_names()[0])
    shapes = [(8, inputs.width), (6, 8)]
    layers = tuple(
        (chance.normal(size=shape).astype(np.float32), np.zeros(shape[0], dtype=np.float32)) for shape in shapes
    )
    bot = ValueBot(Network(inputs, layers), name="valuer")
    person = Person("hint")
    with pytest.raises(EOFError):
        table = Table(person.ask, person.say, lambda text: bot, tmp_path / "game.json")
        play_session(table, seed=SEED)
    game = Game(SEED)
    plays = legal_plays(game.position, game.dice)
    ranked = bot.rank(game.position, game.dice)
    hints = [line for line in person.heard if "you win" in line]
    assert len(hints) == 3
    for line, (play, outcomes, equity) in zip(hints, ranked, strict=False):
        number, rest = line.split(".", 1)
        assert plays[int(number) - 1].after == play.after
        assert rest.split() == [
            *str(play).split(),
            f"{equity:+.3f}",
            "you",
            "win",
            f"{outcomes.win_chance:.1%}",
        ]
    assert f"Best plays according to {bot.name}, with their numbers in list:" in person.heard


def test_a_long_list_comes_in_pages(tmp_path):
    game = _game_with_many_plays()
    plays = legal_plays(game.position, game.dice)
    saved.save(Session("smallest", game), tmp_path / "game.json")
    person = sit_down(tmp_path, "c", "list", *[""] * 20)
    pages = [line for line in person.heard if line.startswith("Page ")]
    listed = re.findall(r"(?:^| )(\d+)\. (\S+(?: [\dbar]+/\S+)*)", "\n".join(person.heard), re.M)
    count = len(pages) + 1  # the last page does not say that more will come
    assert count > 1
    assert [line.split(";")[0] for line in pages] == [f"Page {page} of {count}" for page in range(1, count)]
    assert len({number for number, _ in listed}) == len(listed) == len(plays)
    assert {int(number): text for number, text in listed} == dict(enumerate(map(str, plays), start=1))
    # After the last page Enter means nothing more; a page can be asked for by its number.
    assert any(line.startswith("Type a play") for line in person.heard)
    last = sit_down(tmp_path, "c", f"list {count}")
    assert f"{len(plays)}. {plays[-1]}" in last.text and " 1. " not in last.text


def _game_with_many_plays() -> Game:
    """A game in which the person has more plays than go on one page."""
    for seed in range(100):
        game = Game(seed)
        while not game.points:
            plays = legal_plays(game.position, game.dice)
            if game.person_to_roll and len(plays) > 70:
                return game
            game = game.played(plays[len(plays) // 2])
    raise AssertionError("no roll with so many plays")


def test_undo_restores_the_position_and_the_dice_again_and_again(tmp_path):
    prompts = []

    def states(*lines: str) -> Game:
        person = sit_down(tmp_path, *lines)
        prompts.append([heard for heard in person.heard if heard.endswith("> ")])
        game = on_file(tmp_path).game
        (tmp_path / "game.json").unlink()
        return game

    start, one, two = states(), states("2"), states("2", "1")
    assert states("2", "undo") == start
    assert states("2", "1", "undo") == one
    assert states("2", "1", "u", "undo", "UNDO") == start
    assert states("2", "1", "undo", "1") == two
    assert states("2", "1", "undo", "undo", "2", "1") == two
    assert prompts[-1][0] == prompts[-1][2 + 2]  # the same roll is asked for again


def test_undo_goes_past_turns_in_which_nothing_could_be_moved(tmp_path):
    game = _game_in_which_the_person_danced()
    before = game.taken_back()
    assert before.person_to_roll and before.turns == game.turns[: len(before.turns)]
    assert len(legal_plays(before.position, before.dice)[0].moves) > 0
    assert all(not turn.play.moves for turn in game.turns[len(before.turns) + 2 :: 2])


def _game_in_which_the_person_danced() -> Game:
    for seed in range(100):
        game = Game(seed)
        while not game.points:
            play = legal_plays(game.position, game.dice)[0]
            danced = game.person_to_roll and not play.moves and len(game.turns) > 2
            game = game.played(play)
            if danced:
                game = game.played(legal_plays(game.position, game.dice)[0])
                if not game.points:
                    return game
    raise AssertionError("nobody danced")


def test_no_play_is_said_and_an_only_play_waits_for_enter(tmp_path):
    person = sit_down(tmp_path, then=lambda prompt: "1" if prompt.endswith("> ") else "n")
    passes = [heard for heard in person.heard if "no legal play" in heard]
    only = [number for number, heard in enumerate(person.heard) if heard.startswith("You have only one")]
    assert passes and only
    # The same game with Enter in place of 1 wherever there is only one play.
    second = Person()

    def answer(prompt: str) -> str:
        if not prompt.endswith("> "):
            return "n"
        return "" if second.heard[-2].startswith("You have only one") else "1"

    second.then = answer
    play_session(Table(second.ask, second.say, open_test_bot, tmp_path / "game.json"), wanted="smallest", seed=SEED)
    assert second.heard == person.heard


def test_leaving_keeps_the_game_and_continuing_gives_it_back(tmp_path):
    sit_down(tmp_path, "1", "2", "1")
    left = on_file(tmp_path)
    assert len(left.game.turns) == 6
    person = sit_down(tmp_path, "c", seed=None, wanted=None)
    assert on_file(tmp_path) == left
    assert "You have an unfinished game against smallest: 6 turns played" in person.text
    assert "You throw" not in person.text
    # Played on, it is the game that was never left.
    sit_down(tmp_path, "", "1", "1")
    continued = on_file(tmp_path)
    sit_down(tmp_path / "other", "1", "2", "1", "1", "1")
    assert continued == on_file(tmp_path / "other")


def test_a_game_left_while_the_bot_thinks_goes_on_with_its_reply(tmp_path):
    class Interrupted(SmallestBot):
        def choose_boards(self, boards, dice):
            raise EOFError

    person = Person("2")
    table = Table(person.ask, person.say, lambda text: Interrupted(), tmp_path / "game.json")
    with pytest.raises(EOFError):
        play_session(table, wanted="smallest", seed=SEED)
    assert len(on_file(tmp_path).game.turns) == 1
    sit_down(tmp_path, "c")
    sit_down(tmp_path / "other", "2")
    assert on_file(tmp_path) == on_file(tmp_path / "other")


def test_the_score_of_the_session_outlives_leaving(tmp_path):
    sit_down(tmp_path, "resign", "2", "y", "1")
    assert on_file(tmp_path).score == (0, 2)
    person = sit_down(tmp_path, "c", "resign", "1", "n")
    assert "Score of this session: you 0, smallest 3." in person.text


def test_quit_leaves_like_the_end_of_the_input(tmp_path):
    assert sit_down(tmp_path, "1", "quit", "1").lines == ["1"]
    assert len(on_file(tmp_path).game.turns) == 2


def test_a_continued_game_keeps_its_bot_and_dice_and_says_so(tmp_path):
    sit_down(tmp_path, "1", wanted="smallest")
    left = on_file(tmp_path)
    person = sit_down(tmp_path, "c", "resign", "", "y", wanted="second", seed=77)
    assert "This game stays against smallest, as it was begun; second plays the next one." in person.text
    assert "--seed counts from the next one" in person.text
    assert f"--seed {left.game.seed}`" in person.text
    assert on_file(tmp_path).bot == "second"
    assert on_file(tmp_path).game.seed == 77
    assert on_file(tmp_path).score == (0, 0)


def test_a_discarded_game_is_kept_aside(tmp_path):
    sit_down(tmp_path, "1")
    old = (tmp_path / "game.json").read_bytes()
    person = sit_down(tmp_path, "perhaps", "n", seed=8)
    assert "Please type c (continue) or n (new)." in person.heard
    assert (tmp_path / "game.json.bak").read_bytes() == old
    assert on_file(tmp_path).game == Game(8)
    sit_down(tmp_path, "c", "restart", "n", "restart", "y", seed=10)
    assert (tmp_path / "game.json.bak").read_bytes() == old
    assert len(list(tmp_path.glob("game.json.bak*"))) == 2
    assert on_file(tmp_path).game.seed == 10


def test_leaving_at_the_first_question_keeps_the_unfinished_game(tmp_path):
    sit_down(tmp_path, "1")
    old = (tmp_path / "game.json").read_bytes()
    for lines in ((), ("quit",)):
        sit_down(tmp_path, *lines)
        assert (tmp_path / "game.json").read_bytes() == old


def test_a_saved_game_whose_bot_is_gone_is_kept(tmp_path):
    saved.save(Session("/gone/bot.safetensors", Game(SEED)), tmp_path / "game.json")
    person = sit_down(tmp_path, "c", "n")
    assert "The bot of the saved game cannot be opened" in person.text
    assert on_file(tmp_path).bot == "smallest"
    assert "/gone/bot" in (tmp_path / "game.json.bak").read_text()


def damage(**changes: object) -> bytes:
    game = Game(SEED)
    game = game.played(legal_plays(game.position, game.dice)[0])
    content = json.loads(saved.to_text(Session("smallest", game)))
    return json.dumps({**content, **changes}).encode()


DAMAGED = {
    "empty": b"",
    "half": damage()[:60],
    "not text": b"\xff\xfe\x00",
    "other json": b"[1, 2]",
    "nested": b"[" * 100_000,
    "other format": damage(format="chess"),
    "newer": damage(version=2),
    "no bot": damage(bot=None),
    "seed": damage(seed=-1),
    "seed too large": damage(seed=2**63),
    "seed as a truth value": damage(seed=True),
    "score": damage(score=[1]),
    "score of words": damage(score=["1", 2]),
    "turns": damage(turns="61: 8/7 6/5"),
    "turn of a wrong kind": damage(turns=[[1]]),
    "illegal play": damage(turns=["63: 24/13"]),
    "other dice": damage(turns=["66: 24/18(2) 13/7(2)"]),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_save_is_one_sentence_a_kept_file_and_a_new_game(tmp_path, content):
    path = tmp_path / "game.json"
    path.write_bytes(content)
    with pytest.raises(DamagedSave):
        saved.load(path)
    person = sit_down(tmp_path, "1")
    assert "cannot be continued: " in person.text
    assert (tmp_path / "game.json.damaged").read_bytes() == content
    assert len(on_file(tmp_path).game.turns) == 2


def test_a_finished_game_on_file_is_damage_not_a_game(tmp_path):
    game = Game(SEED)
    while not game.points:
        game = game.played(legal_plays(game.position, game.dice)[0])
    with pytest.raises(DamagedSave, match="over"):
        saved.from_text(saved.to_text(Session("smallest", game)))


def test_saved_text_round_trips_through_whole_games():
    for seed in range(5):
        game = Game(seed)
        while True:
            plays = legal_plays(game.position, game.dice)
            following = game.played(plays[len(game.turns) * 7 % len(plays)])
            assert parse_play(str(following.turns[-1].play), game.position, game.dice) == following.turns[-1].play
            if following.points:
                break
            game = following
        session = Session("smallest", game, (3, 1))
        assert saved.from_text(saved.to_text(session)) == session


def test_a_game_that_cannot_be_saved_is_played_all_the_same(tmp_path):
    (tmp_path / "file").write_text("in the way")
    person = sit_down(tmp_path / "file", "1", "save", then=first_play_then_stop)
    assert person.text.count("so nothing is saved") == 1
    assert "This game is not saved." in person.heard
    assert "Score of this session" in person.text


def test_each_side_starts_half_of_the_games():
    starts = np.mean([Game(seed).person_to_roll for seed in range(600)])
    assert abs(starts - 0.5) < 0.07  # 3.4 standard errors


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"BGAI_HOME": "/somewhere"}, "/somewhere/game.json"),
        ({"BGAI_HOME": "/somewhere", "XDG_DATA_HOME": "/data"}, "/somewhere/game.json"),
        ({"XDG_DATA_HOME": "/data"}, "/data/bgai/game.json"),
        ({"XDG_DATA_HOME": "relative"}, str(Path.home() / ".local/share/bgai/game.json")),
        ({}, str(Path.home() / ".local/share/bgai/game.json")),
    ],
)
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these systems have folders of their own")
def test_the_game_is_kept_in_the_users_folder(environment, expected):
    assert str(saved.game_file(environment)) == expected


def run_play(monkeypatch, folder: Path, typed: str, *words: str) -> int:
    """`bgai play WORDS` with `typed` piped in."""
    parser = argparse.ArgumentParser()
    terminal.add_parser(parser.add_subparsers())
    monkeypatch.setenv("BGAI_HOME", str(folder))
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    args = parser.parse_args(["play", *words])
    return args.run_command(args)


def test_piped_answers_play_a_game_and_leaving_says_how_to_go_on(monkeypatch, tmp_path, capsys):
    assert run_play(monkeypatch, tmp_path, "1\n1\n", "--bot", "random", "--seed", "5") == 0
    shown = capsys.readouterr().out
    assert "> 1\nYou play" in shown
    assert shown.endswith("Your game is saved; `bgai play` continues it.\n")
    assert run_play(monkeypatch, tmp_path, "c\nresign\n1\nn\n") == 0
    assert "random wins a single game: 1 point." in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_saves_and_says_goodbye(monkeypatch, tmp_path, capsys):
    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert run_play(monkeypatch, tmp_path, "", "--bot", "random", "--seed", "5") == 130
    assert capsys.readouterr().out.endswith("Your game is saved; `bgai play` continues it.\n")
    assert on_file(tmp_path).game == Game(SEED)


def test_an_unknown_bot_is_one_sentence_on_stderr(monkeypatch, tmp_path, capsys):
    assert run_play(monkeypatch, tmp_path, "1\n", "--bot", "no such bot") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bgai play: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["--seed", "x"], ["--seed", "-1"], ["--level", "hard"], ["--level", "normal", "--bot", "x"]]
)
def test_wrong_options_are_refused(monkeypatch, tmp_path, capsys, words):
    with pytest.raises(SystemExit) as left:
        run_play(monkeypatch, tmp_path, "", *words)
    assert left.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_a_second_terminal_is_told_and_touches_nothing(monkeypatch, tmp_path, capsys):
    environment = {**os.environ, "BGAI_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-m", "bgai", "play", "--bot", "random", "--seed", "5"]
    with subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        first.stdin.write("1\n")
        first.stdin.flush()
        while "You play" not in first.stdout.readline():
            pass
        while not on_file(tmp_path) or len(on_file(tmp_path).game.turns) < 2:
            time.sleep(0.01)
        before = (tmp_path / "game.json").read_bytes()
        assert run_play(monkeypatch, tmp_path, "2\nsave\nresign\n1\ny\n3\n", "--bot", "random", "--seed", "6") == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f"Another `bgai play` keeps its game in {tmp_path / 'game.json'}, so this one is not saved." in shown
        assert "This game is not saved." in shown and shown.endswith(terminal.LEFT_BESIDE)
        assert (tmp_path / "game.json").read_bytes() == before
        first.communicate("quit\n", timeout=60)
    # The first one's game goes on, whatever the second did, and what killed writes left is cleared away.
    (tmp_path / ".game.json.0123abcd.tmp").write_text("half")
    assert run_play(monkeypatch, tmp_path, "c\n") == 0
    assert "You have an unfinished game against random: 2 turns played" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]
