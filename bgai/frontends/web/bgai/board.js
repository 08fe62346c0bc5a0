// The board and the legal plays of a roll, straight from the rulebook: die after die, and of plays that lead to the
// same men the first is kept. Knows nothing of value.

/**
 * 26 places seen by the player to roll: 0 the opponent's bar, 1 to 24 the points from the roller's home, 25 his bar.
 * His men are positive and move from 24 to 1, the opponent's are negative.
 * @typedef {Int8Array} Board
 */
/**
 * One man moved by one die, seen by the mover: [from, to]; 25 is his bar, 0 is off the board.
 * @typedef {[number, number]} Move
 */
/**
 * A legal play: its moves in an order that can be played (none when there is no play), the board after it seen by the
 * opponent, who rolls next, and its standard notation.
 * @typedef {{moves: Move[], after: Board, text: string}} Play
 */

export const BAR = 25,
  HOME = 6,
  MEN = 15;
const START = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0];

/** The opening position; it looks the same to both players. @returns {Board} */
export const startBoard = () => Int8Array.from(START);

/** The same men seen by the other player. @param {ArrayLike<number>} board @returns {Board} */
export function turned(board) {
  const other = new Int8Array(26);
  for (let place = 0; place <= BAR; place++) other[place] = -board[BAR - place];
  return other;
}

/** Men off of the player to roll and of the opponent. @param {ArrayLike<number>} board @returns {[number, number]} */
export function offOf(board) {
  let mine = MEN,
    theirs = MEN;
  for (let place = 0; place <= BAR; place++) {
    if (board[place] > 0) mine -= board[place];
    else theirs += board[place];
  }
  return [mine, theirs];
}

/**
 * Pip counts of the player to roll and of the opponent.
 * @param {ArrayLike<number>} board
 * @returns {[number, number]}
 */
export function pipsOf(board) {
  let mine = 0,
    theirs = 0;
  for (let place = 0; place <= BAR; place++) {
    if (board[place] > 0) mine += place * board[place];
    else theirs += (BAR - place) * -board[place];
  }
  return [mine, theirs];
}

/** Points that the player to roll has lost by this board: 0 while the opponent has men, else 1, 2 or 3. */
export function pointsLost(/** @type {ArrayLike<number>} */ board) {
  const [mine, theirs] = offOf(board);
  if (theirs < MEN) return 0;
  if (mine > 0) return 1;
  for (let place = BAR - HOME; place <= BAR; place++) if (board[place] > 0) return 3;
  return 2;
}

/** Points of a finished game for the player to roll: 1 to 3 won, -1 to -3 lost, 0 while it goes on. */
export function resultOf(/** @type {ArrayLike<number>} */ board) {
  const lost = pointsLost(board);
  return lost ? -lost : pointsLost(turned(board));
}

/** Why these numbers are no position, in one sentence; null when they are one. @param {ArrayLike<number>} board */
export function positionFault(board) {
  if (board?.length !== 26) return "a position has 26 numbers, both bars and 24 points";
  let mine = 0,
    theirs = 0,
    myPoints = 0,
    theirPoints = 0;
  for (let place = 0; place <= BAR; place++) {
    if (!Number.isInteger(board[place])) return `place ${place} holds ${board[place]}, which is no whole number`;
    mine += Math.max(board[place], 0);
    theirs += Math.max(-board[place], 0);
    if (place >= 1 && place <= HOME && board[place] >= 2) myPoints += 1;
    if (place >= BAR - HOME && place < BAR && board[place] <= -2) theirPoints += 1;
  }
  if (mine > MEN || theirs > MEN) return `there are ${MEN} men a side, not ${Math.max(mine, theirs)}`;
  if (board[0] > 0) return "place 0 is the opponent's bar and must not be positive";
  if (board[BAR] < 0) return `place ${BAR} is the roller's bar and must not be negative`;
  if (board[BAR] > 0 && board[0] < 0 && myPoints === HOME && theirPoints === HOME) {
    return "both players are on the bar against closed boards; neither could ever move";
  }
  return null;
}

/** Whether the mover may move a man from `point` by `die`; looks at this one step, not at the whole roll. */
export function mayMove(
  /** @type {ArrayLike<number>} */ board,
  /** @type {number} */ point,
  /** @type {number} */ die,
) {
  if (board[point] <= 0 || (board[BAR] > 0 && point !== BAR)) return false;
  if (point > die) return board[point - die] >= -1;
  for (let behind = BAR; behind > HOME; behind--) if (board[behind] > 0) return false;
  if (point === die) return true;
  for (let behind = HOME; behind > point; behind--) if (board[behind] > 0) return false;
  return true;
}

