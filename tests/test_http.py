"""`bgai serve` over HTTP: formats, golden examples, every error as a sentence, limits, many clients at once."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bgai
from bgai.bots import LEVELS
from bgai.frontends.http import api, table, wildbg
from bgai.frontends.http.dice import DiceRefused, FairDice, lasting_key
from bgai.frontends.http.steps import step_graph
from bgai.notation.mat import read_mat
from bgai.rules.plays import legal_plays, move_man

pytest.importorskip("starlette", reason="the HTTP server needs pip install starlette uvicorn")
from starlette.testclient import TestClient  # noqa: E402

from bgai.frontends.http.app import Limits, create_app  # noqa: E402

WEB = Path(__file__).resolve().parent.parent / "bgai" / "frontends" / "web"
START = "4HPwATDgc/ABMA"
OPENING = {f"p{point}": men for point, men in enumerate(bgai.Position.start().men) if men}
KEY = b"k" * 32


@pytest.fixture(scope="module")
def client():
    with TestClient(create_app(FairDice(KEY))) as client:
        yield client


def sentence(answer, status: int) -> str:
    """The message of an error, which is a sentence."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["message"]
    return answer.json()["message"]


# wildbg's two questions


def test_move_gives_all_plays_best_first(client):
    answer = client.get("/move", params={"die1": 3, "die2": 1, **OPENING})
    assert answer.status_code == 200
    moves = answer.json()["moves"]
    assert moves[0]["play"] == [{"from": 8, "to": 5}, {"from": 6, "to": 5}]
    assert len(moves) == 16
    for move in moves:
        assert list(move) == ["play", "probabilities"]
        chances = move["probabilities"]
        assert list(chances) == ["win", "winG", "winBg", "loseG", "loseBg"]
        assert 1 > chances["win"] > chances["winG"] > chances["winBg"] >= 0
        assert 1 - chances["win"] > chances["loseG"] > chances["loseBg"] >= 0
    best = bgai.load("strong").choose(bgai.Position.start(), (3, 1))
    assert [(step["from"], step["to"]) for step in moves[0]["play"]] == [tuple(move) for move in best.moves]


def test_move_enters_bears_off_and_passes(client):
    # A man on the bar has 25, and off is 0; one step per entry.
    entering = client.get("/move", params={"die1": 6, "die2": 6, "p25": 1, "p6": 2, "p18": -1, "p1": -2}).json()
    assert all(move["play"][0] == {"from": 25, "to": 19} for move in entering["moves"])
    off = client.get("/move", params={"die1": 6, "die2": 5, "p6": 1, "p2": 1, "p24": -2}).json()
    assert {"from": 6, "to": 0} in off["moves"][0]["play"]
    closed = {f"p{point}": -2 for point in range(19, 25)}
    assert (
        client.get("/move", params={"die1": 6, "die2": 5, "p25": 1, "p1": 1, **closed}).json()["moves"][0]["play"]
        == []
    )


def test_move_knows_the_score(client):
    # At double match point gammons are worth nothing; the order of the plays may differ from money, chances do not.
    money = client.get("/move", params={"die1": 4, "die2": 1, **OPENING}).json()["moves"]
    last = client.get("/move", params={"die1": 4, "die2": 1, "x_away": 1, "o_away": 1, **OPENING}).json()["moves"]
    assert {json.dumps(move["play"]) for move in money} == {json.dumps(move["play"]) for move in last}
    wins = [move["probabilities"]["win"] for move in last]
    assert wins == sorted(wins, reverse=True)
    for away in ((3, 5), (1, 4), (25, 2), (40, 40)):
        answer = client.get("/move", params={"die1": 4, "die2": 1, "x_away": away[0], "o_away": away[1], **OPENING})
        assert answer.status_code == 200


