// An engine of the page without a server: replays what the browser keeps, throws promised dice, and asks the bots. It
// answers what bgai/frontends/http/table.py answers. The person is player 0, the bot player 1. Knows no browser.

import { answerChoice, cubeChoice, cubeDecision, markOf, playChoice, rankPlays, summaryOf } from "./bgai/analysis.js";
import { BAR, hitsOf, legalPlays, mayMove, moved, offOf, playText, turned } from "./bgai/board.js";
import { equityOf, winChance } from "./bgai/bot.js";
import { throwOf } from "./bgai/dice.js";
import {
  acted,
  actionsOf,
  checkedStart,
  deciderOf,
  matchWinnerOf,
  newMatch,
  pipsOfMatch,
  pointsOf,
  stakesOf,
  viewOf,
  winnerOf,
} from "./bgai/match.js";
import { OUTCOMES, turnedOutcomes } from "./bgai/outcome.js";
import { hex, hmac, sha256 } from "./bgai/sha256.js";
import { OtherKey, Refused } from "./errors.js";

/** @typedef {import("./bgai/match.js").Match} Match */
/** @typedef {import("./bgai/bot.js").Bot} Bot */
/**
 * One action as it was done; player null at the opening throw.
 * @typedef {{player: number | null, kind: string, dice?: [number, number], moves?: [number, number][], hits?:
 * number[], text?: string, points?: number}} Done
 */
/**
 * Where the dice of one game come from.
 * @typedef {{session: string, game: number, seed: bigint, salt: string, text: string, hash: string}} Promised
 */
/**
 * A game so far: the match before each action, and at last after all of them.
 * @typedef {{promise: Promised, actions: Done[], states: Match[]}} Table
 */

const PERSON = 0,
  BOT = 1,
  HINTS = 3,
  LEAST_ERROR = 0.02;
const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text);
const rounded = (/** @type {number | null} */ value, /** @type {number} */ digits) =>
  value === null ? null : Number(value.toFixed(digits));
const nowOf = (/** @type {Table} */ table) => table.states[table.states.length - 1];

/**
 * @param {object} given
 * @param {Uint8Array} given.key 32 secret bytes that the seeds of all games follow from
 * @param {(name: string) => Promise<Bot>} given.botNamed
 * @param {() => Promise<import("./engine.js").Card[]>} given.bots
 * @param {() => Promise<unknown>} [given.breathe] awaited between the decisions of a review
 * @returns {import("./engine.js").Engine}
 */
export function engineOf({ key, botNamed, bots, breathe = async () => {} }) {
  /** What is done, with the errors of the rules as Refused. */
  async function told(/** @type {() => Promise<any>} */ answer) {
    try {
      return await answer();
    } catch (error) {
      throw error instanceof RangeError ? new Refused(error.message) : error;
    }
  }
  const read = (/** @type {any} */ kept) => readTable(key, kept);
  return {
    bots,
    newGame: (settings) => told(async () => view(begun(await promised(key, newSession(), 1), newMatch(settings)))),
    act: (game, action) =>
      told(async () => {
        const table = await read(game);
        if (!action) return view(table);
        if (deciderOf(nowOf(table)) === BOT) throw new Refused("it is the bot's turn");
        return view(follow(table, action));
      }),
    botActs: (game, bot) =>
      told(async () => {
        const table = await read(game);
        if (deciderOf(nowOf(table)) !== BOT) throw new Refused("it is not the bot's turn");
        return view(follow(table, decided(await botNamed(bot), nowOf(table))));
      }),
    hint: (game, bot) => told(async () => hintOf(await botNamed(bot), nowOf(await read(game)))),
    review: (game, bot) => told(async () => reviewOf(await botNamed(bot), await read(game), breathe)),
    nextGame: (game) =>
      told(async () => {
        const table = await read(game),
          { session, game: number } = table.promise;
        return view(begun(await promised(key, session, number + 1), acted(nowOf(table), "next_game")));
      }),
    reveal: (game) =>
      told(async () => {
        const { promise, states } = await read(game);
        if (states[states.length - 1].decision !== "over")
          throw new Refused("the seed is told when the game is over");
        return { seed: String(promise.seed), salt: promise.salt, text: promise.text, hash: promise.hash };
      }),
  };
}

// Dice

const newSession = () => hex(crypto.getRandomValues(new Uint8Array(16)));

/**
 * The promise of a session's game: the hash of `text` is told before the first throw, the seed when the game is over.
 */
async function promised(/** @type {Uint8Array} */ key, /** @type {string} */ session, /** @type {number} */ game) {
  if (!/^[0-9a-f]{32}$/.test(session) || !Number.isInteger(game) || game < 1)
    throw new Refused("this names no session and no game");
  const bits = await hmac(key, bytesOf(`${session}/${game}`));
  const seed = BigInt(`0x${hex(bits.subarray(0, 8))}`) >> 1n,
    salt = hex(bits.subarray(16));
  const text = `bgai-dice:${session}:${game}:${seed}:${salt}`;
  return { session, game, seed, salt, text, hash: hex(await sha256(bytesOf(text))) };
}

