// What the page asks of what plays: the server of `bgai serve`, or the browser itself in a folder of `bgai site`.
// Both answer alike (bgai/frontends/http/table.py says what); index.html names the one, and no other module knows it.

import { engine as server } from "./server.js";

/**
 * What the browser keeps of a game; everything else follows from it.
 * @typedef {{session: string, game: number, hash: string, start: object, actions: object[]}} Kept
 */
/** A level and what its card says. @typedef {{name: string, games: number, strength: object}} Card */
/**
 * All questions may fail with Offline, OtherKey or Refused (errors.js).
 * @typedef {object} Engine
 * @property {() => Promise<Card[]>} bots
 * @property {(settings: {length: number, cube: boolean, jacoby: boolean}) => Promise<object>} newGame
 *   the table before the opening throw, its dice promised
 * @property {(game: Kept, action?: object) => Promise<object>} act
 *   the table after an action of the person, or as it is
 * @property {(game: Kept, bot: string) => Promise<object>} botActs the table after the bot did what is due
 * @property {(game: Kept, bot: string) => Promise<object>} hint what this bot would do in the person's place
 * @property {(game: Kept, bot: string) => Promise<object>} review the person's errors by this bot's measure
 * @property {(game: Kept) => Promise<object>} nextGame the game of a match after a finished one
 * @property {(game: Kept) => Promise<{seed: string, salt: string, text: string, hash: string}>} reveal
 *   what the dice of a finished game came from
 */

const named = document.querySelector('meta[name="bgai-engine"]')?.getAttribute("content");

/** @type {Engine} */
export const engine = named === "local" ? (await import("./local.js")).engine : server;