def test_eval_says_double_and_accept(client):
    answer = client.get("/eval", params=OPENING).json()
    assert list(answer) == ["cube", "probabilities"]
    assert answer["cube"] == {"double": False, "accept": True}
    assert 0.5 < answer["probabilities"]["win"] < 0.56
    # Four men each on the ace point: the other needs a double at his only roll, 31 in 36 win.
    won = {"p1": 4, "p24": -4}
    answer = client.get("/eval", params=won).json()
    assert answer["cube"] == {"double": True, "accept": False}
    assert client.get("/eval", params={**won, "x_away": 1, "o_away": 3}).json()["cube"]["double"] is False


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("/move", {**OPENING, "die1": 3}, "die2 is missing"),
        ("/move", {**OPENING, "die1": 7, "die2": 1}, "die1 must be a whole number from 1 to 6, not '7'"),
        ("/move", {**OPENING, "die1": "x", "die2": 1}, "not 'x'"),
        ("/move", {**OPENING, "die1": "9" * 5000, "die2": 1}, "die1 must be"),
        ("/move", {"die1": 3, "die2": 1}, "the board is empty"),
        ("/move", {**OPENING, "die1": 3, "die2": 1, "p26": 1}, "there is no point 'p26'"),
        ("/move", {**OPENING, "die1": 3, "die2": 1, "x_away": 3}, "both players need at least one point"),
        ("/move", {**OPENING, "die1": 3, "die2": 1, "bot": "/etc/passwd"}, "there is no bot"),
        ("/eval", {**OPENING, "p7": 15}, "the player to roll has 30 men"),
        ("/eval", {**OPENING, "p25": -1}, "index 25 is the mover's bar"),
        ("/eval", {**OPENING, "p7": 1.5}, "not '1.5'"),
        ("/eval", {"p7": 1}, "the game is over"),
        ("/eval", {**OPENING, "crawford": "maybe"}, "crawford must be true or false"),
    ],
)
def test_a_wrong_query_is_told(client, path, query, words):
    assert words in sentence(client.get(path, params=query), 400)


def test_a_parameter_twice_is_told(client):
    assert "more than once" in sentence(client.get("/move?die1=1&die1=2&die2=3"), 400)
    many = "&".join(f"a{number}" for number in range(10_000))
    assert "at most 64 parameters" in sentence(client.get(f"/move?{many}"), 400)


# /api/v1


def ask(client, path: str, **body):
    return client.post(f"/api/v1/{path}", json=body)


@pytest.mark.parametrize(
    "position",
    [
        START,
        f"{START}:8IluACAACAAE",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:53:1:2:1:3:10",
        list(bgai.Position.start().men),
        {"position": START, "decision": "roll"},
        bgai.format_id(bgai.Match(decision="roll"), "fibs"),
    ],
)
def test_positions_in_every_form(client, position):
    answer = ask(client, "legal", position=position, dice=[5, 3])
    assert answer.status_code == 200, answer.text
    assert {play["play"] for play in answer.json()["plays"]} == {
        str(play) for play in legal_plays(bgai.Position.start(), (5, 3))
    }


def test_plays_are_the_bots(client):
    answer = ask(client, "plays", position=START, dice=[3, 1], limit=3).json()
    assert [play["play"] for play in answer["plays"]][0] == "8/5 6/5"
    assert len(answer["plays"]) == 3 and answer["bot"] == "strong"
    best = answer["plays"][0]
    assert best["moves"] == [[8, 5], [6, 5]] and best["hits"] == []
    assert sum(best["outcomes"].values()) == pytest.approx(1, abs=1e-4)
    equities = [play["equity"] for play in answer["plays"]]
    assert equities == sorted(equities, reverse=True)
    assert ask(client, "plays", position=START, dice=[3, 1], bot="beginner").json()["bot"] == "beginner"
    assert ask(client, "plays", position=START, dice=[3, 1], bot="strong@2", limit=1).json()["bot"] == "strong@2"


