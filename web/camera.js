// The camera: it selects the visible part of a board. It follows a growing board until the player zooms or pans.

import { fitted } from "./boxes.js";
import { button, h, s } from "./dom.js";

/** @typedef {import("./game.js").Box} Box */

const STEP = 1.3;
const DRAGGED = 6;
const NARROW = 560;
const DURATION = 350;
const CLOSEST = 3;
// For each mode of a wheel event (pixels, lines and pages), the number of pixels in a unit.
const WHEEL = [1, 16, 400];
const SIDES = /** @type {const} */ (["x", "y", "width", "height"]);
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

/** The camera of a board. The board is an SVG element within an SVG element, and the camera controls its viewBox. */
export class Camera {
  /** @type {Box | undefined} */
  #window;
  /** @type {Box | undefined} */
  #extent;
  /** @type {Box | undefined} */
  #seen;
  /** @type {Box | undefined} the box visible during an animation */
  #passed;
  #isMoved = false;
  /** @type {Map<number, {x: number, y: number}>} */
  #pointers = new Map();
  #way = 0;

  /** @param {SVGSVGElement} board */
  constructor(board) {
    this.board = board;
    // The board can also be dragged where it is empty.
    this.ground = s("rect", { fill: "transparent" });
    board.prepend(this.ground);
    this.buttons = {
      closer: button("+", () => this.#zoom(STEP)),
      farther: button("−", () => this.#zoom(1 / STEP)),
      whole: button("⤢", () => this.#whole()),
    };
    this.controls = h("div", { class: "camera", hidden: true }, ...Object.values(this.buttons));
    board.addEventListener("pointerdown", (event) => this.#down(event));
    board.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      board.addEventListener(name, (event) => this.#up(event));
    }
    board.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    board.addEventListener("keydown", (event) => this.#key(event, false));
    this.controls.addEventListener("keydown", (event) => this.#key(event, true));
    board.addEventListener("focusin", (event) => {
      const element = /** @type {Element} */ (event.target);
      // Do not pan after a click, because the clicked item has to stay under the pointer.
      if (element.matches(":focus-visible")) {
        this.reveal(element);
      }
    });
  }

  /** True if the last pointer has dragged the board, so that its click picks no item. */
  get hasDragged() {
    return this.#way > DRAGGED;
  }

  /**
   * Set the labels of the buttons.
   * @param {{closer: string, farther: string, whole: string}} names
   */
  name(names) {
    for (const [key, name] of Object.entries(names)) {
      const button = this.buttons[/** @type {keyof typeof names} */ (key)];
      button.setAttribute("aria-label", name);
      button.title = name;
    }
  }

  /**
   * Show a part of the board, unless the player has chosen another part.
   * @param {Box | undefined} window the board's box in the drawing, or undefined if there is no board
   * @param {Box | undefined} extent the part to show, in the board's coordinates
   * @param {boolean} isAnimated
   */
  look(window, extent, isAnimated) {
    this.controls.hidden = !window;
    const isResized = window?.width !== this.#window?.width || window?.height !== this.#window?.height;
    this.#window = window;
    this.#extent = extent;
    if (window) {
      // Place the buttons at the lower right corner of the board, at any scale of the drawing.
      const { style } = this.controls;
      const { width, height } = this.board.ownerSVGElement?.viewBox.baseVal ?? window;
      style.left = `${((window.x + window.width) / width) * 100}%`;
      style.top = `${((window.y + window.height) / height) * 100}%`;
      style.right = "auto";
      style.flexDirection = window.width < NARROW ? "row" : "column";
      style.transform = "translate(calc(-100% - 8px), calc(-100% - 8px))";
    }
    if (!window || !extent) {
      this.#seen = undefined;
      this.#passed = undefined;
      this.#isMoved = false;
    } else if (!this.#seen || isResized || !this.#isMoved) {
      this.#isMoved = false;
      this.#see(fitted(extent, window), isAnimated && !isResized);
    }
  }

  /**
   * Pan until an element of the board is visible.
   * @param {Element} element
   */
  reveal(element) {
    const outer = this.#frame();
    const inner = element.getBoundingClientRect();
    const dx = outside(inner.left, inner.right, outer.x, outer.x + outer.width);
    const dy = outside(inner.top, inner.bottom, outer.y, outer.y + outer.height);
    if (dx || dy) {
      this.#pan(-dx, -dy);
    }
  }

  /**
   * @param {Box} box
   * @param {boolean} [isAnimated]
   */
  #see(box, isAnimated = false) {
    const before = this.#seen;
    const from = this.#passed;
    if (before && isAnimated && SIDES.every((side) => before[side] === box[side])) {
      return;
    }
    this.#seen = box;
    if (!from || !isAnimated) {
      this.#apply(box);
      return;
    }
    const begin = performance.now();
    const step = (/** @type {number} */ now) => {
      if (this.#seen !== box) {
        return;
      }
      const part = Math.min(1, Math.max(0, (now - begin) / DURATION));
      const eased = 1 - (1 - part) ** 3;
      const between = (/** @type {keyof Box} */ name) => from[name] + (box[name] - from[name]) * eased;
      this.#apply({ x: between("x"), y: between("y"), width: between("width"), height: between("height") });
      if (part < 1) {
        requestAnimationFrame(step);
      }
    };
    requestAnimationFrame(step);
  }

  /** @param {Box} box */
  #apply(box) {
    const { x, y, width, height } = box;
    this.#passed = box;
    this.board.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    for (const side of SIDES) {
      this.ground.setAttribute(side, String(box[side]));
    }
  }

  #whole() {
    this.#isMoved = false;
    if (this.#window && this.#extent) {
      this.#see(fitted(this.#extent, this.#window));
    }
  }

  /**
   * Zoom in or out.
   * @param {number} factor above 1 to zoom in
   * @param {{x: number, y: number}} [at] the point of the window that stays in place, as fractions of its width and
   *   height
   */
  #zoom(factor, at = { x: 0.5, y: 0.5 }) {
    const [seen, window, extent] = [this.#seen, this.#window, this.#extent];
    if (!seen || !window || !extent) {
      return;
    }
    const now = window.width / seen.width;
    const farthest = Math.min(now, (window.width / fitted(extent, window).width) * 0.6);
    const scale = Math.min(Math.max(CLOSEST, now), Math.max(farthest, now * factor));
    const [width, height] = [window.width / scale, window.height / scale];
    this.#isMoved = true;
    this.#see(
      this.#held({
        x: seen.x + (seen.width - width) * at.x,
        y: seen.y + (seen.height - height) * at.y,
        width,
        height,
      }),
    );
  }

