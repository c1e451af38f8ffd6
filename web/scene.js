// The scene: it shows a drawing, moves items from one drawing to the next, and reports clicks on items.

import { seatMark } from "./art/cards.js";
import { middleOf } from "./boxes.js";
import { Camera } from "./camera.js";
import { Captions, itemOf, keyOf } from "./captions.js";
import { h, s } from "./dom.js";

/** @typedef {import("./game.js").Item} Item */
/** @typedef {import("./game.js").Drawing} Drawing */
/** @typedef {{x: number, y: number, turn?: number | undefined, scale?: number | undefined}} Place */
/**
 * How to mark the items of a drawing.
 * @typedef {object} Marks
 * @property {ReadonlySet<string>} candidates the keys (`Item.pick`) that can be picked
 * @property {readonly string[]} picked the keys picked so far
 * @property {ReadonlyMap<string, readonly string[]>} hinted the keys of the suggested action that are still to be picked,
 *   each with the labels of its marks: its places in the order of picks, or "" for the only key
 * @property {boolean} tries true if other items than candidates can also be clicked
 * @property {ReadonlyMap<string, number>} moved maps the mark of each item that a seat's last move put on the table to
 *   that seat
 */
/** @typedef {{element: SVGGElement, inner: SVGGElement, item: Item}} Shown */

// The size of the mark on items that a seat's last move put on the table, in pixels.
const SIGN = 20;
const GLIDE = { duration: 420, easing: "cubic-bezier(0.3, 0.1, 0.2, 1)" };
const FADE = { duration: 240, easing: "ease-out" };
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The scene of a table. */
export class Scene {
  /** @type {Map<string, Shown>} */
  #shown = new Map();
  /** @type {string | undefined} */
  #pressed;