// Replaying

/** @returns {Table} */
const begun = (/** @type {Promised} */ promise, /** @type {Match} */ start) => ({
  promise,
  actions: [],
  states: [start],
});

/** The game that was kept, replayed with the promised dice. @returns {Promise<Table>} */
async function readTable(/** @type {Uint8Array} */ key, /** @type {any} */ kept) {
  const promise = await promised(key, kept.session, kept.game);
  if (kept.hash !== promise.hash) throw new OtherKey("the dice of this game were promised under another key");
  let table = begun(promise, checkedStart(kept.start));
  for (const action of kept.actions ?? []) table = follow(table, action);
  return table;
}

/** The table after one more action; dice that are given must be those that were promised. @returns {Table} */
function follow(/** @type {Table} */ table, /** @type {any} */ { kind, dice, moves, points }) {
  const now = nowOf(table),
    player = deciderOf(now);
  /** @type {Done} */
  const done = { player, kind };
  let after;
  if (kind === "begin" || kind === "roll") {
    const number = table.actions.filter((each) => each.dice).length + 1;
    done.dice = throwOf(table.promise.seed, number);
    if (dice && dice.join() !== done.dice.join())
      throw new Refused(`throw ${number} of this game was ${done.dice.join("-")}, not ${dice.join("-")}`);
  }
  if (kind === "play") {
    done.moves = sortedMoves(moves ?? []);
    done.hits = hitsOf(now.position, done.moves);
    done.text = done.moves.length ? playText(now.position, done.moves) : "";
    after = afterMoves(now, moves ?? []);
  }
  if (points) done.points = points;
  return {
    promise: table.promise,
    actions: [...table.actions, done],
    states: [...table.states, acted(now, kind, { dice: done.dice, after, points })],
  };
}

const sortedMoves = (/** @type {[number, number][]} */ moves) =>
  moves.map(([from, to]) => /** @type {[number, number]} */ ([from, to])).sort((a, b) => b[0] - a[0] || b[1] - a[1]);

/** The board after these steps, in any order that can be played; whether they are a legal play, the match says. */
function afterMoves(/** @type {Match} */ now, /** @type {[number, number][]} */ moves) {
  if (now.decision !== "play" || !now.dice) throw new Refused("there are no dice to be played");
  const left = now.dice[0] === now.dice[1] ? [...now.dice, ...now.dice] : [...now.dice].sort((a, b) => a - b);
  let men = /** @type {import("./bgai/board.js").Board} */ (Int8Array.from(now.position));
  for (const [from, to] of moves) {
    // A man that bears off may use a larger die than he needs.
    const die = left.find((each) => each === from - to || (to === 0 && each > from - to));
    if (die === undefined || !mayMove(men, from, die)) throw new Refused(`${from}/${to} is not legal`);
    left.splice(left.indexOf(die), 1);
    men = moved(men, from, die);
  }
  return turned(men);
}

// What is shown

/** All that the page shows; boards are seen by the person. */
function view(/** @type {Table} */ table) {
  const { promise, actions, states } = table,
    now = nowOf(table),
    decider = deciderOf(now);
  const shown = {
    session: promise.session,
    game: promise.game,
    hash: promise.hash,
    start: states[0],
    actions,
    boards: states.map((state) => viewOf(state, PERSON)),
    match: now,
    decider,
    may: decider === BOT ? [] : actionsOf(now),
    pips: pipsOfMatch(now),
    off: offOf(viewOf(now, PERSON)),
    score: now.score,
    winner: winnerOf(now),
    points: pointsOf(now),
    match_winner: matchWinnerOf(now),
  };
  if (now.decision !== "play" || !now.dice) return shown;
  const plays = legalPlays(now.position, now.dice),
    canMove = plays[0].moves.length > 0;
  return {
    ...shown,
    can_move: canMove,
    ...(decider === PERSON && { steps: stepGraph(now.position, now.dice, plays) }),
  };
}

/**
 * Which man may be moved next: the steps [from, to, die, next] from each moment of a turn, the first moment at 0; a
 * moment without steps ends the turn. Every way through the graph is a legal play, and every legal play is a way.
 */