  /**
   * Pan the board.
   * @param {number} dx pixels of the screen
   * @param {number} dy pixels of the screen
   */
  #pan(dx, dy) {
    const seen = this.#seen;
    const { width } = this.#frame();
    if (seen && width) {
      const scale = seen.width / width;
      this.#isMoved = true;
      this.#see(this.#held({ ...seen, x: seen.x - dx * scale, y: seen.y - dy * scale }));
    }
  }

  /**
   * Move a box so that its middle is on the board, because the board must stay visible.
   * @param {Box} box
   * @returns {Box}
   */
  #held(box) {
    const extent = this.#extent ?? box;
    const held = (
      /** @type {number} */ at,
      /** @type {number} */ size,
      /** @type {number} */ from,
      /** @type {number} */ room,
    ) => Math.min(Math.max(at, from - size / 2), from + room - size / 2);
    return {
      ...box,
      x: held(box.x, box.width, extent.x, extent.width),
      y: held(box.y, box.height, extent.y, extent.height),
    };
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (this.#pointers.size === 0) {
      this.#way = 0;
    }
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** @param {PointerEvent} event */
  #up(event) {
    this.#pointers.delete(event.pointerId);
    if (this.#pointers.size === 0) {
      // Reset the distance only after this pointer's click: it must pick no item if the board has been dragged.
      setTimeout(() => (this.#way = this.#pointers.size === 0 ? 0 : this.#way));
    }
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      return;
    }
    if (event.buttons === 0) {
      this.#pointers.delete(event.pointerId);
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.#pointers.set(event.pointerId, now);
    this.#way += Math.hypot(now.x - before.x, now.y - before.y);
    if (!this.hasDragged) {
      return;
    }
    // Capture the pointer only once it drags the board. Before, a click has to reach the item, not the board.
    this.board.setPointerCapture(event.pointerId);
    if (other) {
      const [apart, was] = [now, before].map((each) => Math.hypot(each.x - other.x, each.y - other.y));
      this.#zoom(/** @type {number} */ (apart) / (was || 1), this.#partAt(other));
    } else {
      this.#pan(now.x - before.x, now.y - before.y);
    }
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const turned = event.deltaY * (WHEEL[event.deltaMode] ?? 1);
    const isPinch = event.ctrlKey || event.metaKey;
    // When fully zoomed out, or while the page is scrolled down, the wheel scrolls the page.
    const scrolls = turned < 0 ? scrollY > 0 : !this.#isCloser();
    if (turned !== 0 && (isPinch || !scrolls)) {
      event.preventDefault();
      const factor = Math.exp(-turned / (isPinch ? 200 : 500));
      this.#zoom(factor, this.#partAt({ x: event.clientX, y: event.clientY }));
    }
  }

  /** Return true if only a part of the board is visible. */
  #isCloser() {
    const [seen, window, extent] = [this.#seen, this.#window, this.#extent];
    return seen && window && extent ? seen.width < fitted(extent, window).width * 0.99 : false;
  }

  /**
   * Handle a key.
   * @param {KeyboardEvent} event
   * @param {boolean} arrows true if the arrow keys pan
   */
  #key(event, arrows) {
    const way = arrows ? ARROWS[event.key] : undefined;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (way) {
      this.#pan(...way);
    } else if (event.key === "+" || event.key === "=") {
      this.#zoom(STEP);
    } else if (event.key === "-") {
      this.#zoom(1 / STEP);
    } else if (event.key === "0") {
      this.#whole();
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * Return a point of the screen as fractions of the board's width and height.
   * @param {{x: number, y: number}} point
   */
  #partAt({ x, y }) {
    const frame = this.#frame();
    return { x: (x - frame.x) / frame.width, y: (y - frame.y) / frame.height };
  }

  /**
   * Return the board's box on the screen. Its bounding box would include its invisible parts.
   * @returns {Box}
   */
  #frame() {
    const drawing = this.board.ownerSVGElement;
    const { x = 0, y = 0, width = 0, height = 0 } = this.#window ?? {};
    const shown = drawing?.getBoundingClientRect();
    const scale = shown && drawing ? shown.width / drawing.viewBox.baseVal.width : 0;
    return {
      x: (shown?.x ?? 0) + x * scale,
      y: (shown?.y ?? 0) + y * scale,
      width: width * scale,
      height: height * scale,
    };
  }
}

/**
 * Return the distance by which a range must move to lie within another range.
 * @param {number} from
 * @param {number} to
 * @param {number} first
 * @param {number} last
 */
function outside(from, to, first, last) {
  return from < first ? from - first - 16 : to > last ? to - last + 16 : 0;
}
