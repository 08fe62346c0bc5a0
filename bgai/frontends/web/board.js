// The board as SVG: draws men, dice and cube, moves men, and tells which place was clicked, dragged to or chosen by
// key. Places are 1 to 24 seen by the person, 25 his bar, 0 his tray. Knows no rules.

const NS = "http://www.w3.org/2000/svg";
const P = 50, R = 23, EDGE = 26, FRAME = 12, BAR = 54, TRAY = 54, GAP = 10, FIELD = 548, FIVE = 5 * 2 * R;
const LEFT = FRAME, TOP = EDGE, BOTTOM = TOP + FIELD, MIDDLE = (TOP + BOTTOM) / 2;
const RIGHT = LEFT + 12 * P + BAR, TRAY_LEFT = RIGHT + GAP;
export const WIDTH = TRAY_LEFT + TRAY + FRAME, HEIGHT = BOTTOM + EDGE;
const SPOTS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };
const DRAG = 6; // pixels that make a press a drag

function make(name, attributes = {}, parent = null) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
}

/** The middle of a point's column. */
function columnX(point) {
  const column = point <= 12 ? 12 - point : point - 13;
  return LEFT + (column + 0.5) * P + (column >= 6 ? BAR : 0);
}

/** The middle of man `index` of `count` on a place; side 0 is the person. */
function manAt(side, place, index, count) {
  const step = count <= 5 ? 2 * R : (FIVE - 2 * R) / (count - 1);
  if (place === "bar") {
    const y = MIDDLE + (side === 0 ? 1 : -1) * (40 + R + index * Math.min(2 * R, count > 4 ? 150 / count : 2 * R));
    return { x: LEFT + 6 * P + BAR / 2, y };
  }
  if (place === "off") {
    const y = side === 0 ? BOTTOM - 9 - index * 15 : TOP + 9 + index * 15;
    return { x: TRAY_LEFT + TRAY / 2, y };
  }
  const y = place <= 12 ? BOTTOM - R - 1 - index * step : TOP + R + 1 + index * step;
  return { x: columnX(place), y };
}