def test_cube_and_evaluation(client):
    answer = ask(client, "cube", position=START, away=[5, 3]).json()
    assert answer["action"] == "no double" and answer["double"] is False and answer["take"] is True
    assert answer["double_pass"] == 1 and 0 < answer["take_point"] < 0.5
    crawford = ask(client, "cube", position=START, away=[1, 3]).json()
    assert crawford["action"] == "no cube" and crawford["double_take"] is None
    assert answer["asked"] == "roll" and crawford["asked"] == "roll"
    value = ask(client, "evaluate", position=START, bot="normal").json()
    assert value["cubeless_equity"] == pytest.approx(
        bgai.load("normal").evaluate(bgai.Position.start()).equity, abs=1e-4
    )
    over = ask(client, "evaluate", position=[0, -3, *[0] * 24]).json()
    assert over["outcomes"]["win"] == 1 and over["equity"] == 1


def test_who_is_doubled_gets_the_decisions_answer(client):
    """A take, a pass, and a beaver where they are played: word and sentence are those of `Bot.cube`."""
    lost = bgai.Position([0, 4, *[0] * 22, -4, 0])
    behind = bgai.Position([0, *[2] * 6, *[0] * 12, -4, *[0] * 6])
    cases = (
        (bgai.Match(decision="take"), "take"),
        (bgai.Match(decision="take", position=lost), "pass"),
        (bgai.Match(decision="take", position=behind), "take"),
        (bgai.Match(decision="take", position=behind, beavers=True), "beaver"),
    )
    for match, action in cases:
        told = ask(client, "cube", position=bgai.format_id(match, "xgid")).json()
        decided = bgai.load("strong").cube(match)
        assert (told["asked"], told["action"], told["take"]) == ("take", action, action != "pass")
        assert (told["action"], told["why"]) == (decided.answer, decided.answer_why)
        assert told["double_take"] == pytest.approx(decided.double_take, abs=1e-5)
    told = ask(client, "cube", position=START, doubled=True).json()
    assert (told["asked"], told["action"], told["take"]) == ("take", "take", True)


def test_fields_beside_an_identifier_leave_what_it_says_of_beavers_and_limit(client):
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:6"  # Jacoby, beavers, a cube up to 64
    assert ask(client, "cube", position=xgid, cube=2, cube_owner="mine").json()["xgid"].endswith(":00:0:0:3:0:6")
    assert (
        ask(client, "cube", position=xgid, away=[5, 5]).json()["xgid"].endswith(":00:0:0:0:5:6")
    )  # no beavers there


def test_batch_answers_in_order_and_each_for_itself(client):
    positions = [{"position": START, "dice": [3, 1]}, {"position": "nonsense"}, {"position": START, "dice": [6, 5]}]
    answers = ask(client, "batch", ask="plays", limit=1, positions=positions).json()["answers"]
    assert answers[0]["plays"][0]["play"] == "8/5 6/5"
    assert "is no identifier" in answers[1]["message"]
    assert answers[2]["plays"][0]["play"] == "24/13"


@pytest.mark.parametrize("ask_for", [[], {}, 1, None, "nonsense"])
def test_a_batch_of_no_known_kind_is_refused_in_a_sentence(client, ask_for):
    answer = ask(client, "batch", ask=ask_for, positions=[{"position": START}])
    assert answer.status_code == 400 and answer.json()["message"].startswith("ask must be ")


def test_a_batch_may_be_as_long_as_it_is_promised(client):
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:5:10"
    body = {"ask": "legal", "positions": [{"position": xgid, "dice": [3, 1]}] * 1000}
    assert len(json.dumps(body)) > 65_536
    answers = ask(client, "batch", **body).json()["answers"]
    assert len(answers) == 1000 and all(len(answer["plays"]) == 16 for answer in answers)
    assert "524,288 bytes" in sentence(client.post("/api/v1/batch", content=b" " * 600_000), 413)


