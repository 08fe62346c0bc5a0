// The page: lobby, game, dialogs. The engine says what is legal and what happened; this shows it and asks the person.

import { offOf, pipsOf } from "./bgai/board.js";
import { Board } from "./board.js";
import { engine } from "./engine.js";
import { Offline, OtherKey, Refused } from "./errors.js";
import { check } from "./fair.js";
import { browserLanguage, language, setLanguage, t } from "./i18n.js";
import { RULES } from "./rules.js";
import { Turn } from "./turn.js";

const $ = (id) => document.getElementById(id);
const SAVED = "bgai.game", PREFS = "bgai.settings";
const PACES = { calm: { think: 900, step: 420, pause: 900 }, quick: { think: 260, step: 200, pause: 420 }, instant: { think: 0, step: 0, pause: 0 } };
const DEFAULTS = { bot: "normal", length: 0, pace: "calm", cube: true, numbers: true, pips: true, language: null };
const BOTS = ["beginner", "normal", "strong"], ADVISER = "strong";
const CUBE_WORDS = { double: "double", "no double": "noDouble", take: "take", pass: "drop", drop: "drop", beaver: "take", "too good": "tooGood", "no cube": "noCube" };
const wait = (milliseconds) => (milliseconds > 0 ? new Promise((done) => setTimeout(done, milliseconds)) : Promise.resolve());

let prefs = { ...DEFAULTS, ...read(PREFS) };
let meta = null; // of the running game: {bot, length, cube, rolls}
let view = null; // the engine's last answer
let turn = null; // the person's turn that has begun
let selected = null;
let looking = null; // index into view.boards
let reviewed = null; // the adviser's review of this game, once it was asked for
let studied = null; // index of its error that is looked at
let run = 0; // number of the running loop; another number stops the older one
let statusText = () => "";
let byKey = false;
let cards = null;
let proofText = () => "";
let canSave = true;
let throwing = false; // the opening dice are rolling
let again = advance; // what "Try again" does

// What is kept in the browser

