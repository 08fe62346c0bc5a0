// bgai in JavaScript, for browsers and Node, without dependencies: legal plays, bots, the cube, the rules of a match.
//
//   import { readBot, startBoard } from "./bgai.js";
//   const bot = await readBot(bytes); // of a file that `bgai export strong --to js` has written
//   bot.choose(startBoard(), [3, 1]).text; // "8/5 6/5"
//
// A board is an Int8Array of 26, always seen by the player to roll: place 0 is the opponent's bar, 1 to 24 the points
// counted from the roller's home, 25 his bar; his men are positive, the opponent's negative.

export { Bot, equityOf, winChance } from "./bot.js";
export { EncodingError, encode, encodingNames } from "./encoding.js";
export { WeightsError, readBot } from "./file.js";
export { legalPlays, offOf, pipsOf, playText, positionFault, resultOf, startBoard, turned } from "./board.js";
export { OUTCOMES, setCertain } from "./outcome.js";