def test_a_batch_that_takes_too_long_gives_what_is_done(monkeypatch):
    def slow(body):
        time.sleep(0.1)
        return {"done": True}

    monkeypatch.setitem(api.BATCHED, "cube", slow)
    with TestClient(create_app(FairDice(KEY), Limits(work_seconds=1))) as client:
        answers = ask(client, "batch", ask="cube", positions=[{}] * 100).json()["answers"]
    done = answers.index({"message": answers[-1]["message"]})
    assert len(answers) == 100 and 1 <= done < 10 and answers[:done] == [{"done": True}] * done
    assert answers[-1]["message"].startswith(f"there was time for the first {done} of 100 only")


def test_bots_and_their_cards(client):
    answer = client.get("/api/v1/bots").json()
    assert [bot["name"] for bot in answer["bots"]] == list(LEVELS)
    assert all(bot["plays_like"] and bot["games"] for bot in answer["bots"])


def test_act_follows_the_rules(client):
    begun = ask(client, "act", match={"length": 5}, action={"kind": "begin", "dice": [3, 1]}).json()
    assert begun["match"]["decision"] == "play" and begun["decider"] == 0
    after = ask(client, "act", match=begun["match"], action={"kind": "play", "play": "8/5 6/5"}).json()
    assert after["actions"] == ["roll", "double", "resign"]
    assert "is not possible now" in sentence(ask(client, "act", match=after["match"], action={"kind": "take"}), 400)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("legal", {}, "position is missing"),
        ("legal", {"position": 5}, "position must be an XGID, a gnubg ID"),
        ("evaluate", {"position": 5}, "not '5'"),
        ("evaluate", {"position": [0] * 26}, "the board is empty"),
        ("cube", {"position": START, "dice": [3, 1]}, "a cube decision comes before the roll"),
        ("legal", {"position": START}, "there are no dice"),
        ("legal", {"position": START, "dice": [3]}, "a roll is two whole numbers"),
        ("legal", {"position": START, "dice": [3, 9]}, "a roll is two whole numbers"),
        ("legal", {"position": START, "dices": [3, 1]}, "did you mean 'dice'?"),
        ("legal", {"position": [1, 2]}, "a position has 26 numbers"),
        ("legal", {"position": "x" * 3000}, "at most 2000 characters"),
        ("plays", {"position": START, "dice": [3, 1], "bot": "../strong"}, "there is no bot '../strong' here"),
        ("plays", {"position": START, "dice": [3, 1], "bot": 7}, "bot must be text"),
        ("plays", {"position": START, "dice": [3, 1], "limit": 0}, "limit must be a whole number from 1"),
        ("plays", {"position": START, "dice": [3, 1], "away": [3]}, "away must be two whole numbers"),
        ("plays", {"position": START, "dice": [3, 1], "cube": 3}, "power of two"),
        ("cube", {"position": START, "cube_owner": "me"}, 'must be "mine", "theirs" or null'),
        ("cube", {"position": [0, -3, *[0] * 24]}, "the game is over"),
        ("batch", {"positions": []}, "positions must be a list"),
        ("batch", {"positions": [{}] * 1001}, "at most 1,000 positions at once, not 1,001"),
        ("batch", {"ask": "love", "positions": [{}]}, "ask must be plays"),
        ("game/new", {"length": 4}, "length must be one of"),
        ("game/review", {"bot": "strong@2"}, "in a review the bot is one of beginner, normal, strong"),
        ("game/act", {}, "a session is named by 32"),
        ("game/act", {"session": "0" * 32, "game": 1, "hash": "x"}, "promised by another server"),
    ],
)
def test_a_wrong_body_is_told(client, path, body, words):
    assert words in sentence(ask(client, path, **body), 400)


# What is no question at all


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "the body is not JSON"),
        (b"\xff\xfe\x00", "the body is not JSON"),
        (b"[]", "must be a JSON object"),
        (b"[" * 50_000, "nested too deep"),
        (b'{"position": NaN}', "NaN is no number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "the body is not JSON"),
    ],
)
def test_malformed_json_is_told(client, content, words):
    assert words in sentence(client.post("/api/v1/legal", content=content), 400)