function read(key) {
  try {
    const value = JSON.parse(localStorage.getItem(key) || "null");
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

const allOver = () => view.match.decision === "over" && (view.match_winner !== null || !meta.length);

function save() {
  const kept = { version: 1, finished: allOver(), meta, score: view.score, savedGame: view.game, ...body() };
  canSave = write(SAVED, kept);
}

/** The saved game; null when there is none, or none that this page has written. */
function savedGame() {
  const saved = read(SAVED);
  return saved && BOTS.includes(saved.meta?.bot) && Array.isArray(saved.score) && Array.isArray(saved.actions) ? saved : null;
}

/** What stands in the place of the saved game goes aside, so that a new one does not write over it. */
function setAside() {
  try {
    const found = localStorage.getItem(SAVED);
    if (found !== null) localStorage.setItem(`${SAVED}.damaged`, found);
    localStorage.removeItem(SAVED);
  } catch {
    // a browser that keeps nothing
  }
}

// The engine

/** What went wrong, in a sentence of the page's language where it has one. */
const sentenceOf = (error) => (error instanceof Offline ? t("offline") : error instanceof OtherKey ? t("otherKey") : error.message);

function body() {
  const actions = view.actions.map(({ kind, dice, moves, points }) => ({ kind, ...(dice && { dice }), ...(moves && { moves }), ...(points && { points }) }));
  return { session: view.session, game: view.game, hash: view.hash, start: view.start, actions };
}

async function act(action) {
  const asked = meta;
  const answer = await engine.act(body(), action);
  if (meta !== asked) return; // the game was left meanwhile
  view = answer;
  save();
}

/** Say what went wrong, and offer to do it again; a turn that is laid stays. */
function failed(error, repeat) {
  if (!(error instanceof Offline || error instanceof OtherKey || error instanceof Refused)) console.error(error);
  say(() => sentenceOf(error));
  draw();
  again = repeat;
  $("retry").hidden = false;
}

// Lobby

function showLobby() {
  run += 1;
  view = meta = turn = null;
  looking = studied = null;
  $("table").hidden = true;
  $("lobby").hidden = false;
  const form = $("settings");
  form.elements.bot.value = prefs.bot;
  form.elements.match.value = String(prefs.length);
  form.elements.pace.value = prefs.pace;
  for (const name of ["cube", "numbers", "pips"]) form.elements[name].checked = prefs[name];
  fillLobby();
}

function fillLobby() {
  const saved = savedGame();
  $("continue").hidden = !saved;
  if (saved) {
    const [mine, theirs] = saved.score;
    $("continue-title").textContent = t(saved.finished ? "lastTitle" : "continueTitle");
    $("continue-button").textContent = t(saved.finished ? "lookAgain" : "continue");
    $("continue-text").textContent = t("continueText", { bot: t(saved.meta.bot), kind: kindText(saved.meta.length), mine, theirs, game: saved.savedGame });
  }
  for (const small of document.querySelectorAll("[data-card]")) {
    const card = cards?.find((one) => one.name === small.dataset.card);
    if (!card?.games) continue;
    const points = card.strength?.strong?.points_per_game;
    const words = { games: card.games.toLocaleString(language()), points: points?.toFixed(2).replace("-", "−") };
    small.textContent = t(points === undefined ? "cardGamesStrong" : "cardGames", words);
  }
}

function kindText(length) {
  return length === 5 ? t("match5") : length === 7 ? t("match7") : length ? `${length}` : t("single");
}

function readSettings() {
  const form = $("settings");
  Object.assign(prefs, { bot: form.elements.bot.value, length: Number(form.elements.match.value), pace: form.elements.pace.value });
  for (const name of ["cube", "numbers", "pips"]) prefs[name] = form.elements[name].checked;
  write(PREFS, prefs);
}

async function begin(settings) {
  const length = settings.length;
  const fresh = await engine.newGame({ length, cube: settings.cube, jacoby: settings.cube && length === 0 });
  if (!savedGame()) setAside();
  meta = { bot: settings.bot, length, cube: settings.cube, rolls: null };
  view = fresh;
  enterTable();
}

function enterTable() {
  turn = null;
  selected = null;
  looking = reviewed = studied = null;
  proofText = () => "";
  $("lobby").hidden = true;
  $("table").hidden = false;
  $("pace-now").value = prefs.pace;
  board.showNumbers(prefs.numbers);
  showHints(null);
  window.scrollTo(0, 0);
  save();
  advance();
}

async function continueSaved() {
  const saved = savedGame();
  try {
    const { session, game, hash, start, actions } = saved;
    const restored = await engine.act({ session, game, hash, start, actions });
    meta = { ...saved.meta };
    view = restored;
    enterTable();
  } catch (error) {
    if (error instanceof Offline) {
      await dialog(t("continueTitle"), [t("offline")], [[t("close"), "close"]]);
      return;
    }
    setAside();
    await dialog(t("continueTitle"), [error instanceof OtherKey ? t("otherKey") : t("damaged")], [[t("close"), "close"]]);
    fillLobby();
  }
}

// The game goes on

const pace = () => {
  const wanted = PACES[prefs.pace] || PACES.calm;
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? { ...wanted, step: 0 } : wanted;
};
const botName = () => t(meta.bot);

/** Do all that needs no decision of the person, then show what he can do. */
async function advance() {
  const mine = ++run;
  const gone = () => mine !== run;
  try {
    while (!gone()) {
      turn = null;
      selected = null;
      draw();
      const { decision } = view.match;
      if (decision === "over") return await finish(gone);
      if (decision === "opening") return offerOpening();
      if (view.decider === 1) {
        await botDoes(gone);
        continue;
      }
      if (decision === "play" && !view.can_move) {
        const dice = view.match.dice.join("-");
        say(() => t("youNoMove", { dice }));
        await wait(Math.max(pace().pause * 1.6, 60));
        if (!gone()) await act({ kind: "play", moves: [] });
        continue;
      }
      if (decision === "roll" && !view.may.includes("double")) {
        await wait(pace().pause / 2);
        if (!gone()) await act({ kind: "roll" });
        continue;
      }
      if (decision === "play") turn = new Turn(view.boards[view.boards.length - 1], view.steps, view.match.dice);
      sayTurn();
      draw();
      if (decision === "take") $("take").focus();
      else if (byKey) decision === "roll" ? $("roll").focus() : board.focus(turn.sources[0]);
      return;
    }
  } catch (error) {
    if (!gone()) failed(error, advance);
  }
}

function offerOpening() {
  say(() => t("throwOpening"));
  draw();
  if (byKey) $("roll").focus();
}

async function throwOpening() {
  const mine = ++run;
  throwing = true;
  quiet();
  try {
    for (;;) {
      await act({ kind: "begin" });
      if (mine !== run) return (throwing = false);
      const [a, b] = view.actions[view.actions.length - 1].dice;
      const words = () => ({ mine: a, theirs: b, n: a, bot: botName() });
      say(() => t(a === b ? "tie" : a > b ? "youStart" : "botStarts", words()));
      draw();
      showDice([{ value: a, side: 0 }, { value: b, side: 1 }], false);
      await wait(pace().pause * 1.5);
      if (a !== b) break;
    }
    throwing = false;
    if (mine === run) advance();
  } catch (error) {
    throwing = false;
    if (mine === run) failed(error, throwOpening);
  }
}

async function botDoes(gone) {
  const { decision } = view.match;
  if (decision === "roll") {
    say(() => t("botRolls", { bot: botName() }));
    await wait(pace().think / 2);
  } else if (decision === "play" && view.can_move) {
    say(() => t("botThinks", { bot: botName() }));
    await wait(pace().think);
  }
  if (gone()) return;
  const before = view;
  const answer = await engine.botActs(body(), meta.bot);
  if (gone()) return;
  view = answer;
  save();
  const done = view.actions[view.actions.length - 1];
  const dice = (before.match.dice || []).join("-");
  if (done.kind === "roll") {
    const thrown = view.match.dice.join("-");
    say(() => t(view.can_move ? "botRolled" : "botNoMove", { bot: botName(), dice: thrown }));
    draw();
    await wait(view.can_move ? pace().pause * 0.6 : pace().pause * 1.6);
  } else if (done.kind === "play") {
    fillLog();
    for (const [from, to] of done.moves) {
      if (looking === null) await board.step(1, 25 - from, to === 0 ? "off" : 25 - to, pace().step);
      if (gone()) return;
    }
    say(() => (done.moves.length ? t("botPlayed", { bot: botName(), play: done.text }) : t("botNoMove", { bot: botName(), dice })));
  } else if (done.kind !== "double") {
    const words = { take: "botTakes", drop: "botDrops", accept: "accepted", decline: "declined" }[done.kind];
    say(() => t(words, { bot: botName() }));
    draw();
    await wait(pace().pause);
  }
}

// The person's turn

function choose(place) {
  if (looking !== null || !turn) {
    if (!turn && place !== 0 && !$("roll").hidden) say(() => statusNow());
    return;
  }
  if (selected === null) {
    if (turn.sources.includes(place)) select(place);
    else if (turn.men[place] > 0 && !turn.complete) say(() => t("notThat"));
    return;
  }
  if (place === selected) return step([turn.byLargerDie(place)]);
  const steps = turn.targets(selected).get(place);
  if (steps) return step(steps);
  if (turn.sources.includes(place)) return select(place);
  cancel();
}

function select(place) {
  selected = place;
  say(() => t("chooseTarget"));
  light();
}

function cancel() {
  if (!turn) return;
  selected = null;
  sayTurn();
  light();
}

async function step(steps, milliseconds = pace().step) {
  const own = turn;
  selected = null;
  light(true);
  for (const one of steps) {
    own.step(one);
    await board.step(0, one[0], one[1] === 0 ? "off" : one[1], milliseconds);
    if (turn !== own) return;
  }
  sayTurn();
  draw();
  if (byKey && turn.complete) $("confirm").focus();
  else if (byKey && !turn.sources.includes(Number(document.activeElement?.dataset?.place))) board.focus(turn.sources[0]);
}

function drag(from, to) {
  if (!turn || looking !== null) return false;
  const steps = typeof to === "number" ? turn.targets(from).get(to) : undefined;
  selected = null;
  if (!steps) {
    say(() => t("notThere"));
    light();
    return false;
  }
  step(steps, 0);
  return true;
}

function mayDrag(from) {
  if (!turn || looking !== null || !turn.sources.includes(from)) return false;
  selected = from;
  light();
  return true;
}

function undo() {
  if (!turn || !turn.steps.length) return;
  turn.undo();
  selected = null;
  sayTurn();
  draw();
  if (byKey) board.focus(turn.sources[0]);
}

async function confirmTurn() {
  if (!turn || !turn.complete) return;
  const moves = turn.steps.map(([from, to]) => [from, to]);
  await during(() => act({ kind: "play", moves }));
}

async function rollDice() {
  if (view.match.decision === "opening") return throwOpening();
  if (view.decider === 0 && view.match.decision === "roll") await during(() => act({ kind: "roll" }));
}

async function doubleNow() {
  const { cube } = view.match;
  const text = [t("askDoubleText", { bot: botName(), m: cube })];
  const choice = await dialog(t("askDouble", { n: 2 * cube }), text, [[t("yesDouble"), "yes", "primary"], [t("cancel"), "no"]]);
  if (choice !== "yes") return;
  say(() => t("youDoubled", { n: 2 * cube }));
  await during(() => act({ kind: "double" }));
}

async function resign() {
  const { cube, cube_owner, jacoby } = view.match;
  const kinds = jacoby && cube_owner === null ? [1] : [1, 2, 3]; // nothing else would count
  const offers = kinds.map((kind) => [t(`resign${kind}`, { n: kind * cube }), String(kind)]);
  const choice = await dialog(t("askResign"), [t("askResignText", { bot: botName() })], [...offers, [t("cancel"), "no", "primary"]]);
  if (["1", "2", "3"].includes(choice)) await during(() => act({ kind: "resign", points: Number(choice) }));
}

function quiet() {
  for (const button of document.querySelectorAll(".actions > .buttons button")) button.hidden = true;
}

/** Ask the engine once, buttons quiet meanwhile, and go on. */
async function during(call) {
  const mine = ++run;
  showHints(null);
  quiet();
  try {
    await call();
    if (mine === run) advance();
  } catch (error) {
    if (mine === run) failed(error, () => during(call));
  }
}

async function giveHint() {
  const asked = view;
  say(() => t("hintWait"));
  try {
    const told = await engine.hint(body(), ADVISER);
    if (view !== asked) return;
    showHints(told);
    sayTurn();
  } catch (error) {
    say(() => sentenceOf(error));
  }
}

let hintShown = null;
function showHints(told) {
  hintShown = told;
  const list = $("hints");
  list.hidden = !told;
  list.replaceChildren();
  if (!told) return;
  const line = (left, right = "", kind = "") => {
    const item = document.createElement("li");
    item.className = kind;
    item.append(Object.assign(document.createElement("span"), { textContent: left }), Object.assign(document.createElement("span"), { textContent: right }));
    list.append(item);
  };
  if (told.kind === "plays") {
    line(t("hintTitle"), "", "head");
    for (const one of told.plays) line(one.play, t("hintEquity", { equity: signed(one.equity), win: `${(100 * one.win).toFixed(1)}%` }));
    return;
  }
  const { cube } = told, { outcomes } = cube; // both seen by the player who doubles or rolls
  if (told.asked === "take") {
    line(t(cube.take ? "hintTake" : "hintDrop"), "", "head");
    line(t("take"), signed(-cube.double_take));
    line(t("drop"), signed(-cube.double_pass));
    return line(t("hintWin"), `${(100 * (outcomes.loss + outcomes.gammon_loss + outcomes.backgammon_loss)).toFixed(1)}%`);
  }
  const offered = Math.min(cube.double_take ?? Infinity, cube.double_pass ?? Infinity);
  const words = { a: signed(cube.no_double), b: signed(offered) };
  line(t(cube.action === "too good" ? "hintTooGood" : cube.double ? "hintDouble" : "hintRoll", words));
}

const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

// The end of a game

async function finish(gone) {
  const won = view.winner === 0, done = view.actions[view.actions.length - 1];
  const heading = () => (view.match_winner === null ? (won ? t("win") : t("lose", { bot: botName() })) : won ? t("matchWon") : t("matchLost", { bot: botName() }));
  const points = t(view.points === 1 ? "points1" : "pointsN", { n: view.points });
  const cube = view.match.cube;
  let text = t("resultDropped", { points });
  if (done.kind === "accept") text = t("resultResigned", { points });
  if (done.kind === "play") {
    const loser = view.off[won ? 1 : 0];
    const men = view.boards[view.boards.length - 1];
    const far = won ? men.slice(1, 7).some((n) => n < 0) || men[0] < 0 : men.slice(19, 26).some((n) => n > 0);
    text = t(cube > 1 ? "resultCube" : "resultText", { kind: t(loser > 0 ? "kind1" : far ? "kind3" : "kind2"), cube, points });
  }
  say(() => `${heading()} · ${t("score", { mine: view.score[0], theirs: view.score[1] })}`);
  draw();
  reveal(gone);
  await wait(pace().pause / 2);
  if (gone()) return;
  const choice = await dialog(heading(), [text, t("score", { mine: view.score[0], theirs: view.score[1] })], [[nextText(), "more", "primary"], [t("review"), "review"], [t("showBoard"), "board", "quiet"]]);
  if (gone()) return;
  if (choice === "more") nextGame();
  else if (choice === "review") review();
}

const nextText = () => t(!meta.length ? "again" : view.match_winner === null ? "nextGame" : "anotherMatch");

const nextGame = () =>
  during(async () => {
    if (view.match_winner !== null || !meta.length) return begin(meta);
    const asked = meta, rolls = countRolls();
    const next = await engine.nextGame(body());
    if (meta !== asked) return;
    view = next;
    meta.rolls = rolls;
    enterTable();
  });

async function reveal(gone) {
  const throws = view.actions.filter((done) => done.dice).map((done) => done.dice);
  try {
    const told = await engine.reveal(body());
    const right = await check(told, view.hash, throws);
    if (gone()) return;
    proofText = () => `${t(right ? "proofOk" : "proofBad", { n: throws.length })} ${t("seed")} ${told.text}`;
    $("proof").textContent = proofText();
  } catch {
    // the seed stays unknown; the game was played all the same
  }
}

async function review() {
  const asked = view, before = statusText;
  if (!reviewed) {
    say(() => t("reviewWait"));
    $("review").disabled = true;
    try {
      const told = await engine.review(body(), ADVISER);
      if (view === asked) reviewed = told;
    } catch (error) {
      if (view === asked) dialog(t("review"), [sentenceOf(error)], [[t("close"), "close"]]);
    }
    $("review").disabled = false;
    if (view === asked) say(before);
    if (!reviewed || view !== asked) return;
  }
  const pr = (player) => (player.pr === null ? t("prNone") : player.pr.toFixed(1));
  const [me, it] = reviewed.players;
  const list = document.createElement("ol");
  list.className = "errors";
  reviewed.errors.forEach((error, index) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: errorText(error) });
    button.addEventListener("click", () => {
      $("ask").close("look");
      study(index);
      $("look-end").focus();
    });
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  });
  const summary = t("reviewText", { mine: pr(me), theirs: pr(it), bot: botName(), myLuck: signed(me.luck), theirLuck: signed(it.luck) });
  const content = reviewed.errors.length ? [summary, list] : [t("reviewNone"), summary];
  dialog(t("reviewTitle"), content, [[t("close"), "close", "primary"]]);
}

