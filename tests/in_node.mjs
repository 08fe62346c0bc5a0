// Answers the questions of tests/test_js.py, one JSON object on standard input: {task, ...}. Arrays come and go as base64.

import { readFileSync } from "node:fs";
import { legalPlays, encode, readBot } from "../bgai/frontends/web/bgai/bgai.js";
import { hex, hmac, sha256Here } from "../bgai/frontends/web/bgai/sha256.js";
import { engineOf } from "../bgai/frontends/web/table.js";

const asked = JSON.parse(readFileSync(0, "utf8"));
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const base64 = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
function rowsOf(text, width) {
  const numbers = new Int8Array(bytes(text).buffer);
  return Array.from({ length: numbers.length / width }, (_, i) => numbers.subarray(width * i, width * (i + 1)));
}
function joined(Kind, rows) {
  const all = new Kind(rows.reduce((sum, row) => sum + row.length, 0));
  let at = 0;
  for (const row of rows) {
    all.set(row, at);
    at += row.length;
  }
  return all;
}
const boards = () => rowsOf(asked.boards, 26);
const rolls = () => rowsOf(asked.dice, 2).map((dice) => [...dice]);
const bot = async () => readBot(readFileSync(asked.file));

const TASKS = {
  plays() {
    const dice = rolls(), plays = boards().map((board, i) => legalPlays(board, dice[i]));
    const texts = asked.texts ? plays.map((each) => each.map(({ text }) => text)) : null;
    return { rows: base64(joined(Int8Array, plays.flat().map(({ after }) => after))), counts: plays.map((each) => each.length), texts };
  },
  encode: () => ({ inputs: base64(joined(Float32Array, boards().map((board) => encode(board, asked.encoding)))) }),
  async outcomes() {
    const reader = await bot();
    return { outcomes: base64(joined(Float64Array, boards().map((board) => reader.evaluate(board)))) };
  },
  async cube() {
    const valuer = await bot(), all = boards();
    return all.map((board, i) => asked.stakes.map((stakes) => valuer.cube(board, stakes)));
  },
  async choose() {
    const chooser = await bot(), dice = rolls();
    return { chosen: base64(joined(Int8Array, boards().map((board, i) => chooser.choose(board, dice[i]).after))) };
  },
  async read() {
    const said = [];
    for (const file of asked.files) said.push(await readBot(readFileSync(file)).then(({ name }) => name, (error) => `${error.constructor.name}: ${error.message}`));
    return said;
  },
  refuse: () => asked.cases.map(([board, dice]) => {
    try {
      return legalPlays(board, dice).length;
    } catch (error) {
      return `${error.constructor.name}: ${error.message}`;
    }
  }),
  async hash() {
    const [key, ...texts] = asked.texts.map(bytes);
    return { here: texts.map((text) => hex(sha256Here(text))), hmac: await Promise.all(texts.map(async (text) => hex(await hmac(key, text)))) };
  },
  async engine() {
    const bots = new Map();
    const botNamed = async (name) => {
      const { file, habits } = asked.bots[name];
      if (!bots.has(file)) bots.set(file, await readBot(readFileSync(file)));
      return bots.get(file).as(name, habits);
    };
    const engine = engineOf({ key: bytes(asked.key), botNamed, bots: async () => [] }), answers = [];
    for (const [question, ...words] of asked.questions) {
      answers.push(await engine[question](...words).catch((error) => ({ error: error.constructor.name, message: error.message })));
    }
    return answers;
  },
};

process.stdout.write(JSON.stringify(await TASKS[asked.task]()));
