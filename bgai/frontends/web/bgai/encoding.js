// Boards to network inputs, by name; the numbers of bgai/evaluation/encoding.py and tactics.py. Knows no networks.

import { BAR, MEN } from "./board.js";

/** No encoding has this name. */
export class EncodingError extends RangeError {}

/** @type {Record<string, {steps: number, extras: number}>} */
const ENCODINGS = {
  men196: { steps: 3, extras: 0 },
  men292: { steps: 5, extras: 0 },
  "men196+tactics": { steps: 3, extras: 49 },
  "men196+tactics195": { steps: 3, extras: 195 },
};

/** Names that `encode` knows. */
export const encodingNames = () => Object.keys(ENCODINGS);

/**
 * Inputs of a network's first layer, and numbers behind them.
 * @param {string} name
 * @returns {{width: number, extras: number}}
 */
export function widthsOf(name) {
  const { steps, extras } = encodingNamed(name);
  return { width: 2 * (24 * (steps + 1) + 2), extras };
}

function encodingNamed(/** @type {string} */ name) {
  if (!Object.hasOwn(ENCODINGS, name))
    throw new EncodingError(`there is no encoding "${name}"; known: ${encodingNames().join(", ")}`);
  return ENCODINGS[name];
}

/**
 * Network inputs of a board seen by the player to roll: width + extras numbers.
 * @param {ArrayLike<number>} board @param {string} name @returns {Float32Array}
 * @throws {EncodingError}
 */
export function encode(board, name) {
  const { steps } = encodingNamed(name),
    { width, extras } = widthsOf(name);
  const out = new Float32Array(width + extras),
    perSide = width / 2;
  for (let side = 0; side < 2; side++) {
    // Each side's points are counted from its own home.
    const count = (/** @type {number} */ point) => Math.max(side === 0 ? board[point] : -board[BAR - point], 0);
    const at = side * perSide;
    let off = MEN;
    for (let point = 1; point <= BAR; point++) {
      const men = count(point),
        column = at + (steps + 1) * (point - 1);
      off -= men;
      if (point === BAR) out[at + perSide - 2] = men / 2;
      else if (men > 0) {
        out.fill(1, column, column + Math.min(men, steps));
        out[column + steps] = Math.max(men - steps, 0) / 2;
      }
    }
    out[at + perSide - 1] = off / MEN;
  }
  if (extras) countTactics(board, out, width, extras > TACTICS);
  return out;
}

// Tactics: shots, entering, escapes and primes, of each player as if he were to roll. Sets of points are bit masks,
// bit p for the player's own point p, bit 25 for his bar.

const BOARD = (1 << 25) - 2; // points 1 to 24
const HOME_AND_BAR_POINT = (1 << 8) - 2;
const ANCHORS = BOARD & ~((1 << 18) - 1); // points 18 to 24
const AHEAD = 12;
const PER_SIDE = 22,
  TACTICS = 2 * PER_SIDE + 5,
  HITS = 0, // of the numbers of points: where those begin that hit there, escape from there, make the point
  ESCAPES = 24,
  MADE = 49,
  POINTS = 73,
  LOUDNESS = 4;

const highestBit = (/** @type {number} */ mask) => 31 - Math.clz32(mask);
function bits(/** @type {number} */ mask) {
  let count = 0;
  for (; mask; mask &= mask - 1) count += 1;
  return count;
}

/** For each pattern of blocked points 1 to 12 ahead of a man, of the 36 rolls how many bring him more than 6 points
 * ahead, and how many let him move at all. Made when first needed. */
function rollsByBlock() {
  const leaps = new Uint8Array(1 << AHEAD),
    moves = new Uint8Array(1 << AHEAD);
  for (let pattern = 0; pattern < 1 << AHEAD; pattern++) {
    for (let die1 = 1; die1 <= 6; die1++) {
      for (let die2 = 1; die2 <= 6; die2++) {
        const orders =
          die1 === die2
            ? [[die1, die1, die1, die1]]
            : [
                [die1, die2],
                [die2, die1],
              ];
        let farthest = 0;
        for (const order of orders) {
          let at = 0;
          for (const die of order) {
            if (at + die > AHEAD || (pattern >> (at + die - 1)) & 1) break;
            at += die;
          }
          farthest = Math.max(farthest, at);
        }
        leaps[pattern] += farthest > 6 ? 1 : 0;
        moves[pattern] += farthest > 0 ? 1 : 0;
      }
    }
  }
  return { leaps, moves };
}
/** @type {{leaps: Uint8Array, moves: Uint8Array} | undefined} */
let blocks;

