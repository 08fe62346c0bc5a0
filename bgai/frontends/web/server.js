// The engine of the page behind `bgai serve`: every question goes to the server. See engine.js for what is asked.

import { Offline, OtherKey, Refused } from "./errors.js";

/**
 * The server's answer; posts `content` where there is any.
 * @param {string} path
 * @param {object} [content]
 * @returns {Promise<any>}
 */
async function ask(path, content) {
  let answer;
  try {
    answer = await fetch(
      `/api/v1/${path}`,
      content === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content) },
    );
  } catch {
    throw new Offline();
  }
  if (answer.status >= 500) throw new Offline();
  const told = await answer.json();
  if (answer.ok) return told;
  throw /another server/.test(told.message) ? new OtherKey(told.message) : new Refused(told.message);
}

/** @type {import("./engine.js").Engine} */
export const engine = {
  bots: async () => (await ask("bots")).bots,
  newGame: (settings) => ask("game/new", settings),
  act: (game, action) => ask("game/act", action ? { ...game, action } : game),
  botActs: (game, bot) => ask("game/bot", { ...game, bot }),
  hint: (game, bot) => ask("game/hint", { ...game, bot }),
  review: (game, bot) => ask("game/review", { ...game, bot }),
  nextGame: (game) => ask("game/next", game),
  reveal: (game) => ask("game/reveal", game),
};