/** The play made, the better one, and the loss. */
function errorText({ dice, made, best, loss }) {
  const words = (text) => text.split(", ").map((word) => t(CUBE_WORDS[word] || word)).join(", ");
  return t("reviewItem", { dice: dice ? dice.join("-") : "", made: words(made), best: words(best), loss: loss.toFixed(3) }).trim();
}

// Looking

function say(text) {
  statusText = text;
  $("status").textContent = text() + (canSave ? "" : ` ${t("notSaved")}`);
}

function statusNow() {
  const { decision, cube } = view.match;
  if (decision === "take") return t("botDoubles", { bot: botName(), n: 2 * cube, m: cube });
  return t(decision === "opening" ? "throwOpening" : "yourRollOrDouble");
}

function sayTurn() {
  if (!turn) return say(statusNow);
  const own = turn;
  say(() => (own.complete ? t("mayConfirm") : t("yourPlay", { dice: view.match.dice.join("-") })));
}

function draw() {
  if (!view) return;
  const { match } = view;
  const at = looking ?? view.boards.length - 1;
  const men = looking === null && turn ? turn.men : view.boards[at];
  board.show(men, offOf(men));
  drawCube();
  drawDice();
  light();
  const mine = view.decider === 0 && looking === null;
  $("roll").hidden = !(looking === null && !throwing && (match.decision === "opening" || (mine && match.decision === "roll" && view.may.includes("double"))));
  $("roll").textContent = t(match.decision === "opening" ? "throwButton" : "roll");
  for (const kind of ["double", "take", "drop"]) $(kind).hidden = !(mine && view.may.includes(kind));
  $("confirm").hidden = !(mine && turn?.complete);
  $("undo").hidden = !(mine && turn?.steps.length);
  $("hint").hidden = !(mine && ((turn && !turn.steps.length) || match.decision === "take" || (match.decision === "roll" && view.may.includes("double"))));
  $("retry").hidden = true;
  $("after").hidden = match.decision !== "over";
  $("after").textContent = nextText();
  $("review").hidden = match.decision !== "over";
  $("resign").disabled = !(mine && view.may.includes("resign"));
  const pips = pipsOf(men);
  $("my-pips").textContent = prefs.pips ? t("pips", { n: pips[0] }) : "";
  $("their-pips").textContent = prefs.pips ? t("pips", { n: pips[1] }) : "";
  $("their-name").textContent = botName();
  $("my-score").textContent = view.score[0];
  $("their-score").textContent = view.score[1];
  document.querySelector(".mine").classList.toggle("turn", view.decider === 0);
  document.querySelector(".theirs").classList.toggle("turn", view.decider === 1);
  const kind = [kindText(meta.length), meta.length ? t("game", { n: view.game }) : null, match.crawford ? t("crawford") : null, match.jacoby ? t("jacoby") : null, meta.cube ? null : t("noCube")];
  $("match-text").textContent = kind.filter(Boolean).join(" · ");
  $("hash").textContent = view.hash;
  $("proof").textContent = proofText();
  fillLog();
  fillHistogram();
  $("looking").hidden = looking === null;
  $("status").hidden = looking !== null;
  if (looking !== null) {
    const error = studied === null ? null : reviewed.errors[studied];
    const stops = lookStops(), at = stops.indexOf(error ? studied : looking);
    $("look-text").textContent = error
      ? `${t("lookingAtError", { n: at + 1, all: stops.length })} ${errorText(error)}`
      : t("lookingBack", { n: at, all: stops.length - 1 });
    $("look-back").setAttribute("aria-label", t(error ? "earlierError" : "earlier"));
    $("look-on").setAttribute("aria-label", t(error ? "laterError" : "later"));
    $("look-back").disabled = at === 0;
    $("look-on").disabled = at === stops.length - 1;
    $("look-end").textContent = t(error ? "backToErrors" : "backToGame");
  }
}