/** The board after such a step, still seen by the mover. @param {Board} board @returns {Board} */
export function moved(board, /** @type {number} */ point, /** @type {number} */ die) {
  const after = Int8Array.from(board),
    to = point - die;
  after[point] -= 1;
  if (to > 0) {
    if (after[to] === -1) {
      after[to] = 0;
      after[0] -= 1;
    }
    after[to] += 1;
  }
  return after;
}

/**
 * Every legal play of the roll, one for each distinct board it can lead to; one without moves when there is none.
 * @param {ArrayLike<number>} board 26 numbers seen by the mover
 * @param {[number, number]} dice
 * @returns {Play[]}
 * @throws {RangeError} for what is no position or no roll, and when the mover has borne off all his men
 */
export function legalPlays(board, dice) {
  const fault = positionFault(board);
  if (fault) throw new RangeError(fault);
  if (dice?.length !== 2 || !dice.every((die) => Number.isInteger(die) && die >= 1 && die <= 6)) {
    throw new RangeError("a roll is two whole numbers from 1 to 6");
  }
  if (offOf(board)[0] === MEN) throw new RangeError("the game is over: the player to roll has borne off all his men");
  const before = Int8Array.from(board);
  return trustedPlays(before, dice).map(({ moves, men }) => {
    const sorted = moves.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    return { moves: sorted, after: turned(men), text: playText(before, sorted) };
  });
}

/**
 * As `legalPlays`, unchecked and unsorted, with the men seen by the mover.
 * @param {Board} board
 * @param {number[]} dice
 */
function trustedPlays(board, dice) {
  const high = Math.max(...dice),
    low = Math.min(...dice);
  const orders =
    high === low
      ? [[high, high, high, high]]
      : [
          [high, low],
          [low, high],
        ];
  const played = orders.map((order) => inOrder(board, order));
  // As many dice as possible must be used; if only one of two can be, the larger, whose order comes first.
  const most = Math.max(...played.map(({ used }) => used));
  const complete = played.filter(({ used }) => used === most);
  const ways = complete[0].ways;
  if (most > 1) {
    for (const { ways: others } of complete.slice(1)) {
      for (const [key, way] of others) if (!ways.has(key)) ways.set(key, way);
    }
  }
  return [...ways.values()];
}

/** How many of the dice can be played in this order, and a way to every board once so many are. */
function inOrder(/** @type {Board} */ board, /** @type {number[]} */ order) {
  let ways = new Map([["", { men: board, moves: /** @type {Move[]} */ ([]) }]]);
  let used = 0;
  for (const die of order) {
    const following = new Map();
    for (const { men, moves } of ways.values()) {
      for (let point = BAR; point > 0; point--) {
        if (!mayMove(men, point, die)) continue;
        const after = moved(men, point, die),
          key = String.fromCharCode.apply(null, /** @type {any} */ (after));
        if (!following.has(key))
          following.set(key, { men: after, moves: [...moves, [point, Math.max(point - die, 0)]] });
      }
    }
    if (!following.size) break;
    ways = following;
    used += 1;
  }
  return { used, ways };
}

/**
 * Points on which these moves (the rearmost men's first) hit a blot.
 * @param {ArrayLike<number>} board
 * @param {Move[]} moves
 */
export const hitsOf = (board, moves) =>
  [...new Set(moves.map(([, to]) => to))].filter((to) => to > 0 && board[to] === -1);

/**
 * Standard notation of moves from this board, the rearmost men's first.
 * @param {ArrayLike<number>} board
 * @param {Move[]} moves
 */
export function playText(board, moves) {
  const hits = hitsOf(board, moves),
    left = moves.map((move) => [...move]);
  const ways = [];
  while (left.length) {
    const way = /** @type {number[]} */ (left.shift());
    for (const move of [...left]) {
      if (move[0] !== way[way.length - 1]) continue;
      way.push(move[1]);
      left.splice(left.indexOf(move), 1);
    }
    ways.push([way[0], ...way.slice(1, -1).filter((point) => hits.includes(point)), way[way.length - 1]]);
  }
  const marked = new Map(),
    counts = new Map();
  for (const way of ways) {
    const names = way.map((point, index) => {
      if (index === 0) return point === BAR ? "bar" : String(point);
      if (point === 0) return "off";
      if (!hits.includes(point)) return String(point);
      // Men that took the same way share one mark, as in 8/5*(2); on other ways only the first man hits.
      if (!marked.has(point)) marked.set(point, way.join());
      return marked.get(point) === way.join() ? `${point}*` : String(point);
    });
    counts.set(names.join("/"), (counts.get(names.join("/")) ?? 0) + 1);
  }
  return [...counts].map(([part, count]) => (count > 1 ? `${part}(${count})` : part)).join(" ") || "no play";
}