def test_a_body_may_not_be_too_long(client):
    assert "65,536 bytes" in sentence(client.post("/api/v1/legal", content=b"x" * 70_000), 413)

    def pieces():
        for _ in range(70):
            yield b" " * 1024

    assert "65,536 bytes" in sentence(client.post("/api/v1/legal", content=pieces()), 413)


def test_wrong_methods_and_paths(client):
    assert "it takes POST" in sentence(client.get("/api/v1/legal"), 405)
    assert "is not answered at /move" in sentence(client.post("/move"), 405)
    assert "is not answered at /move" in sentence(client.delete("/move"), 405)
    for path in (
        "/nothing",
        "/move/",
        "/api/v1/",
        "/%2e%2e/pyproject.toml",
        "/app.js/../../http/app.py",
        "/__init__.py",
    ):
        assert "there is nothing at" in sentence(client.get(path), 404)


def test_cors(client):
    asked = {"origin": "https://example.org", "access-control-request-method": "POST"}
    answer = client.options("/api/v1/plays", headers={**asked, "access-control-request-headers": "content-type"})
    assert answer.status_code == 200 and answer.headers["access-control-allow-origin"] == "*"
    answer = client.get("/healthz", headers={"origin": "https://example.org"})
    assert answer.headers["access-control-allow-origin"] == "*"


def test_documents(client):
    document = client.get("/api-docs/openapi.json").json()
    assert document == client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.") and document["info"]["title"] == "bgai"
    told = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    routes = {
        (method, route.path)
        for route in client.app.routes
        for method in route.methods - {"HEAD"}
        if not route.path.startswith("/api-docs")
        and "openapi" not in route.path
        and route.path != "/"
        and "." not in route.path
    }
    assert routes == told
    for path, methods in document["paths"].items():  # the examples are real
        for operation in methods.values():
            example = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            if example:
                assert client.post(path, json=example).status_code == 200, path
    page = client.get("/api-docs")
    assert page.headers["content-type"].startswith("text/html") and "/api/v1/plays" in page.text


def test_health_and_metrics(client):
    assert client.get("/healthz").json()["status"] == "ok"
    client.get("/nothing-at-all")
    text = client.get("/metrics").text
    assert 'bgai_requests_total{method="GET",path="/healthz",status="200"}' in text
    assert 'path="other",status="404"' in text and "nothing-at-all" not in text
    assert 'bgai_request_seconds_bucket{path="/healthz",le="+Inf"}' in text


def test_the_page_is_served_with_all_its_files(client):
    page = client.get("/")
    assert page.status_code == 200 and "<title>bgai</title>" in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for file in WEB.rglob("*.*"):
        path = f"/{file.relative_to(WEB).as_posix()}"
        answer = client.get(path)
        assert answer.status_code == 200 and answer.content == file.read_bytes()
        again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
    for module in re.findall(r'from "\./(.+?)"', (WEB / "app.js").read_text()):
        assert (WEB / module).is_file()


def test_busy_and_slow_answers(monkeypatch):
    go_on = threading.Event()

    def slow(query):
        go_on.wait(10)
        return {}

    monkeypatch.setattr(wildbg, "move", slow)
    limits = Limits(threads=1, waiting=2, work_seconds=0.5)
    with TestClient(create_app(FairDice(KEY), limits)) as client, ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(client.get, "/move") for _ in range(2)]
        time.sleep(0.2)
        busy = client.get("/move")
        assert "busy" in sentence(busy, 503) and busy.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
        for answer in waiting:
            assert "no answer within 0.5 s" in sentence(answer.result(), 503)
        go_on.set()
        time.sleep(0.2)
        assert client.get("/move").status_code == 200


