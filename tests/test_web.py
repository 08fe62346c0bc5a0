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
    roll: shown("roll"), confirm: shown("confirm"), undo: shown("undo"), retry: shown("retry"),
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
        if seen["dialog"] or seen["roll"] or seen["confirm"] or seen["sources"]:
            return seen
        page.wait_for_timeout(15)
    raise AssertionError(seen)


def play_to_the_end(page, press, most=1500) -> int:
    """A whole game: `press` clicks or taps at (x, y); the first lit man goes, twice pressed, by the larger die."""
    turns = 0
    for _ in range(most):
        seen = settled(page)
        if seen["dialog"]:
            if "take" not in seen["dialog"]:
                assert {"more", "review"} <= set(seen["dialog"])
                return turns
            press_on(page, press, "#ask button[data-value=take]")
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
    page.locator("#ask-body ol.errors button").first.click()
    assert page.locator("#looking").is_visible()
    page.click("#look-end")
    page.locator("#dicebox summary").click()
    until(page, "document.getElementById('proof').textContent.startsWith('Checked: the hash and all')")
    assert page.evaluate("localStorage.getItem('bgai.game')") is None
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
            if "take" not in seen["dialog"]:
                break
            page.keyboard.press("Enter")
        elif seen["confirm"] or seen["roll"]:
            wanted = "confirm" if seen["confirm"] else "roll"
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
        page.click("#roll" if seen["roll"] else "#ask button[data-value=take]")
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
        page.click("#roll" if seen["roll"] else "#ask button[data-value=take]")
    return seen


def men(page) -> list[str]:
    return page.locator("[data-place]").evaluate_all(
        "all => all.map((e) => e.getAttribute('aria-label').split(',')[0])"
    )


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
            if seen["roll"] or seen["dialog"]:
                page.click("#roll" if seen["roll"] else "#ask button[data-value=take]")
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
    assert "Looking back: move 1 of" in page.inner_text("#look-text")
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
    assert "the double was dropped: 1 point" in page.inner_text("#ask-body")
    assert "drops" in page.inner_text("#log") and page.inner_text("#my-score") == "1"
    page.click("#ask button[data-value=more]")
    until(page, "document.getElementById('match-text').textContent.includes('Game 2')")


def test_the_bot_doubles_and_the_person_drops(new_page):
    saved = a_game_where(
        lambda view: view["match"]["decision"] == "take" and view["decider"] == 0, person="first", bot="strong"
    )
    page = opened_with(new_page, saved)
    page.wait_for_selector("#ask button[data-value=drop]")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator("#ask button[data-value=drop]").is_visible()  # it must be answered
    page.click("#ask button[data-value=drop]")
    page.wait_for_selector("#ask button[data-value=more]")
    assert page.inner_text("#their-score") == "1"


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
    page.click("#ask button[data-value=board]")
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
        if seen["sources"]:
            page.click("#hint")
        elif seen["roll"]:
            page.click("#roll")
        if "the file is damaged or not whole" in page.inner_text("#status"):
            break
        page.wait_for_timeout(25)
    else:
        raise AssertionError(seen)
    page.unroute(weights)
    if seen["retry"]:
        page.click("#retry")
        first_turn(page)
    page.click("#hint")
    page.wait_for_selector("#hints li:nth-child(2)")
