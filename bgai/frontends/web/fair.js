// Checks promised dice: the hash of the seed's text, and every throw as a function of (seed, game 0, number).

import { throwOf } from "./bgai/dice.js";
import { hex, sha256 } from "./bgai/sha256.js";

/** Whether the seed that was told gives the promised hash and these throws. */
export async function check(told, promised, throws) {
  const right = throws.every((dice, index) => {
    const [a, b] = throwOf(BigInt(told.seed), index + 1);
    return (a === dice[0] && b === dice[1]) || (a === dice[1] && b === dice[0]);
  });
  if (!right || !told.text.includes(`:${told.seed}:`)) return false;
  return hex(await sha256(new TextEncoder().encode(told.text))) === promised;
}