def test_long_reviews_end_in_time_and_stand_in_nobodys_way(client, monkeypatch):
    view = ask(client, "game/new").json()

    def endless(bot, record, progress):
        while True:
            time.sleep(0.01)
            progress()

    with (
        TestClient(create_app(FairDice(KEY), Limits(threads=2, work_seconds=1))) as own,
        ThreadPoolExecutor(3) as pool,
    ):
        with monkeypatch.context() as patch:
            patch.setattr(table, "analyze_record", endless)
            reviews = [pool.submit(ask, own, "game/review", **sent(view)) for _ in range(3)]
            time.sleep(0.1)
            for _ in range(3):
                assert ask(own, "legal", position=START, dice=[3, 1]).status_code == 200
            told = [sentence(review.result(), 503) for review in reviews]
        assert all("there was no time to review" in message for message in told)
        assert ask(own, "game/review", **sent(view)).status_code == 200  # no thread is at the old ones still


def test_a_mistake_of_the_server_is_a_sentence_too(monkeypatch, caplog):
    def broken(query):
        raise ZeroDivisionError

    monkeypatch.setattr(wildbg, "move", broken)
    with TestClient(create_app(FairDice(KEY))) as client:
        assert "the server made a mistake" in sentence(client.get("/move"), 500)
        assert client.get("/healthz").status_code == 200
    assert "ZeroDivisionError" in caplog.text


# The game at the page


def sent(view: dict) -> dict:
    """What the page sends of a view."""
    kept = ("kind", "dice", "moves", "points")
    actions = [{name: done[name] for name in kept if name in done} for done in view["actions"]]
    return {**{name: view[name] for name in ("session", "game", "hash", "start")}, "actions": actions}


def first_way(steps: list) -> list:
    moves, node = [], 0
    while steps[node]:
        start, to, _, node = steps[node][0]
        moves.append([start, to])
    return moves


def played_on(client, view: dict, bot: str = "normal") -> dict:
    """The view after what is due; the person plays his first way and never doubles."""
    decision = view["match"]["decision"]
    if view["decider"] == 1:
        return ask(client, "game/bot", **sent(view), bot=bot).json()
    action: dict = {"kind": {"opening": "begin", "take": "take", "roll": "roll", "play": "play"}[decision]}
    if decision == "play":
        action["moves"] = first_way(view["steps"])
    return ask(client, "game/act", **sent(view), action=action).json()


def test_a_match_from_the_opening_throw_to_its_end(client):
    view = ask(client, "game/new", length=3).json()
    assert view["match"]["decision"] == "opening" and view["may"] == ["begin"]
    games = 0
    while view["match_winner"] is None:
        if view["match"]["decision"] == "over":
            told = ask(client, "game/reveal", **sent(view)).json()
            assert told["hash"] == view["hash"]
            thrown = [done["dice"] for done in view["actions"] if "dice" in done]
            promise = FairDice(KEY).promise(view["session"], view["game"])
            assert (str(promise.seed), promise.hash) == (told["seed"], told["hash"])
            assert thrown == [list(promise.throw(number)) for number in range(1, len(thrown) + 1)]
            assert len(view["boards"]) == len(view["actions"]) + 1
            view = ask(client, "game/next", **sent(view)).json()
            games += 1
            continue
        view = played_on(client, view)
        assert "boards" in view, view
    review = ask(client, "game/review", **sent(view)).json()
    assert review["players"][0]["decisions"] > 0
    assert [error["loss"] for error in review["errors"]] == sorted(
        (e["loss"] for e in review["errors"]), reverse=True
    )
    record = read_mat(ask(client, "game/mat", **sent(view)).json()["mat"])
    assert record.games[0].end.score == tuple(view["score"])
    assert games >= 1 or max(view["score"]) == 3