/** Where ‹ and › stop: the errors of the review, or the beginning and what stands after each line of the log. */
function lookStops() {
  if (studied !== null) return [...reviewed.errors.keys()];
  return [0, ...view.actions.flatMap((done, index) => (done.kind === "roll" ? [] : [index + 1]))];
}

function light(quiet = false) {
  if (!turn || looking !== null || quiet) return board.light([], [], null);
  const targets = selected === null ? [] : [...turn.targets(selected).keys()];
  board.light(turn.sources, targets, selected);
}

function drawCube() {
  const { match, actions } = view;
  const before = actions.slice(0, looking ?? actions.length);
  const takes = before.filter((done) => done.kind === "take");
  const offering = before[before.length - 1]?.kind === "double" ? before[before.length - 1].player : null;
  const owned = takes.length ? takes[takes.length - 1].player : null;
  const value = 2 ** (takes.length + (offering === null ? 0 : 1));
  const owner = owned === null ? t("cubeMiddle") : owned === 0 ? t("cubeMine") : t("cubeTheirs", { bot: botName() });
  const shown = meta.cube && !match.crawford;
  board.cube({ value, owner: owned, offered: offering === null ? null : 1 - offering, shown }, t("ariaCube", { n: value, owner }));
}

function drawDice() {
  const { match, actions } = view;
  const at = looking ?? actions.length;
  const before = actions.slice(0, at);
  if (before[at - 1]?.kind === "double") return showDice([], false);
  const thrown = before.filter((done) => done.dice).pop();
  if (!thrown || (looking === null && !throwing && (match.decision === "opening" || $("roll").hidden === false))) {
    const due = looking === null && view.decider !== 1 && match.decision !== "over";
    return showDice([], due);
  }
  const [mine, theirs] = thrown.dice;
  if (thrown.kind === "begin" && mine === theirs) return showDice([{ value: mine, side: 0 }, { value: theirs, side: 1 }], false);
  const number = before.lastIndexOf(thrown);
  const side = thrown.kind === "begin" ? (mine > theirs ? 0 : 1) : thrown.player;
  const played = before.slice(number + 1).some((done) => done.kind === "play");
  const [high, low] = [...thrown.dice].sort((a, b) => b - a);
  const values = high === low ? [high, high, high, high] : [high, low];
  const used = looking === null && turn ? turn.used : values.map(() => played);
  if (looking === null && !played && match.decision === "roll") return showDice([], view.decider === 0);
  showDice(values.map((value, index) => ({ value, side, used: used[index] })), looking === null && Boolean(turn?.complete));
}

