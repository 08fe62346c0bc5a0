// One turn of the person, step by step through the graph of legal steps that the engine gave. Pure: knows no screen.

import { moved } from "./bgai/board.js";

export class Turn {
  /** men [26] seen by the person; graph[i] = [[from, to, die, next], ...]; dice [high, low]. */
  constructor(men, graph, dice) {
    this.graph = graph;
    this.dice = dice[0] === dice[1] ? [dice[0], dice[0], dice[0], dice[0]] : [...dice];
    this.moments = [{ men: Int8Array.from(men), node: 0 }];
    this.steps = [];
  }

  get now() {
    return this.moments[this.moments.length - 1];
  }

  get men() {
    return this.now.men;
  }

  get complete() {
    return this.graph[this.now.node].length === 0;
  }

  /** Places whose men can move. */
  get sources() {
    return [...new Set(this.graph[this.now.node].map(([from]) => from))];
  }

  /** Which of the dice are used: one flag for each. */
  get used() {
    const left = this.steps.map(([, , die]) => die);
    return this.dice.map((die) => {
      const at = left.indexOf(die);
      if (at < 0) return false;
      left.splice(at, 1);
      return true;
    });
  }

  /** Places that the man can reach with one step or several -> the steps; of several ways the one with fewest hits. */
  targets(from) {
    const found = new Map();
    let ways = [{ node: this.now.node, at: from, steps: [], men: this.men, hits: 0 }];
    while (ways.length) {
      const longer = [];
      for (const way of ways) {
        for (const step of this.graph[way.node]) {
          if (step[0] !== way.at) continue;
          const men = moved(way.men, step[0], step[2]);
          const hits = way.hits + (men[0] < way.men[0] ? 1 : 0);
          const next = { node: step[3], at: step[1], steps: [...way.steps, step], men, hits };
          const known = found.get(step[1]);
          if (!known || (known.steps.length === next.steps.length && hits < known.hits)) found.set(step[1], next);
          if (step[1] > 0) longer.push(next);
        }
      }
      ways = longer;
    }
    return new Map([...found].map(([to, way]) => [to, way.steps]));
  }

  /** The step of this man by the larger die that he can use. */
  byLargerDie(from) {
    return this.graph[this.now.node].filter((step) => step[0] === from).sort((a, b) => b[2] - a[2])[0];
  }

  step(step) {
    this.moments.push({ men: moved(this.men, step[0], step[2]), node: step[3] });
    this.steps.push(step);
  }

  undo() {
    if (this.steps.length) {
      this.steps.pop();
      this.moments.pop();
    }
  }
}
