// Checks promised dice: the hash of the seed's text, and every throw as a function of (seed, game 0, number).

const MASK = (1n << 64n) - 1n, STEP = 0x9e3779b97f4a7c15n;

function mix(x) {
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return x ^ (x >> 31n);
}

/** Throw 1, 2, 3, ... of a seed (text or BigInt): two dice. */
export function throwOf(seed, number) {
  let bits = mix((BigInt(seed) + STEP) & MASK);
  bits = mix((bits + STEP) & MASK);
  bits = mix((bits + STEP * BigInt(number + 1)) & MASK);
  const die = (part) => Number((part * 6n) >> 32n) + 1;
  return [die(bits >> 32n), die(bits & 0xffffffffn)];
}

/** "ok", "bad", or "nohash" where the browser does not hash (a page that is neither local nor https). */
export async function check(told, promised, throws) {
  const right = throws.every((dice, index) => {
    const [a, b] = throwOf(told.seed, index + 1);
    return (a === dice[0] && b === dice[1]) || (a === dice[1] && b === dice[0]);
  });
  if (!right || !told.text.includes(`:${told.seed}:`)) return "bad";
  if (!globalThis.crypto?.subtle) return "nohash";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(told.text));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === promised ? "ok" : "bad";
}