def test_what_was_promised_is_kept(client):
    view = ask(client, "game/new").json()
    while view["match"]["decision"] == "opening":
        view = played_on(client, view)
    again = ask(client, "game/act", **sent(view)).json()
    assert again == view  # replayed from what the browser keeps
    forged = sent(view)
    forged["actions"][0]["dice"] = [die % 6 + 1 for die in forged["actions"][0]["dice"]]
    assert "action 1: throw 1 of this game was" in sentence(ask(client, "game/act", **forged), 400)
    assert "told when the game is over" in sentence(ask(client, "game/reveal", **sent(view)), 400)
    while view["decider"] != 0:
        view = played_on(client, view)
    wrong = {"kind": "play", "moves": [[24, 1]]}
    if view["match"]["decision"] == "play":
        assert sentence(ask(client, "game/act", **sent(view), action=wrong), 400)
    # Resigned, told, and then taken back: no more dice, neither asked for nor slipped in among what was done.
    given_up = ask(client, "game/act", **sent(view), action={"kind": "resign", "points": 3}).json()
    over = ask(client, "game/bot", **sent(given_up)).json()
    assert over["match"]["decision"] == "over"
    assert ask(client, "game/reveal", **sent(over)).status_code == 200
    assert ask(client, "game/mat", **sent(over)).status_code == 200
    before_the_end = sent(view)
    if view["match"]["decision"] == "play":
        before_the_end["actions"].append({"kind": "play", "moves": first_way(view["steps"])})
    before_the_end["actions"].append({"kind": "roll"})
    for path in ("game/act", "game/bot"):
        assert "nothing more is thrown" in sentence(ask(client, path, **before_the_end), 400)
        assert "nothing more is thrown" in sentence(ask(client, path, **sent(view)), 400)


def test_fair_dice_are_a_function_of_key_session_and_game():
    dice = FairDice(KEY)
    promise = dice.promise("0" * 32, 1)
    assert promise == FairDice(KEY).promise("0" * 32, 1)
    assert promise.seed != dice.promise("0" * 32, 2).seed != FairDice(b"x" * 32).promise("0" * 32, 2).seed
    counts = [0] * 7
    for number in range(1, 3001):
        for die in dice.new_throw(promise, number):
            counts[die] += 1
    assert counts[0] == 0 and all(850 < count < 1150 for count in counts[1:])
    dice.tell(promise)
    with pytest.raises(DiceRefused):
        dice.new_throw(promise, 3001)


def test_the_key_of_the_dice_lasts(tmp_path):
    path = tmp_path / "home" / "dice.key"
    key = lasting_key(path)
    assert key == lasting_key(path) and len(key) == 32
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"torn")
    assert lasting_key(path) != key


def test_steps_lead_to_the_legal_plays_and_nowhere_else(game_positions, scattered_positions):
    for boards, rolled in (game_positions(60, 3), scattered_positions(60, 4)):
        for board, dice in zip(boards.tolist(), rolled.tolist(), strict=True):
            position = bgai.Position(board)
            high, low = max(dice), min(dice)
            plays = legal_plays(position, dice)
            graph = step_graph(position, (high, low), plays)
            ends, coming = set(), [(position.men, 0, 0)]
            while coming:
                men, node, used = coming.pop()
                if not graph[node]:
                    ends.add(tuple(-n for n in reversed(men)))
                    assert used == len(plays[0].moves)
                coming += {(move_man(men, start, die), after, used + 1) for start, _, die, after in graph[node]}
            assert ends == {play.after.men for play in plays}


def test_the_bot_answers_resignations():
    dice = FairDice(KEY)
    view = table.new_game(dice, {"cube": False})
    while view["decider"] != 0:
        view = (
            table.act(dice, {**sent(view), "action": {"kind": "begin"}})
            if view["decider"] is None
            else table.bot_acts(dice, sent(view))
        )
    offered = table.act(dice, {**sent(view), "action": {"kind": "resign", "points": 1}})
    assert offered["decider"] == 1
    answered = table.bot_acts(dice, sent(offered))
    assert answered["match"]["decision"] == "over" and answered["score"] == [0, 1]


def test_languages_have_the_same_sentences():
    source = (WEB / "i18n.js").read_text(encoding="utf-8")
    found = {}
    for name in ("EN", "HANS", "HANT"):
        block = source[source.index(f"const {name} = {{") :]
        block = block[: block.index("\n};")]
        texts = dict(re.findall(r'(\w+): "((?:[^"\\]|\\.)*)"', block))
        found[name] = {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in texts.items()}
    assert len(found["EN"]) > 100
    assert found["EN"].keys() == found["HANS"].keys() == found["HANT"].keys()
    for name in ("HANS", "HANT"):
        assert {key: words for key, words in found[name].items() if words - found["EN"][key]} == {}
    used = set(re.findall(r'\bt\("(\w+)"', (WEB / "app.js").read_text()))
    used |= set(re.findall(r'data-t="(\w+)"', (WEB / "index.html").read_text()))
    assert used - found["EN"].keys() == set()