export class Board {
  /** `on`: {choose(place), drag(from, to), mayDrag(place), escape(), dice()}; `name(place)` for screen readers. */
  constructor(svg, on, name) {
    Object.assign(this, { svg, on, name, men: new Array(26).fill(0), off: [15, 15], sources: new Set(), targets: new Set(), selected: null, drag: null });
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.back = make("g", {}, svg);
    this.marks = make("g", { class: "marks" }, svg);
    this.menLayer = make("g", { class: "men" }, svg);
    this.cubeLayer = make("g", { class: "cube" }, svg);
    this.placesLayer = make("g", { class: "places" }, svg);
    this.diceLayer = make("g", { class: "dice", tabindex: "0", role: "button" }, svg);
    this.flying = make("g", { class: "men flying" }, svg);
    this.#drawBack();
    this.#makePlaces();
    svg.addEventListener("pointerdown", (event) => this.#press(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#release(event));
    svg.addEventListener("pointercancel", () => this.#dropDrag());
    this.diceLayer.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.on.dice();
      }
    });
    this.diceLayer.addEventListener("click", (event) => {
      if (event.detail === 0) this.on.dice();
    });
  }

  #drawBack() {
    make("rect", { class: "frame", x: 0, y: 0, width: WIDTH, height: HEIGHT, rx: 14 }, this.back);
    for (const x of [LEFT, LEFT + 6 * P + BAR]) make("rect", { class: "field", x, y: TOP, width: 6 * P, height: FIELD, rx: 3 }, this.back);
    make("rect", { class: "tray", x: TRAY_LEFT, y: TOP, width: TRAY, height: FIELD / 2 - 30, rx: 5 }, this.back);
    make("rect", { class: "tray", x: TRAY_LEFT, y: MIDDLE + 30, width: TRAY, height: FIELD / 2 - 30, rx: 5 }, this.back);
    this.numbers = make("g", { class: "numbers", "aria-hidden": "true" }, this.back);
    for (let point = 1; point <= 24; point++) {
      const x = columnX(point), low = point <= 12, base = low ? BOTTOM : TOP, tip = low ? BOTTOM - 224 : TOP + 224;
      make("path", { class: point % 2 ? "odd" : "even", d: `M${x - P / 2 + 1} ${base}L${x} ${tip}L${x + P / 2 - 1} ${base}Z` }, this.back);
      make("text", { x, y: low ? BOTTOM + 19 : TOP - 8 }, this.numbers).textContent = point;
    }
  }

  #makePlaces() {
    this.places = new Map();
    const add = (place, x, y, width, height) => {
      const element = make("rect", { class: "place", x, y, width, height, rx: 6, tabindex: place === 13 ? "0" : "-1", role: "button", "data-place": place }, this.placesLayer);
      element.addEventListener("keydown", (event) => this.#key(event, place));
      element.addEventListener("click", (event) => {
        if (event.detail === 0) this.on.choose(place); // by a screen reader; pointers come as pointer events
      });
      element.addEventListener("focus", () => this.#rove(place));
      this.places.set(place, element);
    };
    for (let point = 13; point <= 24; point++) add(point, columnX(point) - P / 2, TOP, P, FIELD / 2 - 22);
    add(25, LEFT + 6 * P + 2, MIDDLE + 12, BAR - 4, FIELD / 2 - 12);
    for (let point = 12; point >= 1; point--) add(point, columnX(point) - P / 2, MIDDLE + 22, P, FIELD / 2 - 22);
    add(0, TRAY_LEFT, MIDDLE + 30, TRAY, FIELD / 2 - 30);
  }

  #rove(place) {
    for (const [other, element] of this.places) element.setAttribute("tabindex", other === place ? "0" : "-1");
  }

  focus(place) {
    this.places.get(place)?.focus();
  }

  #key(event, place) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.on.choose(place);
    } else if (event.key === "Escape") {
      this.on.escape();
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      this.focus(this.#next(place, event.key));
    } else if (event.key === "Home" || event.key === "End") {
      event.preventDefault();
      const lit = [...this.places.keys()].filter((p) => this.sources.has(p) || this.targets.has(p));
      if (lit.length) this.focus(event.key === "Home" ? lit[0] : lit[lit.length - 1]);
    }
  }

  #next(place, key) {
    const upper = [13, 14, 15, 16, 17, 18, 25, 19, 20, 21, 22, 23, 24, 0], lower = [12, 11, 10, 9, 8, 7, 25, 6, 5, 4, 3, 2, 1, 0];
    // Bar and tray belong to both rows: one stays in the row that one came from.
    if (place >= 1 && place <= 24) this.inUpper = place >= 13;
    const row = this.inUpper ? upper : lower, other = this.inUpper ? lower : upper, at = row.indexOf(place);
    if (key === "ArrowUp" || key === "ArrowDown") this.inUpper = !this.inUpper;
    if (key === "ArrowLeft") return row[(at + row.length - 1) % row.length];
    if (key === "ArrowRight") return row[(at + 1) % row.length];
    return other[at];
  }

  // What stands there

  /** Show men [26] seen by the person and men off [mine, theirs]. */
  show(men, off) {
    this.men = [...men];
    this.off = [...off];
    const parts = document.createDocumentFragment();
    for (let place = 0; place <= 25; place++) {
      const count = Math.abs(men[place]), side = men[place] > 0 ? 0 : 1;
      const where = place === 0 || place === 25 ? "bar" : place;
      for (let index = 0; index < count; index++) {
        const { x, y } = manAt(side, where, index, count);
        this.#man(side, x, y, parts).dataset.at = `${side}:${where}:${index}`;
      }
      if (count > 5 || (where === "bar" && count > 3)) {
        const { x, y } = manAt(side, where, count - 1, count);
        const text = make("text", { class: `count on${side}`, x, y: y + 6 }, parts);
        text.textContent = count;
      }
    }
    for (const side of [0, 1]) {
      for (let index = 0; index < off[side]; index++) {
        const { x, y } = manAt(side, "off", index, off[side]);
        make("rect", { class: `man m${side}`, x: x - 22, y: y - 6, width: 44, height: 13, rx: 4 }, parts);
      }
    }
    this.menLayer.replaceChildren(parts);
    this.#names();
  }

  #man(side, x, y, parent) {
    const group = make("g", { class: `man m${side}` }, parent);
    make("circle", { cx: x, cy: y, r: R }, group);
    make("circle", { class: "ring", cx: x, cy: y, r: R - 7 }, group);
    return group;
  }

  #names() {
    for (const [place, element] of this.places) element.setAttribute("aria-label", this.name(place));
    this.svg.setAttribute("aria-label", this.name("board"));
  }

  /** Light the men that can move, the places they can go to, and the chosen one. */
  light(sources, targets, selected) {
    this.sources = new Set(sources);
    this.targets = new Set(targets);
    this.selected = selected;
    this.marks.replaceChildren();
    for (const [place, element] of this.places) {
      element.classList.toggle("source", this.sources.has(place));
      element.classList.toggle("target", this.targets.has(place));
      element.classList.toggle("selected", place === selected);
      element.setAttribute("aria-pressed", String(place === selected));
    }
    for (const man of this.menLayer.querySelectorAll(".lit,.chosen")) man.classList.remove("lit", "chosen");
    for (const place of this.sources) this.#topMan(place)?.classList.add(place === selected ? "chosen" : "lit");
    for (const place of this.targets) {
      if (place === 0) {
        make("rect", { class: "goal", x: TRAY_LEFT + 2, y: MIDDLE + 32, width: TRAY - 4, height: FIELD / 2 - 34, rx: 5 }, this.marks);
        continue;
      }
      const count = Math.max(this.men[place], 0);
      const { x, y } = manAt(0, place, Math.min(count, 5), Math.min(count + 1, 6) > 5 ? 5 : count + 1);
      make("circle", { class: "goal", cx: x, cy: count >= 5 ? (place <= 12 ? BOTTOM - FIVE - 14 : TOP + FIVE + 14) : y, r: count >= 5 ? 9 : R - 3 }, this.marks);
    }
    this.#names();
  }

  #topMan(place) {
    const where = place === 25 || place === 0 ? "bar" : place;
    const count = Math.max(this.men[place], 0);
    return count ? this.menLayer.querySelector(`[data-at="0:${where}:${count - 1}"]`) : null;
  }

  showNumbers(shown) {
    this.numbers.classList.toggle("gone", !shown);
  }

  /** dice: [{value, used, side}]; `ready` lights them as a button; `label` names them. */
  dice(dice, { ready = false, label = "" } = {}) {
    this.diceLayer.replaceChildren();
    this.diceLayer.setAttribute("class", ready ? "dice ready" : "dice");
    this.diceLayer.setAttribute("aria-label", label);
    this.diceLayer.setAttribute("tabindex", ready ? "0" : "-1");
    const width = dice.length > 2 ? 46 : 56;
    dice.forEach((die, index) => {
      const half = die.side === 1 ? LEFT + 3 * P : LEFT + 9 * P + BAR;
      const same = dice.filter((other) => other.side === die.side), place = same.indexOf(die);
      const x = half + (place - (same.length - 1) / 2) * width, y = MIDDLE;
      const group = make("g", { class: `die d${die.side}${die.used ? " used" : ""}` }, this.diceLayer);
      make("rect", { x: x - 21, y: y - 21, width: 42, height: 42, rx: 9 }, group);
      for (const spot of SPOTS[die.value] || []) make("circle", { cx: x + 12 * ((spot % 3) - 1), cy: y + 12 * (Math.floor(spot / 3) - 1), r: 4.2 }, group);
    });
    if (!dice.length && ready) {
      const x = LEFT + 9 * P + BAR;
      for (const dx of [-28, 28]) {
        const group = make("g", { class: "die d0 blank" }, this.diceLayer);
        make("rect", { x: x + dx - 21, y: MIDDLE - 21, width: 42, height: 42, rx: 9 }, group);
        make("text", { x: x + dx, y: MIDDLE + 8 }, group).textContent = "?";
      }
    }
  }

  /** cube: {value, owner: 0, 1 or null, offered: side or null, shown}. */
  cube({ value, owner, offered = null, shown }, label) {
    this.cubeLayer.replaceChildren();
    if (!shown) return;
    let x = TRAY_LEFT + TRAY / 2, y = MIDDLE;
    const bar = LEFT + 6 * P + BAR / 2;
    if (owner !== null) [x, y] = [bar, owner === 0 ? BOTTOM - 26 : TOP + 26];
    if (offered !== null) [x, y] = [offered === 0 ? LEFT + 9 * P + BAR : LEFT + 3 * P, MIDDLE];
    const group = make("g", { class: offered === null ? "" : "offered", role: "img", "aria-label": label }, this.cubeLayer);
    make("rect", { x: x - 21, y: y - 21, width: 42, height: 42, rx: 7 }, group);
    make("text", { x, y: y + 7 }, group).textContent = value === 1 && offered === null ? 64 : value;
  }

  // Men that move

  /** Move one man of `side` from place to place (the mover's bar 25 or 0, off as "off"), hitting if one stands there. */
  async step(side, from, to, milliseconds) {
    const sign = side === 0 ? 1 : -1, home = side === 0 ? 25 : 0, theirBar = side === 0 ? 0 : 25;
    const startWhere = from === home && (from === 25 || from === 0) ? "bar" : from;
    const count = Math.abs(this.men[from]);
    const start = manAt(side, startWhere, count - 1, count);
    const men = [...this.men], off = [...this.off];
    men[from] -= sign;
    let hit = null, end;
    if (to === "off") {
      off[side] += 1;
      end = manAt(side, "off", off[side] - 1, off[side]);
    } else {
      if (men[to] === -sign) {
        men[to] = 0;
        men[theirBar] -= sign;
        hit = { start: manAt(1 - side, to, 0, 1), end: manAt(1 - side, "bar", Math.abs(men[theirBar]) - 1, Math.abs(men[theirBar])) };
      }
      men[to] += sign;
      end = manAt(side, to, Math.abs(men[to]) - 1, Math.abs(men[to]));
    }
    if (milliseconds > 0) {
      const shown = [...this.men];
      shown[from] -= sign;
      this.show(shown, this.off);
      await this.#fly(side, start, end, milliseconds);
      if (hit) {
        const landed = [...men];
        landed[theirBar] += sign;
        this.show(landed, off);
        await this.#fly(1 - side, hit.start, hit.end, milliseconds * 0.8);
      }
    }
    this.show(men, off);
  }

  async #fly(side, start, end, milliseconds) {
    const man = this.#man(side, start.x, start.y, this.flying);
    const to = `translate(${end.x - start.x}px, ${end.y - start.y}px)`;
    await man.animate([{ transform: "translate(0px, 0px)" }, { transform: to }], { duration: milliseconds, easing: "cubic-bezier(.4,0,.2,1)", fill: "forwards" }).finished.catch(() => {});
    man.remove();
  }

  // Pointers

  #where(event) {
    const matrix = this.svg.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return { x, y, place: this.#placeAt(x, y) };
  }

  #placeAt(x, y) {
    if (x < 0 || y < 0 || x > WIDTH || y > HEIGHT) return null;
    if (x >= TRAY_LEFT - GAP / 2) return y > MIDDLE + 24 ? 0 : null;
    const bar = LEFT + 6 * P;
    if (x >= bar && x <= bar + BAR) return 25;
    const column = Math.floor((x - LEFT - (x > bar ? BAR : 0)) / P);
    if (column < 0 || column > 11) return null;
    if (Math.abs(y - MIDDLE) < 24) return Math.abs(x - (LEFT + 9 * P + BAR)) < 110 || Math.abs(x - (LEFT + 3 * P)) < 110 ? "dice" : null;
    return y > MIDDLE ? 12 - column : 13 + column;
  }

  #press(event) {
    if (event.button > 0 || this.drag) return;
    const at = this.#where(event);
    this.drag = { id: event.pointerId, from: at.place, x: event.clientX, y: event.clientY, man: null };
    try {
      this.svg.setPointerCapture(event.pointerId);
    } catch {
      // the pointer is gone already
    }
  }

  #move(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    const at = this.#where(event);
    if (!drag.man) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG || typeof drag.from !== "number" || !this.on.mayDrag(drag.from)) return;
      const top = this.#topMan(drag.from);
      if (!top) return;
      top.classList.add("lifted");
      drag.top = top;
      const circle = top.querySelector("circle");
      drag.home = { x: Number(circle.getAttribute("cx")), y: Number(circle.getAttribute("cy")) };
      drag.man = this.#man(0, 0, 0, this.flying);
    }
    drag.man.setAttribute("transform", `translate(${at.x} ${at.y})`);
    for (const [place, element] of this.places) element.classList.toggle("over", place === at.place && this.targets.has(place));
  }

  async #release(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    this.drag = null;
    const at = this.#where(event);
    for (const element of this.places.values()) element.classList.remove("over");
    if (!drag.man) {
      if (at.place === "dice") this.on.dice();
      else if (at.place === null) this.on.escape();
      else this.on.choose(at.place);
      return;
    }
    drag.man.remove();
    if (at.place !== drag.from && this.on.drag(drag.from, at.place)) return;
    await this.#fly(0, at, drag.home, this.still ? 0 : 160);
    drag.top.classList.remove("lifted");
  }

  #dropDrag() {
    this.drag?.man?.remove();
    this.drag?.top?.classList.remove("lifted");
    this.drag = null;
  }
}