function showDice(dice, ready) {
  const label = dice.length ? t("ariaDice", { dice: dice.map((die) => die.value).join(", ") }) : t("ariaNoDice");
  board.dice(dice, { ready, label });
}

function fillLog() {
  const list = $("log");
  const items = [];
  let dice = null, number = 0;
  view.actions.forEach((done, index) => {
    if (done.dice) dice = [...done.dice].sort((a, b) => b - a).join("");
    if (done.kind === "roll") return;
    const words = { begin: () => t(done.dice[0] === done.dice[1] ? "openingTie" : "opening", { a: done.dice[0], b: done.dice[1] }), play: () => done.text || t("noMove"), double: () => t("doubles", { n: 2 * cubeBefore(index) }), take: () => t("takes"), drop: () => t("drops"), resign: () => `${t("resigns")} (${done.points})`, accept: () => t("accepts"), decline: () => t("declines") }[done.kind];
    number += 1;
    const button = document.createElement("button");
    button.type = "button";
    button.className = done.player === null ? "pn" : `p${done.player}`;
    button.dataset.at = index + 1;
    // An error is looked at before it is made: its line is the one that follows.
    if (looking !== null && looking + (studied === null ? 0 : 1) === index + 1) button.setAttribute("aria-current", "true");
    const who = document.createElement("i");
    const roll = Object.assign(document.createElement("span"), { className: "roll", textContent: done.kind === "play" ? `${dice}:` : "" });
    const text = Object.assign(document.createElement("span"), { textContent: words() });
    const name = Object.assign(document.createElement("span"), { className: "unseen", textContent: done.player === null ? "" : done.player === 0 ? t("you") : botName() });
    button.append(who, name, roll, text);
    const item = document.createElement("li");
    item.append(button);
    items.push(item);
  });
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
  const more = items.length !== list.children.length;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  list.replaceChildren(...items);
  if (focused) list.querySelector(`[data-at="${focused}"]`)?.focus({ preventScroll: true });
  const current = list.querySelector("[aria-current]");
  // The list alone is scrolled: scrollIntoView would move the page too, and on a phone the board out of sight.
  if (current) list.scrollTop = Math.min(current.offsetTop, Math.max(list.scrollTop, current.offsetTop + current.offsetHeight - list.clientHeight));
  else if (looking === null && (atEnd || more)) list.scrollTop = list.scrollHeight;
}