/**
 * What one player has, in masks along his own path.
 * @typedef {{men: number[], own: number, twos: number, singles: number, seen: Seen}} Side
 */
/**
 * His points of two or more and his blots, as the other player counts the points.
 * @typedef {{twos: number, singles: number}} Seen
 */

function sideOf(/** @type {(place: number) => number} */ count) {
  /** @type {Side} */
  const side = { men: [], own: 0, twos: 0, singles: 0, seen: { twos: 0, singles: 0 } };
  for (let place = 0; place <= BAR; place++) {
    const men = Math.max(count(place), 0);
    side.men.push(men);
    if (!men) continue;
    side.own |= 1 << place;
    const which = men > 1 ? "twos" : "singles";
    side[which] |= (1 << place) & BOARD;
    side.seen[which] |= (1 << (BAR - place)) & BOARD;
  }
  return side;
}

function countTactics(
  /** @type {ArrayLike<number>} */ board,
  /** @type {Float32Array} */ out,
  /** @type {number} */ at,
  /** @type {boolean} */ byPoint,
) {
  const mine = sideOf((place) => (place === 0 ? 0 : board[place])),
    theirs = sideOf((place) => (place === 0 ? 0 : -board[BAR - place]));
  const myRear = mine.own ? highestBit(mine.own) : 0,
    theirRear = theirs.own ? highestBit(theirs.own) : 0;
  const points = byPoint ? out.subarray(at + TACTICS) : new Float32Array(2 * POINTS);
  countSide(mine, theirs, BAR - theirRear, out, at, points);
  countSide(theirs, mine, BAR - myRear, out, at + PER_SIDE, points.subarray(POINTS));
  const contact = myRear + theirRear > BAR;
  // Kleinman's number for a race without wastage (lead + 4 over the root of the sum of both counts - 4), squashed.
  const myPips = 167 * out[at + 15],
    theirPips = 167 * out[at + PER_SIDE + 15];
  const deviations = (theirPips - myPips + 4) / Math.sqrt(Math.max(myPips + theirPips - 4, 1));
  const lead = out[at + PER_SIDE + 15] - out[at + 15];
  out.set(
    [
      contact ? 1 : 0,
      contact ? 0 : 1,
      Math.max(lead, 0),
      Math.max(-lead, 0),
      (1 + deviations / Math.sqrt(1 + deviations * deviations)) / 2,
    ],
    at + 2 * PER_SIDE,
  );
  if (byPoint) for (let k = at; k < out.length; k++) out[k] *= LOUDNESS;
}

/** The numbers of one player, and of his points; `theirRear` is where the opponent's rearmost man stands, seen from
 * here. */
function countSide(
  /** @type {Side} */ side,
  /** @type {Side} */ other,
  /** @type {number} */ theirRear,
  /** @type {Float32Array} */ out,
  /** @type {number} */ at,
  /** @type {Float32Array} */ points,
) {
  const { leaps, moves } = (blocks ??= rollsByBlock());
  const { men, own, twos } = side;
  const ahead = (/** @type {number} */ point) => (other.twos >> (26 - point)) & ((1 << AHEAD) - 1);
  countRolls(side, other.seen, out, at, points);
  const rear = own ? highestBit(own) : 0;
  const rest = own & ~(1 << rear),
    second = rest ? highestBit(rest) : 0;
  let mobility = 0,
    spare = 0,
    pips = 0,
    contact = 0;
  for (let point = 1; point <= BAR; point++) {
    pips += point * men[point];
    if (6 < point && point < 19) spare += (point - 6) * men[point];
    else if (point < 7 && men[point] > 2) spare += (point - 1) * (men[point] - 2);
    if (point > 6) mobility += men[point] * leaps[ahead(point)];
    if (point > theirRear) contact += men[point];
    if (men[point] > 0) points[ESCAPES + point - 1] = leaps[ahead(point)] / 36;
  }
  let worst = 36,
    worstAhead = 36,
    entering = 0;
  for (let point = 13; point < BAR; point++) {
    const leap = leaps[ahead(point)];
    worst = Math.min(worst, leap);
    if (point <= rear) worstAhead = Math.min(worstAhead, leap);
    if (point > 18 && !((other.seen.twos >> point) & 1)) entering += leap;
  }
  let longest = 0;
  for (let runs = twos; runs; runs &= runs >> 1) longest += 1;
  const closed = bits((other.seen.twos >> 19) & 63);
  out.set(
    [
      rear / 25,
      leaps[ahead(rear)] / 36,
      moves[ahead(rear)] / 36,
      leaps[ahead(second)] / 36,
      mobility / (36 * 15),
      worst / 36,
      entering / (36 * 6),
      longest / 6,
      bits((twos >> (theirRear + 1)) & 63) / 6,
      contact / 15,
      pips / 167,
      closed / 6,
      men[BAR] > 0 ? (closed * closed) / 36 : 0,
    ],
    at + 5,
  );
  out.set([worstAhead / 36, spare / 60], at + 20);
}