  /**
   * @param {{
   *   onPick: (pick: string) => void, onIdle: (key: string | undefined) => void, onCancel: () => void,
   *   captionOf: (key: string) => import("./captions.js").Caption | undefined,
   * }} listeners `onPick` is called for a click on an item that can be picked or tried, `onIdle` for any other click;
   *   `captionOf` returns the caption of an item
   */
  constructor({ onPick, onIdle, onCancel, captionOf }) {
    this.onPick = onPick;
    this.onIdle = onIdle;
    this.items = s("g");
    this.boardItems = s("g");
    this.board = s("svg", { class: "board" }, this.boardItems);
    this.svg = s("svg", { class: "drawing", role: "group" }, this.items);
    this.camera = new Camera(this.board);
    /** An element as high as the browser's window, so that a ResizeObserver can observe that height. */
    this.window = h("div", { class: "window" });
    this.element = h("div", { class: "stage" }, this.window, this.svg, this.camera.controls);
    this.captions = new Captions(this.element, captionOf);
    this.svg.addEventListener("pointerdown", ({ target }) => {
      this.#pressed = pickOf(target);
    });
    this.svg.addEventListener("click", (event) => {
      // A click that begins and ends on different parts of an item is dispatched to their common ancestor.
      const end = pickOf(document.elementFromPoint(event.clientX, event.clientY));
      const pick = pickOf(event.target) ?? (end === this.#pressed ? end : undefined);
      if (!this.camera.hasDragged && !this.captions.hasPressed) {
        this.#pick(event, pick);
      }
    });
    this.svg.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        this.#pick(event, pickOf(event.target));
      } else if (event.key === "Escape") {
        onCancel();
      } else if (event.key in ARROWS) {
        this.#moveFocus(event, /** @type {[number, number]} */ (ARROWS[event.key]));
      }
    });
  }

  /** True if the focus is in the scene. */
  get hasFocus() {
    return this.svg.contains(document.activeElement);
  }

  /**
   * Focus the first item that can be picked.
   * @returns {boolean} false if there is no such item
   */
  focusFirst() {
    const first = /** @type {SVGGElement | null} */ (this.svg.querySelector(".pickable"));
    first?.focus();
    return first !== null;
  }

  /** Remove all items. */
  clear() {
    for (const { element } of this.#shown.values()) {
      element.remove();
    }
    this.#shown.clear();
  }

  /**
   * Show a drawing.
   * @param {Drawing} drawing
   * @param {Marks} marks
   * @param {boolean} isAnimated true to move items to their new places gradually
   * @param {string} label the drawing's label for screen readers
   */
  show(drawing, marks, isAnimated, label) {
    this.svg.setAttribute("viewBox", `0 0 ${drawing.width} ${drawing.height}`);
    this.svg.setAttribute("width", String(drawing.width));
    this.svg.setAttribute("height", String(drawing.height));
    this.svg.setAttribute("aria-label", label);
    this.#placeBoard(drawing, isAnimated);
    const keys = new Set(drawing.items.map(({ key }) => key));
    for (const [key, shown] of this.#shown) {
      if (!keys.has(key)) {
        this.#shown.delete(key);
        leave(shown, isAnimated);
      }
    }
    const left = new Map();
    const hints = new Map([...marks.hinted].map(([key, labels]) => [key, [...labels]]));
    const sorted = drawing.items
      .map((item, index) => ({ item, index }))
      .sort((a, b) => (a.item.layer ?? 0) - (b.item.layer ?? 0) || a.index - b.index);
    /** @type {Map<Element, Element | null>} */
    const last = new Map();
    for (const { item } of sorted) {
      const parent = item.board ? this.boardItems : this.items;
      const shown = this.#shown.get(item.key);
      const kept = shown && shown.element.parentNode === parent ? shown : undefined;
      if (shown && !kept) {
        shown.element.remove();
      }
      const now = kept ?? this.#enter(item);
      this.#shown.set(item.key, now);
      const after = last.get(parent) ?? null;
      const expected = after ? after.nextElementSibling : parent.firstElementChild;
      if (now.element !== expected) {
        parent.insertBefore(now.element, expected);
      }
      last.set(parent, now.element);
      settle(now, item, kept !== undefined, isAnimated);
      mark(now.element, item, marks, left);
      sign(now, marks.moved.get(item.mark ?? item.key));
      pointOut(now, hints.get(item.pick ?? "")?.shift());
    }
    this.#letIn();
    this.captions.renew();
  }

  /** Let Tab reach the scene if no item can be picked, so that the arrow keys work from there. */
  #letIn() {
    if (!this.svg.querySelector('.item[tabindex="0"]')) {
      this.svg.querySelector(".item[tabindex]")?.setAttribute("tabindex", "0");
    }
  }

  /**
   * @param {Drawing} drawing
   * @param {boolean} isAnimated
   */
  #placeBoard({ board, extent }, isAnimated) {
    if (!board || !extent) {
      this.board.remove();
    } else {
      // The board is below all other items.
      if (!this.board.parentNode) {
        this.svg.prepend(this.board);
      }
      for (const [name, value] of Object.entries(board)) {
        this.board.setAttribute(name, String(value));
      }
    }
    this.camera.look(board, extent, isAnimated);
  }

  /**
   * @param {Item} item
   * @returns {Shown}
   */
  #enter(item) {
    const inner = s("g", { class: "inner" });
    const element = s("g", { class: "item", "data-key": item.key }, inner);
    return { element, inner, item };
  }

  /**
   * @param {Event} event
   * @param {string | undefined} pick
   */
  #pick(event, pick) {
    event.preventDefault();
    if (pick !== undefined) {
      this.onPick(pick);
    } else {
      const item = itemOf(event.target);
      this.onIdle(item && keyOf(item));
    }
  }

  /**
   * @param {KeyboardEvent} event
   * @param {[number, number]} direction
   */
  #moveFocus(event, [dx, dy]) {
    const from = document.activeElement;
    if (!from || !this.svg.contains(from)) {
      return;
    }
    event.preventDefault();
    const here = middleOf(from.getBoundingClientRect());
    let best = Infinity;
    /** @type {SVGGElement | undefined} */
    let nearest;
    for (const element of /** @type {NodeListOf<SVGGElement>} */ (
      this.svg.querySelectorAll(".item[tabindex]")
    )) {
      const there = middleOf(element.getBoundingClientRect());
      const [x, y] = [there.x - here.x, there.y - here.y];
      const along = x * dx + y * dy;
      const aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (element !== from && along > 1 && along + 2 * aside < best) {
        best = along + 2 * aside;
        nearest = element;
      }
    }
    nearest?.focus();
    if (nearest?.parentNode === this.boardItems) {
      this.camera.reveal(nearest);
    }
  }
}

/**
 * Return the key that a click on an element of the drawing picks.
 * @param {EventTarget | null} target
 * @returns {string | undefined}
 */
function pickOf(target) {
  const item = target instanceof Element ? target.closest(".item[data-pick]") : null;
  return item instanceof SVGGElement ? item.dataset["pick"] : undefined;
}

/**
 * Move an item to its place, and draw it again if its look has changed.
 * @param {Shown} shown
 * @param {Item} item
 * @param {boolean} wasShown
 * @param {boolean} isAnimated
 */
function settle(shown, item, wasShown, isAnimated) {
  const { element, inner, item: before } = shown;
  if (!wasShown || before.stamp !== item.stamp) {
    inner.replaceChildren(item.draw());
  }
  element.setAttribute("transform", attributeOf(item));
  if (isAnimated) {
    const from = wasShown ? before : item.from;
    if (from && transformOf(from) !== transformOf(item)) {
      element.animate({ transform: [transformOf(from), transformOf(item)] }, GLIDE);
    } else if (!wasShown) {
      element.animate({ opacity: [0, 1] }, FADE);
    }
  }
  shown.item = item;
}