function cubeBefore(index) {
  return 2 ** view.actions.slice(0, index).filter((done) => done.kind === "take").length;
}

/** How often each number fell in this session: {mine [6], theirs [6], throws, doubles}. */
function countRolls() {
  const past = meta.rolls || { mine: [0, 0, 0, 0, 0, 0], theirs: [0, 0, 0, 0, 0, 0], throws: 0, doubles: 0 };
  const count = { mine: [...past.mine], theirs: [...past.theirs], throws: past.throws, doubles: past.doubles };
  for (const { kind, dice, player } of view.actions) {
    if (!dice) continue;
    count.throws += 1;
    if (kind === "begin") {
      count.mine[dice[0] - 1] += 1;
      count.theirs[dice[1] - 1] += 1;
      continue;
    }
    if (dice[0] === dice[1]) count.doubles += 1;
    for (const die of dice) (player === 0 ? count.mine : count.theirs)[die - 1] += 1;
  }
  return count;
}

function fillHistogram() {
  const { mine, theirs, throws, doubles } = countRolls();
  const most = Math.max(1, ...mine, ...theirs);
  const box = $("histogram");
  box.replaceChildren();
  box.setAttribute("aria-label", t("histogram", { mine: mine.join(", "), theirs: theirs.join(", "), bot: botName() }));
  for (let die = 0; die < 6; die++) {
    const column = document.createElement("div");
    for (const [count, kind] of [[mine[die], "m"], [theirs[die], "t"]]) {
      const bar = Object.assign(document.createElement("b"), { className: kind, title: String(count) });
      bar.style.height = `${(100 * count) / most}%`;
      column.append(bar);
    }
    column.append(Object.assign(document.createElement("small"), { textContent: die + 1 }));
    box.append(column);
  }
  $("dice-text").textContent = t("diceText", { n: throws, d: doubles });
}