/** Over the 36 rolls: how many hit, hit two, make a point, ... Reach is counted man by man. */
function countRolls(
  /** @type {Side} */ side,
  /** @type {Seen} */ seen,
  /** @type {Float32Array} */ out,
  /** @type {number} */ at,
  /** @type {Float32Array} */ points,
) {
  const { own, twos, singles } = side,
    bar = side.men[BAR];
  const board = own & BOARD,
    open = BOARD & ~seen.twos,
    blots = seen.singles;
  let hits = 0,
    doubleHits = 0,
    pips = 0,
    homePoints = 0,
    onBlots = 0,
    anchors = 0,
    idle = 0;
  for (let die1 = 1; die1 <= 6; die1++) {
    for (let die2 = 1; die2 <= die1; die2++) {
      const weight = die1 === die2 ? 1 : 2;
      const { reach, made } = reached(board, twos, bar, open, die1, die2);
      const hit = reach & blots;
      if (hit) {
        hits += weight;
        pips += weight * highestBit(hit);
        if (bits(hit) > 1) doubleHits += weight;
      }
      const fresh = (made | (singles & reach)) & ~twos & BOARD;
      addAtPoints(hit, weight, points, HITS);
      addAtPoints(fresh, weight, points, MADE);
      if (fresh & HOME_AND_BAR_POINT) {
        homePoints += weight;
        if (made & blots & HOME_AND_BAR_POINT) onBlots += weight;
      }
      if (fresh & ANCHORS) anchors += weight;
      if (!hit && !(fresh & (HOME_AND_BAR_POINT | ANCHORS))) idle += weight;
    }
  }
  out.set([hits / 36, doubleHits / 36, pips / (36 * 24), homePoints / 36, onBlots / 36], at);
  out.set([anchors / 36, idle / 36], at + 18);
}

/** Adds a roll of this weight to the number of each of these points. */
function addAtPoints(
  /** @type {number} */ which,
  /** @type {number} */ weight,
  /** @type {Float32Array} */ points,
  /** @type {number} */ at,
) {
  for (; which; which &= which - 1) points[at + highestBit(which & -which) - 1] += weight / 36;
}

/** Points that a man can reach with this roll, and those that two men can make together; die1 >= die2. */
function reached(
  /** @type {number} */ board,
  /** @type {number} */ twos,
  /** @type {number} */ bar,
  /** @type {number} */ open,
  /** @type {number} */ die1,
  /** @type {number} */ die2,
) {
  const enter1 = (1 << (BAR - die1)) & open,
    enter2 = (1 << (BAR - die2)) & open;
  const moved1 = (board >> die1) & open,
    moved2 = (board >> die2) & open;
  let reach = 0,
    made = 0;
  if (die1 === die2) {
    let moving = board,
      left = 4;
    if (bar > 0) {
      if (!enter1) return { reach, made };
      left -= Math.min(bar, 4);
      reach = enter1;
      moving |= enter1;
    } else {
      const pair = (twos >> die1) & open;
      made = pair | ((pair >> die1) & open);
    }
    for (; left > 0; left--) {
      moving = (moving >> die1) & open;
      reach |= moving;
    }
  } else if (bar === 0) {
    reach = moved1 | moved2 | ((moved1 >> die2) & open) | ((moved2 >> die1) & open);
    made = moved1 & moved2;
  } else if (bar === 1) {
    if (enter1) {
      reach |= enter1 | moved2 | ((enter1 >> die2) & open);
      made |= enter1 & moved2;
    }
    if (enter2) {
      reach |= enter2 | moved1 | ((enter2 >> die1) & open);
      made |= enter2 & moved1;
    }
  } else {
    reach = enter1 | enter2;
  }
  return { reach, made };
}
