// The engine of the page in a folder of `bgai site`: the browser plays the bots, keeps the key of the dice, and
// fetches nothing but files.

import { Bot } from "./bgai/bot.js";
import { WeightsError, readBot } from "./bgai/file.js";
import { Offline, Refused } from "./errors.js";
import { engineOf } from "./table.js";

const KEY = "bgai.key";

/** A file of the folder. @param {string} path @param {RequestCache} [cache] */
async function file(path, cache) {
  try {
    const answer = await fetch(new URL(path, import.meta.url), { cache });
    if (answer.ok) return answer;
  } catch {
    // no network
  }
  throw new Offline();
}

/**
 * What a question gives, asked once unless it fails.
 * @template T
 * @param {Map<string, Promise<T>>} kept
 * @param {string} name
 * @param {() => Promise<T>} ask
 * @returns {Promise<T>}
 */
function once(kept, name, ask) {
  if (!kept.has(name)) {
    const asked = ask();
    kept.set(name, asked);
    asked.catch(() => kept.delete(name));
  }
  return /** @type {Promise<T>} */ (kept.get(name));
}

/** @type {Map<string, Promise<any>>} */
const lists = new Map();
/** Bots by the file of their weights, which levels share. @type {Map<string, Promise<Bot>>} */
const networks = new Map();

const bots = async () =>
  (await once(lists, "bots.json", async () => (await file("bots.json", "no-cache")).json())).bots;

async function botNamed(/** @type {string} */ name) {
  const told = (await bots()).find((/** @type {{name: string}} */ bot) => bot.name === name);
  if (!told) throw new Refused(`there is no bot "${name}" here`);
  try {
    const bot = await once(networks, told.weights, async () =>
      readBot(await (await file(told.weights)).arrayBuffer()),
    );
    return bot.as(name, told.habits);
  } catch (error) {
    throw error instanceof WeightsError ? new Refused(`${told.weights}: ${error.message}`) : error;
  }
}

/** The key that the dice of this browser follow from, kept so that a game goes on after the page was closed. */
function lastingKey() {
  const fresh = crypto.getRandomValues(new Uint8Array(32));
  try {
    const kept = localStorage.getItem(KEY);
    if (kept && /^[0-9a-f]{64}$/.test(kept))
      return Uint8Array.from(kept.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    localStorage.setItem(KEY, [...fresh].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  } catch {
    // a browser that keeps nothing; its games end with the page
  }
  return fresh;
}

export const engine = engineOf({
  key: lastingKey(),
  botNamed,
  bots,
  breathe: () => new Promise((done) => setTimeout(done)),
});
bots()
  .then(([bot]) => botNamed(bot.name))
  .catch(() => {}); // the weights are there when the first play is due
