// Bot files for JavaScript, as `bgai export BOT --to js` writes them: read, checked and made into a Bot.
//
//   bytes 0-7    "bgai-js" and a line feed
//   bytes 8-11   version of the format, 12-15 length of the header: unsigned, little-endian
//   bytes 16-47  SHA-256 of all that follows
//   the header   JSON in UTF-8, spaces behind it up to a multiple of four bytes
//   the weights  float32, little-endian: of each layer [out, in] row by row, then its bias

import { startBoard } from "./board.js";
import { Bot } from "./bot.js";
import { Network } from "./network.js";
import { hex, sha256 } from "./sha256.js";

const MAGIC = "bgai-js\n",
  VERSION = 1,
  PREFIX = 48;

/** A file that is no whole bot for JavaScript; the message says what is wrong with it. */
export class WeightsError extends Error {}

/**
 * The bot of such a file.
 * @param {ArrayBuffer | Uint8Array} given @returns {Promise<Bot>}
 * @throws {WeightsError} with one sentence
 */
export async function readBot(given) {
  const bytes = new Uint8Array(given); // a copy, also of Node's Buffer, whose slices would be none
  if (new TextDecoder("latin1").decode(bytes.subarray(0, 8)) !== MAGIC || bytes.length < PREFIX) {
    throw new WeightsError('this is no bot file for JavaScript: it does not begin with "bgai-js"');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const version = view.getUint32(8, true),
    length = view.getUint32(12, true);
  if (version !== VERSION)
    throw new WeightsError(`the file has version ${version} of its format; this module reads ${VERSION}`);
  const digest = await sha256(bytes.slice(PREFIX));
  if (hex(digest) !== hex(bytes.subarray(16, PREFIX))) {
    throw new WeightsError(
      "the file is damaged or not whole: its checksum is not that of its content; take a fresh copy",
    );
  }
  try {
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(PREFIX, PREFIX + length)));
    return botOf(header, bytes.slice(PREFIX + length));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new WeightsError("the file is damaged: its header is no JSON; take a fresh copy");
    if (error instanceof RangeError) throw new WeightsError(error.message);
    throw error;
  }
}

/**
 * @typedef {{name: string, encoding: string, shapes: [number, number][], habits: Record<string, string | number> |
 * null, efficiency: Record<string, number>, match_equity: {pre: number[][], post: number[]}, opening: number[]}}
 * Header
 */

function botOf(/** @type {Header} */ header, /** @type {Uint8Array} */ raw) {
  const numbers = header.shapes.reduce((sum, [outputs, inputs]) => sum + outputs * (inputs + 1), 0);
  if (raw.length !== 4 * numbers)
    throw new RangeError(`the file should hold ${numbers} weights, not ${raw.length / 4}`);
  const weights = floats(raw);
  let at = 0;
  const take = (/** @type {number} */ count) => weights.subarray(at, (at += count));
  const layers = header.shapes.map(([outputs, inputs]) => ({ weights: take(outputs * inputs), bias: take(outputs) }));
  const { name, habits, efficiency, match_equity: matchEquity } = header;
  const bot = new Bot(new Network(header.encoding, layers), { name, habits, cube: { efficiency, matchEquity } });
  // The file says what the opening is worth; a module that finds otherwise would play another game.
  const found = bot.network.outcomes(startBoard());
  if (header.opening.some((chance, k) => !(Math.abs(chance - found[k]) < 1e-4))) {
    throw new RangeError("the file was made for another bgai: it values the opening otherwise than this module");
  }
  return bot;
}

/** Little-endian float32 numbers of bytes that begin at 0 of their buffer. */
function floats(/** @type {Uint8Array} */ raw) {
  const little = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
  if (little) return new Float32Array(raw.buffer);
  const view = new DataView(raw.buffer);
  return Float32Array.from({ length: raw.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