/**
 * @param {Shown} shown
 * @param {boolean} isAnimated
 */
function leave({ element, item }, isAnimated) {
  if (!isAnimated) {
    element.remove();
    return;
  }
  element.removeAttribute("data-pick");
  element.removeAttribute("tabindex");
  element.setAttribute("class", "item leaving");
  element.setAttribute("aria-hidden", "true");
  const to = item.to ?? item;
  const frames = { transform: [transformOf(item), transformOf(to)], opacity: [1, item.to ? 0.6 : 0] };
  element.animate(frames, item.to ? GLIDE : FADE).onfinish = () => element.remove();
}

/**
 * Show the state of an item: by its look, its focus order and its attributes for screen readers.
 * @param {SVGGElement} element
 * @param {Item} item
 * @param {Marks} marks
 * @param {Map<string, number>} left for each key that several items share, the number of its picks that earlier items
 *   do not show
 */
function mark(element, item, marks, left) {
  const { pick, label } = item;
  const count =
    pick === undefined ? 0 : (left.get(pick) ?? marks.picked.filter((key) => key === pick).length);
  const isPicked = count > 0;
  if (pick !== undefined) {
    left.set(pick, count - 1);
  }
  const isPickable = pick !== undefined && marks.candidates.has(pick);
  const isHinted = pick !== undefined && marks.hinted.has(pick);
  const isButton = isPickable || isPicked || (pick !== undefined && marks.tries);
  const classes = ["item", isPickable && "pickable", isPicked && "picked", isHinted && "hinted"];
  element.setAttribute("class", classes.filter(Boolean).join(" "));
  set(element, "data-pick", isButton ? pick : undefined);
  set(element, "role", isButton ? "button" : label ? "img" : undefined);
  // Items that can only be tried or looked at are reached with the arrow keys.
  set(element, "tabindex", isPickable || isPicked ? "0" : isButton || label ? "-1" : undefined);
  set(element, "aria-label", label);
  set(element, "aria-hidden", label ? undefined : "true");
  set(element, "aria-pressed", isButton && isPicked ? "true" : undefined);
  set(element, "aria-disabled", isButton && !isPickable && !isPicked ? "true" : undefined);
}

/**
 * Draw the mark of a seat at the upper right corner of an item that the seat's last move put on the table.
 * @param {Shown} shown
 * @param {number | undefined} seat the seat; undefined to remove the mark
 */
function sign({ element, inner, item }, seat) {
  element.querySelector(":scope > .moved")?.remove();
  if (seat !== undefined) {
    const { x, y, width } = inner.getBBox();
    const { turn = 0, scale = 1 } = item;
    const place = attributeOf({ x: x + width - SIGN / 4, y: y + SIGN / 4, turn: -turn, scale: 1 / scale });
    element.append(s("g", { class: "moved", "data-seat": seat, transform: place }, seatMark(seat, SIGN)));
  }
}

/**
 * Draw a frame around an item of the suggested action, with its place in the order of picks.
 * @param {Shown} shown
 * @param {string | undefined} label the place, or "" for the only pick; undefined to remove the frame
 */
function pointOut({ element, inner, item }, label) {
  element.querySelector(":scope > .hint")?.remove();
  if (label !== undefined) {
    const { x, y, width, height } = inner.getBBox();
    const { turn = 0, scale = 1 } = item;
    const inset = SIGN / 3;
    const place = attributeOf({ x: x + inset, y: y + inset, turn: -turn, scale: 1 / scale });
    const number = s(
      "g",
      { class: "order", transform: place },
      s("circle", { r: SIGN / 2 }),
      s("text", { "text-anchor": "middle", y: SIGN / 4 }, label),
    );
    const frame = s("rect", { x, y, width, height, rx: SIGN / 3 });
    element.append(s("g", { class: "hint" }, frame, label !== "" && number));
  }
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | undefined} value
 */
function set(element, name, value) {
  if (value === undefined) {
    element.removeAttribute(name);
  } else if (element.getAttribute(name) !== value) {
    element.setAttribute(name, value);
  }
}

/** @param {Place} place */
function transformOf({ x, y, turn = 0, scale = 1 }) {
  return `translate(${x}px, ${y}px) rotate(${turn}deg) scale(${scale})`;
}

/** @param {Place} place */
function attributeOf({ x, y, turn = 0, scale = 1 }) {
  return `translate(${x} ${y}) rotate(${turn}) scale(${scale})`;
}