function stepGraph(
  /** @type {number[]} */ position,
  /** @type {[number, number]} */ [high, low],
  /** @type {import("./bgai/board.js").Play[]} */ plays,
) {
  const most = plays[0].moves.length,
    ends = new Set(plays.map(({ after }) => turned(after).join()));
  const graph = /** @type {number[][][]} */ ([]),
    places = new Map();
  function place(/** @type {Int8Array} */ men, /** @type {number[]} */ left, /** @type {number} */ used) {
    const key = `${men.join()};${left.join()}`;
    if (places.has(key)) return places.get(key);
    if (used === most && !ends.has(men.join())) {
      places.set(key, null);
      return null;
    }
    const mine = graph.push([]) - 1,
      steps = [];
    for (const die of used === most ? [] : [...new Set(left)].sort((a, b) => b - a)) {
      const rest = [...left];
      rest.splice(left.indexOf(die), 1);
      for (let point = BAR; point > 0; point--) {
        if (!mayMove(men, point, die)) continue;
        const following = place(moved(men, point, die), rest, used + 1);
        if (following !== null) steps.push([point, Math.max(point - die, 0), die, following]);
      }
    }
    graph[mine] = steps;
    places.set(key, steps.length || used === most ? mine : null);
    return places.get(key);
  }
  place(Int8Array.from(position), high === low ? [high, high, high, high] : [high, low], 0);
  return graph;
}

// What the bots say

/** What the bot does now; it sees the table and never the coming dice. */
function decided(/** @type {Bot} */ bot, /** @type {Match} */ now) {
  const stakes = stakesOf(now);
  switch (now.decision) {
    case "roll":
      return { kind: actionsOf(now).includes("double") && bot.doubles(now.position, stakes) ? "double" : "roll" };
    case "take":
      return { kind: bot.takes(now.position, stakes) ? "take" : "drop" };
    case "resign":
      return { kind: accepts(bot, now) ? "accept" : "decline" };
    default:
      return {
        kind: "play",
        moves: bot.choose(now.position, /** @type {[number, number]} */ (now.dice), stakes).moves,
      };
  }
}

/** Whether the bot lets the person lose no more than he offers: it wins the match so, or expects no more. */
function accepts(/** @type {Bot} */ bot, /** @type {Match} */ now) {
  if (now.resigned === 3 || (now.length && now.resigned * now.cube >= now.length - now.score[BOT])) return true;
  if (now.jacoby && now.cube_owner === null) return true; // nothing but a single game counts
  return now.resigned >= equityOf(turnedOutcomes(bot.evaluate(now.position))) - 0.05;
}

function hintOf(/** @type {Bot} */ bot, /** @type {Match} */ now) {
  if (deciderOf(now) !== PERSON || now.decision === "resign")
    throw new Refused("a hint is given when a play or a cube action of the person is due");
  if (now.decision !== "play") {
    const { no_double: a, double_take: b, double_pass: c, ...cube } = cubeDecision(bot, now);
    const chances = [...bot.evaluate(now.position)].map((chance, i) => [OUTCOMES[i], rounded(chance, 5)]);
    return {
      bot: bot.name,
      kind: "cube",
      asked: now.decision,
      cube: {
        ...cube,
        action: now.decision !== "take" ? cube.action : cube.take ? "take" : "pass",
        no_double: rounded(a, 5),
        double_take: rounded(b, 5),
        double_pass: rounded(c, 5),
        outcomes: Object.fromEntries(chances),
      },
    };
  }
  const plays = rankPlays(bot, now).slice(0, HINTS);
  return {
    bot: bot.name,
    kind: "plays",
    plays: plays.map(({ text, moves, value, outcomes }) => ({
      play: text,
      moves,
      equity: rounded(value, 4),
      win: rounded(winChance(outcomes), 4),
    })),
  };
}

/** Every error of the person, the largest first, and how both players did. */
async function reviewOf(
  /** @type {Bot} */ bot,
  /** @type {Table} */ { actions, states },
  /** @type {() => Promise<unknown>} */ breathe,
) {
  const choices =
    /** @type {(import("./bgai/analysis.js").Choice & {at: number, dice: [number, number] | null})[]} */ ([]);
  let beforeRoll = null;
  for (const [at, { kind }] of actions.entries()) {
    const now = states[at],
      found = [];
    if (kind === "begin") beforeRoll = null;
    if (kind === "roll") beforeRoll = now;
    if (kind === "double") found.push(cubeChoice(bot, now, true));
    if (kind === "take" || kind === "drop") found.push(answerChoice(bot, now, kind === "take"));
    if (kind === "play") {
      if (beforeRoll) found.push(cubeChoice(bot, beforeRoll, false));
      found.push(playChoice(bot, now, states[at + 1].position));
    }
    for (const choice of found)
      if (choice) choices.push({ ...choice, at, dice: choice.kind === "play" ? now.dice : null });
    await breathe();
  }
  const players = [PERSON, BOT].map((player) => {
    const { pr, error, decisions, luck } = summaryOf(choices, player);
    return { pr: rounded(pr, 2), error: rounded(error, 4), decisions, luck: rounded(luck, 4) };
  });
  const errors = choices
    .filter(({ player, loss }) => player === PERSON && loss >= LEAST_ERROR)
    .sort((a, b) => b.loss - a.loss);
  return {
    bot: bot.name,
    players,
    errors: errors.map(({ at, kind, dice, made, best, loss }) => ({
      at,
      kind,
      dice,
      made,
      best,
      loss: rounded(loss, 4),
      mark: markOf(loss),
    })),
  };
}
