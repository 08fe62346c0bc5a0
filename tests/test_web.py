"""The page in a real browser: whole games by mouse, keyboard and touch, saving, doubling, three languages.

`make test-web` runs these; without playwright or a Chromium they are skipped with a sentence.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bgai.cli import main
from bgai.frontends.http import table
from bgai.frontends.http.dice import KEY_BYTES, FairDice
from bgai.frontends.http.reading import bot_named

pytestmark = pytest.mark.web

CHROMIUM = os.environ.get("BGAI_CHROMIUM") or next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
KEY = b"w" * KEY_BYTES
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = {"viewport": {"width": 1280, "height": 800}}
# What a person sees: the open dialog's buttons, the visible buttons, the lit places.
SEEN = """() => {
  const shown = (id) => !document.getElementById(id).hidden;
  const dialog = document.getElementById("ask");
  return {
    dialog: dialog.open ? [...dialog.querySelectorAll("button[data-value]")].map((b) => b.dataset.value) : null,
    roll: shown("roll"), take: shown("take"), confirm: shown("confirm"), undo: shown("undo"), retry: shown("retry"),
    sources: [...document.querySelectorAll(".place.source")].map((e) => Number(e.dataset.place)),
    status: document.getElementById("status").textContent,
  };
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of `bgai serve`, whose dice follow from KEY."""
    home = tmp_path_factory.mktemp("home")
    (home / "dice.key").write_bytes(KEY)
    command = [sys.executable, "-m", "bgai", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env={**os.environ, "BGAI_HOME": str(home)}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+/", process.stdout.readline())
            assert found
            yield found[0]
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the page's tests need pip install playwright")
    if CHROMIUM is None:
        pytest.skip("the page's tests need a Chromium: apt-get install chromium, or BGAI_CHROMIUM=path")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a folder of `bgai site`, below the root of a plain web server, and the paths of its files."""
    root = tmp_path_factory.mktemp("root")
    assert main(["site", str(root / "games" / "bgai")]) == 0
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root))) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        paths = {"/" + path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
        yield f"http://127.0.0.1:{serving.server_port}/games/bgai/", paths
        serving.shutdown()


@pytest.fixture
def new_page(browser, request):
    """Opens the page in a fresh browser profile, on `bgai serve` unless another address is given; fails afterwards
    when the page complained."""
    contexts, complaints = [], []

    def open_page(context=None, address=None, **options):
        if context is None:
            context = browser.new_context(**{"locale": "en-US", **WIDE, **options})
            context.set_default_timeout(20_000)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(address or request.getfixturevalue("server"))
        page.wait_for_selector("#lobby:not([hidden])")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def choose(page, *, bot="beginner", match="0", pace="instant", cube=True) -> None:
    """The lobby's settings by mouse."""
    for name, value in (("bot", bot), ("match", match), ("pace", pace)):
        page.locator(f"input[name={name}][value='{value}']").check(force=True)
    page.locator("input[name=cube]").set_checked(cube)


def middle(page, place: int) -> tuple[float, float]:
    box = page.locator(f"[data-place='{place}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def until(page, expression: str) -> None:
    """Wait for it to be true; Playwright's own way is forbidden by the page's content security policy."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never came true: {expression}")


def settled(page) -> dict:
    """What is seen once something is due."""
    for _ in range(600):
        seen = page.evaluate(SEEN)
        assert not seen["retry"], seen["status"]
        if seen["dialog"] or seen["roll"] or seen["take"] or seen["confirm"] or seen["sources"]:
            return seen
        page.wait_for_timeout(15)
    raise AssertionError(seen)


def play_to_the_end(page, press, most=1500) -> int:
    """A whole game: `press` clicks or taps at (x, y); the first lit man goes, twice pressed, by the larger die."""
    turns = 0
    for _ in range(most):
        seen = settled(page)
        if seen["dialog"]:
            assert {"more", "review"} <= set(seen["dialog"])
            return turns
        if seen["take"]:
            press_on(page, press, "#take")
        elif seen["confirm"]:
            turns += 1
            press_on(page, press, "#confirm")
            page.wait_for_timeout(10)
        elif seen["roll"]:
            press_on(page, press, "#roll")
        else:
            at = middle(page, seen["sources"][0])
            press(*at)
            press(*at)
    raise AssertionError("the game did not end")


def press_on(page, press, selector: str) -> None:
    box = page.locator(selector).bounding_box()
    if box:
        press(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_whole_game_by_mouse_with_its_review(new_page):
    page = new_page()
    choose(page)
    page.click("#start")
    assert play_to_the_end(page, page.mouse.click) >= 10
    assert "Score" in page.inner_text("#ask-body")
    page.click("#ask button[data-value=review]")
    page.wait_for_selector("#ask-title:has-text('Your errors')")
    assert "error rate (PR)" in page.inner_text("#ask-body")
    errors = page.locator("#ask-body ol.errors button").all_inner_texts()
    page.locator("#ask-body ol.errors button").first.click()
    assert page.inner_text("#look-text") == f"Error 1 of {len(errors)}: {errors[0]}"
    for text in errors[1:3]:
        page.click("#look-on")
        assert page.inner_text("#look-text").endswith(text)
        assert page.inner_text("#log [aria-current]").split()[-1] in text  # the line of the play that was made
    page.click("#look-end")  # back to the list, and from the board to the list again
    assert page.locator("#ask-body ol.errors button").all_inner_texts() == errors
    page.keyboard.press("Escape")
    page.click("#review")
    assert page.locator("#ask-body ol.errors button").all_inner_texts() == errors
    page.keyboard.press("Escape")
    # Looking back counts the lines of the log, which follows.
    page.locator("#log button").last.click()
    lines = page.locator("#log li").count()
    assert page.inner_text("#look-text") == f"Looking back: move {lines} of {lines}"
    for _ in range(20):
        page.click("#look-back")
    assert page.inner_text("#look-text") == f"Looking back: move {lines - 20} of {lines}"
    log, line = (page.locator(which).bounding_box() for which in ("#log", "#log [aria-current]"))
    assert log["y"] <= line["y"] and line["y"] + line["height"] <= log["y"] + log["height"] + 1
    page.click("#look-end")
    page.locator("#dicebox summary").click()
    until(page, "document.getElementById('proof').textContent.startsWith('Checked: the hash and all')")
    # Neither a long log nor the seed makes the page larger than what it shows.
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDE["viewport"]["width"]
    table = page.locator("#table").bounding_box()
    assert page.evaluate("document.documentElement.scrollHeight") <= table["y"] + table["height"] + 1
    page.click("#after")
    until(page, "document.querySelectorAll('#log li').length === 0")


def test_a_whole_game_by_keyboard_alone(new_page):
    page = new_page()
    focused = "document.activeElement.id || document.activeElement.name || document.activeElement.dataset.value"

    def tab_to(name):
        for _ in range(40):
            if page.evaluate(focused) == name:
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not come to {name}")

    tab_to("pace")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.value") == "instant"
    tab_to("start")
    page.keyboard.press("Enter")
    for _ in range(1500):
        seen = settled(page)
        if seen["dialog"]:
            break
        if seen["confirm"] or seen["roll"] or seen["take"]:
            wanted = next(name for name in ("confirm", "roll", "take") if seen[name])
            if page.evaluate(focused) != wanted:
                tab_to(wanted)
            page.keyboard.press("Enter")
            page.wait_for_timeout(10)
        else:
            place = page.evaluate("Number(document.activeElement.dataset?.place ?? -1)")
            if place not in seen["sources"]:
                page.keyboard.press("Home")
            page.keyboard.press("Enter")
            page.keyboard.press("Enter")
    else:
        raise AssertionError("the game did not end")
    page.keyboard.press("Enter")  # play again
    until(page, "document.querySelectorAll('#log li').length === 0")


def test_every_place_is_reached_by_arrows_and_has_a_name(new_page):
    page = new_page()
    choose(page)
    page.click("#start")
    while not (seen := settled(page))["sources"]:
        page.click("#roll" if seen["roll"] else "#take")
    page.locator("[data-place='13']").focus()
    names = []
    for key in ["ArrowRight"] * 13 + ["ArrowDown"] + ["ArrowLeft"] * 13:
        names.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press(key)
    names.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert sum(name.startswith("Point ") for name in set(names)) == 24
    assert any(name.startswith("Bar:") for name in names) and any(name.startswith("Borne off") for name in names)
    assert (
        page.locator("button:not([hidden]):visible").evaluate_all(
            "all => all.filter((b) => !(b.textContent.trim() || b.getAttribute('aria-label'))).length"
        )
        == 0
    )


def test_a_whole_game_by_touch_on_a_phone(new_page):
    page = new_page(**PHONE)
    choose(page, cube=False)
    page.tap("#start")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#board").wait_for()  # the game is there when the server has answered
    board = page.locator("#board").bounding_box()
    assert board["x"] >= 0 and board["x"] + board["width"] <= 390 and board["y"] + board["height"] < 600
    assert play_to_the_end(page, page.touchscreen.tap) >= 10


def first_turn(page) -> dict:
    """Goes on to the person's first turn with men lit."""
    while not (seen := settled(page))["sources"]:
        page.click("#roll" if seen["roll"] else "#take")
    return seen


def men(page) -> list[str]:
    return page.locator("[data-place]").evaluate_all(
        "all => all.map((e) => e.getAttribute('aria-label').split(',')[0])"
    )


def test_a_phone_on_its_side_shows_the_whole_board_and_the_buttons(new_page):
    page = new_page(viewport={"width": 844, "height": 390}, has_touch=True, is_mobile=True)
    choose(page, match="5")
    page.tap("#start")
    page.wait_for_selector("#roll:visible")
    whole = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert page.evaluate(whole) == [844, 390]
    board, roll = page.locator("#board").bounding_box(), page.locator("#roll").bounding_box()
    assert board["height"] > 360 and board["y"] + board["height"] <= 390
    assert roll["x"] > board["x"] + board["width"] and roll["y"] + roll["height"] <= 390
    assert_the_score_line_has_room(page)


@pytest.mark.parametrize("size", [(1040, 650), (1280, 560), (1920, 1080)])
def test_a_low_window_has_room_for_the_score_line(new_page, size):
    page = new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
    choose(page, match="5")
    page.click("#start")
    page.wait_for_selector("#roll:visible")
    assert_the_score_line_has_room(page)


def assert_the_score_line_has_room(page) -> None:
    parts = [page.locator(f"#{name}").bounding_box() for name in ("my-score", "match-text", "their-score")]
    assert all(a["x"] + a["width"] <= b["x"] for a, b in zip(parts, parts[1:], strict=False))


def test_an_illegal_drag_is_refused_and_a_legal_one_moves(new_page):
    page = new_page(reduced_motion="reduce")
    choose(page)
    page.click("#start")
    seen = first_turn(page)
    before = men(page)
    source = seen["sources"][0]

    def drag(start, end):
        page.mouse.move(*middle(page, start))
        page.mouse.down()
        page.mouse.move(*middle(page, 12), steps=4)
        page.mouse.move(*middle(page, end), steps=4)
        page.mouse.up()

    drag(source, 12 if source != 12 else 1)  # the bot holds 12
    until(page, "document.getElementById('status').textContent.includes('cannot go there')")
    assert men(page) == before
    page.mouse.click(*middle(page, source))
    targets = page.locator(".place.target").evaluate_all("all => all.map((e) => Number(e.dataset.place))")
    page.keyboard.press("Escape")
    page.mouse.click(*middle(page, source))
    page.mouse.click(5, 5)
    drag(source, targets[0])
    until(page, "!document.getElementById('undo').hidden")
    assert men(page) != before
    page.click("#undo")
    assert men(page) == before


def test_saved_closed_and_continued(new_page, server):
    page = new_page()
    choose(page, match="5", cube=False)
    page.click("#start")
    for _ in range(3):
        while True:
            seen = settled(page)
            if seen["confirm"]:
                page.click("#confirm")
                break
            if seen["roll"] or seen["take"]:
                page.click("#roll" if seen["roll"] else "#take")
            else:
                at = middle(page, seen["sources"][0])
                page.mouse.click(*at)
                page.mouse.click(*at)
        page.wait_for_timeout(300)
        settled(page)
    log, standing, texts = page.inner_text("#log"), men(page), page.inner_text("#match-text")
    context = page.context
    page.close()
    page = new_page(context)
    assert "5-point match · score 0–0 · game 1" in page.inner_text("#continue-text")
    page.click("#continue-button")
    settled(page)
    assert page.inner_text("#log") == log and men(page) == standing and page.inner_text("#match-text") == texts
    # Looking back and on again.
    page.locator("#log button").first.click()
    assert page.inner_text("#look-text") == f"Looking back: move 1 of {page.locator('#log li').count()}"
    page.click("#look-end")
    assert men(page) == standing
    # Leaving asks; restarting discards.
    page.click("#leave")
    page.click("#ask button[data-value=no]")
    assert page.locator("#table").is_visible()
    page.click("#restart")
    page.click("#ask button[data-value=yes]")
    until(page, "document.querySelectorAll('#log li').length === 0")
    page.click("#leave")
    page.click("#ask button[data-value=yes]")
    page.wait_for_selector("#lobby:visible")


def a_game_where(wanted, *, person: str, bot: str) -> str:
    """The saved game of a session in which `wanted(view)` holds; both sides play as told, nobody doubles before."""
    dice = FairDice(KEY)
    for _ in range(200):
        view = table.new_game(dice, {"length": 7})
        while view["match"]["decision"] != "over":
            kept = ("kind", "dice", "moves", "points")
            body = {name: view[name] for name in ("session", "game", "hash", "start")}
            body["actions"] = [{name: done[name] for name in kept if name in done} for done in view["actions"]]
            if view["match"]["cube"] == 1 and wanted(view):
                meta = {"bot": bot, "length": 7, "cube": True, "rolls": None}
                return json.dumps({"version": 1, "meta": meta, "score": view["score"], "savedGame": 1, **body})
            if view["decider"] == 1:
                if view["match"]["decision"] == "roll" and len(view["actions"]) < 6:
                    view = table.view(table.follow(dice, table.read_table(dice, body), table.Done(1, "roll")))
                else:
                    view = table.bot_acts(dice, {**body, "bot": bot})
                continue
            action: dict = {
                "kind": {"opening": "begin", "take": "take", "roll": "roll", "play": "play"}[
                    view["match"]["decision"]
                ]
            }
            if action["kind"] == "play":
                now = table.from_dict(view["match"])
                if person == "first":
                    action["moves"], node = [], 0
                    while view["steps"][node]:
                        start, to, _, node = view["steps"][node][0]
                        action["moves"].append([start, to])
                else:
                    action["moves"] = [list(move) for move in bot_named(person).choose_in(now).moves]
            view = table.act(dice, {**body, "action": action})
    raise AssertionError("no such game was found")


def opened_with(new_page, saved: str):
    page = new_page()
    page.evaluate(
        "([game, settings]) => { localStorage['bgai.game'] = game; localStorage['bgai.settings'] = settings; }",
        [saved, json.dumps({"pace": "instant"})],
    )
    page.reload()
    page.click("#continue-button")
    return page


def test_a_double_is_offered_and_dropped(new_page):
    def bot_would_drop(view):
        if "double" not in view["may"]:
            return False
        offered = table.from_dict(view["match"]).double()
        return not bot_named("beginner").take(offered)

    page = opened_with(new_page, a_game_where(bot_would_drop, person="strong", bot="beginner"))
    page.click("#double")
    page.wait_for_selector("#ask[open]")
    assert "Beginner may take" in page.inner_text("#ask-body")
    page.click("#ask button[data-value=yes]")
    page.wait_for_selector("#ask button[data-value=more]")
    assert "The double was dropped: 1 point" in page.inner_text("#ask-body")
    assert "drops" in page.inner_text("#log") and page.inner_text("#my-score") == "1"
    page.click("#ask button[data-value=more]")
    until(page, "document.getElementById('match-text').textContent.includes('Game 2')")


def test_the_bot_doubles_and_the_person_drops(new_page):
    saved = a_game_where(
        lambda view: view["match"]["decision"] == "take" and view["decider"] == 0, person="first", bot="strong"
    )
    page = opened_with(new_page, saved)
    # The board is in sight, without the dice of the turn before; the answer is due and has the focus.
    page.wait_for_selector("#drop:visible")
    assert not page.locator("#ask").is_visible() and page.locator("#board .die").count() == 0
    assert "Strong doubles to 2" in page.inner_text("#status") and not page.locator("#roll").is_visible()
    assert page.evaluate("document.activeElement.id") == "take"
    page.click("#hint")
    page.wait_for_selector("#hints li:nth-child(4)")
    assert re.search(
        r"Strong would (take|drop)\s+Take\s+[+−]\d\.\d{3}\s+Drop\s+−1\.000\s+You win\s+\d+\.\d%",
        page.inner_text("#hints"),
    )
    page.locator("#take").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask button[data-value=more]")
    assert page.inner_text("#their-score") == "1"


def test_a_double_is_answered_by_a_letter(new_page):
    saved = a_game_where(
        lambda view: view["match"]["decision"] == "take" and view["decider"] == 0, person="first", bot="strong"
    )
    page = opened_with(new_page, saved)
    page.wait_for_selector("#take:visible")
    page.keyboard.press("t")
    page.wait_for_selector("#take", state="hidden")
    assert "takes" in page.inner_text("#log") and not page.locator("#drop").is_visible()
    page.keyboard.press("p")  # nothing is left to be dropped
    page = opened_with(new_page, saved)
    page.wait_for_selector("#drop:visible")
    page.keyboard.press("d")  # doubling is not dropping
    assert page.locator("#drop").is_visible()
    page.keyboard.press("p")
    page.wait_for_selector("#ask button[data-value=more]")
    assert "drops" in page.inner_text("#log") and page.inner_text("#their-score") == "1"


@pytest.mark.parametrize(
    ("locale", "told"),
    [
        ("en-US", ("T takes", "P drops")),
        ("zh-CN", ("T 接受", "P 认输")),
        ("zh-TW", ("T 接受", "P 認輸")),
    ],
)
def test_the_letters_are_told(new_page, locale, told):
    page = new_page(locale=locale)
    page.click("#open-rules")
    assert all(words in page.inner_text("#rules") for words in told)


def test_a_question_that_failed_is_asked_again_and_the_laid_move_stays(new_page):
    page = new_page()
    choose(page)
    page.click("#start")
    seen, leaving = first_turn(page), "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert not page.evaluate(leaving)
    while not seen["confirm"]:
        at = middle(page, seen["sources"][0])
        page.mouse.click(*at)
        page.mouse.click(*at)
        seen = settled(page)
    assert page.evaluate(leaving)  # the move that is laid would be lost, and nothing else
    laid, lines = men(page), page.locator("#log li").count()
    page.evaluate("window.online = fetch; window.fetch = () => Promise.reject(new TypeError('no network')); 0")
    page.click("#confirm")
    page.wait_for_selector("#retry:visible")
    assert "does not answer" in page.inner_text("#status")
    assert men(page) == laid and page.locator("#undo").is_visible()
    page.evaluate("window.fetch = window.online; 0")
    page.click("#retry")
    until(page, f"document.querySelectorAll('#log li').length > {lines}")
    assert not page.locator("#retry").is_visible() and not page.evaluate(leaving)


def test_a_finished_match_says_who_resigned_and_is_there_after_a_reload(new_page):
    view = table.new_game(FairDice(KEY), {"length": 1})
    kept = {name: view[name] for name in ("session", "game", "hash", "start", "actions", "score")}
    meta = {"bot": "beginner", "length": 1, "cube": True, "rolls": None}
    page = opened_with(new_page, json.dumps({"version": 1, "meta": meta, "savedGame": 1, **kept}))
    first_turn(page)
    page.click("#resign")
    page.click("#ask button[data-value='1']")
    page.wait_for_selector("#ask button[data-value=more]")
    assert "You resigned: 1 point." in page.inner_text("#ask-body")
    page.select_option("#language", "zh-Hans", force=True)
    page.reload()
    assert not page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    assert page.inner_text("#continue-button") == "再看一看"
    page.click("#continue-button")
    page.wait_for_selector("#ask button[data-value=more]")
    assert "你认输：1 分。" in page.inner_text("#ask-body") and page.inner_text("#after") == "再来一场"
    page.click("#ask button[data-value=board]")
    assert page.inner_text("#status") == "入门赢得了整场比赛 · 比分 0–1。"
    page.click("#review")
    page.wait_for_selector("#ask-title:has-text('失误')")
    page.click("#ask button[data-value=close]")
    page.click("#leave")
    page.click("#start")  # nothing is asked: that game is over
    page.wait_for_selector("#roll:visible")


def test_what_is_no_saved_game_is_put_aside(new_page):
    page, wrong = new_page(), '{"version":1,"meta":{"bot":"normal"},"actions":[],"score":5}'
    page.evaluate("wrong => localStorage['bgai.game'] = wrong", wrong)
    page.reload()
    page.wait_for_selector("#lobby:visible")
    assert not page.locator("#continue").is_visible()
    assert page.evaluate("localStorage['bgai.game']") == wrong
    page.click("#start")
    page.wait_for_selector("#roll:visible")
    assert page.evaluate("localStorage['bgai.game.damaged']") == wrong


def test_a_tied_opening_throw_is_said_to_be_thrown_again(new_page):
    dice = FairDice(KEY)
    view = {"match": {"decision": "play"}}
    while view["match"]["decision"] != "opening":
        fresh = table.new_game(dice, {"length": 5})
        body = {name: fresh[name] for name in ("session", "game", "hash", "start", "actions")}
        view = table.act(dice, {**body, "action": {"kind": "begin"}})
    meta = {"bot": "beginner", "length": 5, "cube": True, "rolls": None}
    actions = [{"kind": "begin", "dice": view["actions"][0]["dice"]}]
    saved = {"version": 1, "meta": meta, "savedGame": 1, "score": [0, 0], **body, "actions": actions}
    page = opened_with(new_page, json.dumps(saved))
    page.wait_for_selector("#roll:visible")
    assert re.fullmatch(r"(\d)–\1: rolled again", page.inner_text("#log").strip())
    page.click("#log button")
    assert page.locator("#board .die.d0").count() == page.locator("#board .die.d1").count() == 1


def test_under_the_jacoby_rule_only_a_single_game_can_be_offered(new_page):
    page = new_page()
    choose(page)
    page.click("#start")
    first_turn(page)
    page.click("#resign")
    assert page.evaluate(SEEN)["dialog"] == ["1", "no"]


def test_hint_resignation_and_rules(new_page):
    page = new_page()
    choose(page, cube=False)
    page.click("#start")
    first_turn(page)
    page.click("#hint")
    page.wait_for_selector("#hints li:nth-child(2)")
    assert 2 <= page.locator("#hints li").count() <= 4
    assert re.search(r"[+−]\d\.\d{3} · win \d+\.\d%", page.inner_text("#hints"))
    page.click("#open-rules")
    assert "Crawford rule" in page.inner_text("#rules")
    page.keyboard.press("Escape")
    page.click("#resign")
    page.click("#ask button[data-value='3']")
    page.wait_for_selector("#ask button[data-value=more]")
    assert page.inner_text("#their-score") == "3"


@pytest.mark.parametrize(
    ("locale", "language", "lobby", "game"),
    [
        ("en-US", "en", "A game of backgammon", "Roll to start"),
        ("zh-CN", "zh-Hans", "来一局双陆棋", "掷骰定先手"),
        ("zh-TW", "zh-Hant", "來一局雙陸棋", "擲骰定先手"),
        ("fr-FR", "en", "A game of backgammon", "Roll to start"),
    ],
)
def test_the_browsers_language_and_the_switch(new_page, locale, language, lobby, game):
    page = new_page(locale=locale)
    assert page.evaluate("document.documentElement.lang") == language
    assert page.inner_text("#lobby h1") == lobby
    choose(page)
    page.click("#start")
    page.wait_for_selector("#roll:visible")
    assert page.inner_text("#roll") == game
    for other, words in (("zh-Hant", "擲骰定先手"), ("zh-Hans", "掷骰定先手"), ("en", "Roll to start")):
        page.select_option("#language", other)
        assert page.inner_text("#roll") == words
    page.select_option("#language", "zh-Hans")
    page.reload()
    assert page.inner_text("#lobby h1") == "来一局双陆棋"  # the choice is kept
    assert Path(page.evaluate("location.pathname")) == Path("/")


def test_a_whole_game_on_a_site_without_a_server(new_page, site):
    address, paths = site
    page = new_page(address=address)
    requests = []
    page.on("request", lambda request: requests.append(request))
    page.reload()
    page.wait_for_selector("#lobby:not([hidden])")
    choose(page)
    page.click("#start")
    first_turn(page)
    log, hashed = page.inner_text("#log"), page.text_content("#hash")
    page.click("#hint")
    page.wait_for_selector("#hints li:nth-child(2)")
    # Closed and continued: the same dice, promised by the same hash.
    page.reload()
    page.click("#continue-button")
    first_turn(page)
    assert page.inner_text("#log") == log and page.text_content("#hash") == hashed
    assert play_to_the_end(page, page.mouse.click) >= 8
    page.click("#ask button[data-value=review]")
    page.wait_for_selector("#ask-title:has-text('Your errors')", timeout=300_000)
    assert "error rate (PR)" in page.inner_text("#ask-body")
    page.click("#ask button[data-value=close]")
    page.locator("#dicebox summary").click()
    until(page, "document.getElementById('proof').textContent.startsWith('Checked: the hash and all')")
    asked = {request.url.split("?")[0] for request in requests}
    assert {request.method for request in requests} == {"GET"}
    assert {url.removeprefix(address.partition("/games")[0]) for url in asked - {address}} <= paths
    assert any("weights-" in url for url in asked) and not any("/api/" in url for url in asked)


def test_a_site_says_what_is_wrong_with_its_files_and_does_without_webcrypto(new_page, site):
    address, _ = site
    page = new_page(address=address)
    page.add_init_script("delete Crypto.prototype.subtle")  # as for pages that come by plain http
    weights = "**/weights-*.bin"
    page.route(weights, lambda route: route.fulfill(body=b"bgai-js\n\1\0\0\0\4\0\0\0" + bytes(40)))
    page.reload()
    page.wait_for_selector("#lobby:not([hidden])")
    choose(page, cube=False)
    page.click("#start")
    page.click("#roll")
    for _ in range(600):  # until one of both has to think: the bot, or the adviser
        seen = page.evaluate(SEEN)
        if "the file is damaged or not whole" in seen["status"]:
            break
        if seen["sources"]:
            page.click("#hint")
        elif seen["roll"]:
            page.click("#roll")
        page.wait_for_timeout(25)
    else:
        raise AssertionError(seen)
    page.unroute(weights)
    if seen["retry"]:
        page.click("#retry")
        first_turn(page)
    page.click("#hint")
    page.wait_for_selector("#hints li:nth-child(2)")
