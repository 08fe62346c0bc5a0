// Random bits and dice as pure functions of (seed, game, ply), those of bgai/rules/dice.py: SplitMix64 as a hash.

const MASK = (1n << 64n) - 1n,
  STEP = 0x9e3779b97f4a7c15n;

function mix(/** @type {bigint} */ x) {
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return x ^ (x >> 31n);
}

/**
 * 64 random bits that belong to this seed, game and ply.
 * @param {bigint} seed
 * @param {number} game
 * @param {number} ply
 */
export function randomBits(seed, game, ply) {
  let bits = mix((seed + STEP) & MASK);
  bits = mix((bits + STEP * BigInt(game + 1)) & MASK);
  return mix((bits + STEP * BigInt(ply + 1)) & MASK);
}

/**
 * The two dice of throw 1, 2, 3, ... of a seed.
 * @param {bigint} seed
 * @param {number} number
 * @returns {[number, number]}
 */
export function throwOf(seed, number) {
  const bits = randomBits(seed, 0, number);
  const die = (/** @type {bigint} */ part) => Number((part * 6n) >> 32n) + 1;
  return [die(bits >> 32n), die(bits & 0xffffffffn)];
}

/** The 21 different rolls, the higher die first, and their chances. */
export const ROLLS = /** @type {[number, number][]} */ (
  [1, 2, 3, 4, 5, 6].flatMap((a) => [1, 2, 3, 4, 5, 6].slice(0, a).map((b) => [a, b]))
);
export const ROLL_CHANCES = ROLLS.map(([a, b]) => (a === b ? 1 : 2) / 36);