/** Look back to a moment of the game, as it stood before an error of the review or after a line of the log. */
function look(at, error = null) {
  looking = at;
  studied = error;
  draw();
  if (at === null) $("log").scrollTop = $("log").scrollHeight;
}

const study = (index) => look(reviewed.errors[index].at, index);

function lookFurther(way) {
  if (studied !== null) return study(studied + way);
  const stops = lookStops();
  look(stops[stops.indexOf(looking) + way]);
}

function endLook() {
  const fromReview = studied !== null;
  look(null);
  if (fromReview) review();
}

function nameOf(place) {
  if (!view || !meta) return t("ariaBoard");
  if (place === "board") return t("ariaBoard");
  const men = board.men, bot = botName();
  let text;
  if (place === 25) text = t("ariaBar", { mine: Math.max(men[25], 0), theirs: Math.max(-men[0], 0), bot });
  else if (place === 0) text = `${t("ariaOff", { mine: board.off[0] })}; ${t("ariaTheirOff", { n: board.off[1], bot })}`;
  else text = t("ariaPoint", { n: place, men: men[place] === 0 ? t("empty") : men[place] > 0 ? t("men", { n: men[place] }) : t("menTheirs", { n: -men[place], bot }) });
  if (board.selected === place) text += `, ${t("chosen")}`;
  else if (board.targets.has(place)) text += `, ${t("canGo")}`;
  else if (board.sources.has(place) && board.selected === null) text += `, ${t("canMove")}`;
  return text;
}

// Dialogs

/** Show a dialog; the value of the button, "" when it was closed with Escape. */
function dialog(title, content, buttons) {
  const box = $("ask");
  if (box.open) box.close("");
  $("ask-title").textContent = title;
  $("ask-body").replaceChildren(...content.map((part) => (typeof part === "string" ? Object.assign(document.createElement("p"), { textContent: part }) : part)));
  $("ask-buttons").replaceChildren(
    ...buttons.map(([text, value, kind = ""]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, className: kind });
      button.dataset.value = value;
      button.addEventListener("click", () => box.close(value));
      return button;
    }),
  );
  box.returnValue = "";
  box.showModal();
  box.querySelector("button.primary")?.focus();
  return new Promise((done) => {
    box.onclose = () => {
      if (!box.open) done(box.returnValue); // open: it was another dialog that closed, and made way for this one
    };
  });
}