# A real server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of `bgai serve` in a process of its own."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "BGAI_HOME": str(home)}
    command = [sys.executable, "-W", "error", "-m", "bgai", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            assert found, line
            yield ("127.0.0.1", int(found[1]))
        finally:
            process.terminate()
            _, err = process.communicate(timeout=20)
    assert err == ""


def raw(server, *pieces: bytes, pause: float = 0.0, timeout: float = 20) -> bytes:
    """Everything that comes back for these bytes."""
    with socket.create_connection(server, timeout=timeout) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
        back = b""
        while chunk := connection.recv(65536):
            back += chunk
        return back


def test_a_real_server_answers_and_lives_on(server):
    url = f"http://{server[0]}:{server[1]}"
    query = "&".join(f"{name}={men}" for name, men in OPENING.items())
    with urllib.request.urlopen(f"{url}/move?die1=3&die2=1&{query}", timeout=20) as answer:
        assert json.load(answer)["moves"][0]["play"][0] == {"from": 8, "to": 5}
    assert (
        b"404"
        in raw(server, b"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").split(b"\r\n")[0]
    )
    back = raw(server, b"what is this\r\n\r\n")
    assert back.startswith(b"HTTP/1.1 400") and b'"message"' in back
    back = raw(server, b"POST /api/v1/legal HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
    assert back.startswith(b"HTTP/1.1 413") and b"65,536 bytes" in back
    back = raw(
        server, b"POST /api/v1/legal HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n{,,,}"
    )
    assert back.startswith(b"HTTP/1.1 400") and b"not JSON" in back
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{url}/nothing", timeout=20)
    assert refused.value.code == 404
    refused.value.close()
    with urllib.request.urlopen(f"{url}/healthz", timeout=20) as answer:
        assert json.load(answer)["status"] == "ok"


def test_slow_heads_and_bodies_get_their_error(server):
    slow_body = b"POST /api/v1/legal HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"
    with ThreadPoolExecutor(3) as pool:
        body = pool.submit(raw, server, slow_body)
        head = pool.submit(raw, server, b"GET /healthz HT", b"TP/1.1\r\nHo", pause=0.3)
        nothing = pool.submit(raw, server)
        assert body.result().startswith(b"HTTP/1.1 408") and b"did not arrive within" in body.result()
        assert head.result().startswith(b"HTTP/1.1 408")
        assert nothing.result().startswith(b"HTTP/1.1 408")


def test_many_clients_at_once_get_their_own_answers(server):
    import httpx2

    async def all_of_them() -> list[tuple[int, int, str]]:
        async with httpx2.AsyncClient(base_url=f"http://{server[0]}:{server[1]}", timeout=60) as client:

            async def one(high: int, low: int) -> tuple[int, int, str]:
                answer = await client.post("/api/v1/plays", json={"position": START, "dice": [high, low], "limit": 1})
                return high, low, answer.json()["plays"][0]["play"]

            rolls = [(high, low) for high in range(1, 7) for low in range(1, high + 1)] * 4
            return await asyncio.gather(*(one(*roll) for roll in rolls))

    bot = bgai.load("strong", bearoff=False)
    found = asyncio.run(all_of_them())
    assert len(found) == 84
    for high, low, play in found:
        assert play == str(bot.choose_in(bgai.Match(decision="play", dice=(high, low))))


def test_a_port_that_is_taken_is_told(server):
    command = [sys.executable, "-m", "bgai", "serve", "--port", str(server[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"bgai serve: cannot listen on 127.0.0.1 port {server[1]}: Address already in use\n"