function showRules() {
  const parts = [];
  for (const [heading, paragraphs] of RULES[language()]) {
    parts.push(Object.assign(document.createElement("h3"), { textContent: heading }));
    for (const text of paragraphs) parts.push(Object.assign(document.createElement("p"), { textContent: text }));
  }
  parts.push(Object.assign(document.createElement("p"), { className: "small", textContent: t("keys") }));
  $("rules-body").replaceChildren(...parts);
  if (!$("rules").open) $("rules").showModal();
  $("rules").scrollTop = 0;
}

async function leave() {
  if (view.match.decision !== "over") {
    const choice = await dialog(t("askLeave"), [t("askLeaveText")], [[t("yesLeave"), "yes"], [t("stay"), "no", "primary"]]);
    if (choice !== "yes") return;
  }
  showLobby();
}

async function restart() {
  const choice = await dialog(t("askRestart"), [t("askRestartText")], [[t("yesRestart"), "yes"], [t("cancel"), "no", "primary"]]);
  if (choice === "yes") await during(() => begin(meta));
}

// Wiring

const board = new Board($("board"), { choose, drag, mayDrag, escape: cancel, dice: () => (turn?.complete ? confirmTurn() : !$("roll").hidden ? rollDice() : undefined) }, nameOf);

$("roll").addEventListener("click", rollDice);
$("double").addEventListener("click", doubleNow);
for (const kind of ["take", "drop"]) $(kind).addEventListener("click", () => during(() => act({ kind })));
$("confirm").addEventListener("click", confirmTurn);
$("undo").addEventListener("click", undo);
$("hint").addEventListener("click", giveHint);
$("retry").addEventListener("click", () => again());
$("after").addEventListener("click", nextGame);
$("review").addEventListener("click", review);
$("resign").addEventListener("click", resign);
$("restart").addEventListener("click", restart);
$("leave").addEventListener("click", leave);
$("open-rules").addEventListener("click", showRules);
$("look-back").addEventListener("click", () => lookFurther(-1));
$("look-on").addEventListener("click", () => lookFurther(1));
$("look-end").addEventListener("click", endLook);
$("log").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) look(button.hasAttribute("aria-current") && studied === null ? null : Number(button.dataset.at));
});
$("pace-now").addEventListener("change", () => {
  prefs.pace = $("pace-now").value;
  write(PREFS, prefs);
});
$("continue-button").addEventListener("click", continueSaved);
$("brand").addEventListener("click", (event) => {
  event.preventDefault();
  if (view) leave();
});
$("settings").addEventListener("change", readSettings);
$("settings").addEventListener("submit", async (event) => {
  event.preventDefault();
  readSettings();
  const saved = savedGame();
  if (saved && !saved.finished) {
    const choice = await dialog(t("askNew"), [t("askNewText")], [[t("yesNew"), "yes"], [t("cancel"), "no", "primary"]]);
    if (choice !== "yes") return;
  }
  try {
    await begin(prefs);
  } catch (error) {
    await dialog(t("start"), [sentenceOf(error)], [[t("close"), "close"]]);
  }
});
$("language").addEventListener("change", () => {
  prefs.language = setLanguage($("language").value);
  write(PREFS, prefs);
  refresh();
});
document.addEventListener("pointerdown", () => (byKey = false), true);
document.addEventListener("keydown", (event) => {
  if (["Enter", " ", "Tab"].includes(event.key) || event.key.startsWith("Arrow")) byKey = true;
  if (!view || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || event.target.closest("select, input")) return;
  if (event.key === "Escape" && looking !== null) return endLook();
  const button = { r: "roll", d: "double", c: "confirm", u: "undo", h: "hint", t: "take", p: "drop" }[event.key.toLowerCase()];
  if (button && !$(button).hidden) {
    byKey = true;
    $(button).click();
  }
});
window.addEventListener("beforeunload", (event) => {
  // All else is saved, if the browser saves.
  if (turn?.steps.length || (view && !canSave && !allOver())) event.preventDefault();
});

function refresh() {
  fillLobby();
  if (view) {
    draw();
    say(statusText);
    showHints(hintShown);
  }
  if ($("rules").open) showRules();
}

$("language").value = setLanguage(prefs.language || browserLanguage());
showLobby();
if (location.hash === "#rules") showRules();
engine
  .bots()
  .then((told) => {
    cards = told;
    fillLobby();
  })
  .catch(() => {});
