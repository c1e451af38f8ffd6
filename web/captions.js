// Captions of the scene: the name and the purpose of the item under the pointer, a finger or the focus.

import { h } from "./dom.js";

/** @typedef {{name: string, does: string | undefined}} Caption */

// The time until a resting pointer, or a finger, shows a caption, in milliseconds.
const REST = 300;
const PRESS = 450;
// The distance that a finger may move during this time, and the distance of a caption from its item, in pixels.
const STILL = 8;
const GAP = 6;

/** The caption of a scene. At most one is shown at a time. */
export class Captions {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Element | undefined} the item whose caption is shown, or will be shown */
  #item;
  #start = { x: 0, y: 0 };
  #hasPressed = false;

  /**
   * @param {HTMLElement} stage
   * @param {(key: string) => Caption | undefined} captionOf returns the caption of an item by its key
   */
  constructor(stage, captionOf) {
    this.stage = stage;
    this.captionOf = captionOf;
    // Hide the caption from screen readers, because they read the labels of the items.
    this.element = h("div", { class: "caption", "aria-hidden": "true", hidden: true });
    stage.append(this.element);
    // A lifted finger also dispatches this event. Its caption stays, so that the player can read it.
    stage.addEventListener("pointerleave", ({ pointerType }) => pointerType !== "touch" && this.hide());
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      stage.addEventListener(end, () => clearTimeout(this.#timer));
    }
    stage.addEventListener("focusin", ({ target }) => this.#focus(target));
    stage.addEventListener("focusout", () => this.hide());
    stage.addEventListener("keydown", ({ key }) => key === "Escape" && this.hide());
  }

  /** True if the current press has shown a caption, so that its click picks no item. */
  get hasPressed() {
    return this.#hasPressed;
  }

  /** Hide the caption. */
  hide() {
    clearTimeout(this.#timer);
    this.#item = undefined;
    this.element.hidden = true;
  }

  /** Show the caption of the same item again, because the item may have changed or disappeared. */
  renew() {
    if (!this.element.hidden && !(itemOf(this.#item ?? null) === this.#item && this.#show(this.#item))) {
      this.hide();
    }
  }

  /** @param {PointerEvent} event */
  #down({ target, pointerType, clientX, clientY }) {
    this.hide();
    this.#hasPressed = false;
    const item = itemOf(target);
    if (pointerType === "touch" && item) {
      this.#start = { x: clientX, y: clientY };
      this.#timer = setTimeout(() => {
        this.#hasPressed = this.#show(item);
      }, PRESS);
    }
  }

  /** @param {PointerEvent} event */
  #move({ target, pointerType, clientX, clientY }) {
    if (pointerType === "touch") {
      if (Math.hypot(clientX - this.#start.x, clientY - this.#start.y) > STILL) {
        clearTimeout(this.#timer);
      }
      return;
    }
    // An item that moves under a resting pointer shows no caption.
    const item = itemOf(target);
    if (item !== this.#item) {
      this.hide();
      this.#item = item;
      this.#timer = setTimeout(() => this.#show(item), REST);
    }
  }

  /** @param {EventTarget | null} target */
  #focus(target) {
    const item = itemOf(target);
    if (item?.matches(":focus-visible")) {
      this.hide();
      this.#show(item);
    }
  }

  /**
   * Show the caption of an item. Returns false if the item has no caption.
   * @param {Element | undefined} item
   */
  #show(item) {
    const caption = item?.isConnected && this.captionOf(keyOf(item));
    if (!item || !caption) {
      return false;
    }
    this.#item = item;
    const { name, does } = caption;
    this.element.replaceChildren(h("strong", {}, name), does === undefined ? "" : h("span", {}, does));
    this.element.hidden = false;
    this.#place(item);
    return true;
  }

  /**
   * Place the caption within the stage, above its item or, if there is no room, below the item.
   * @param {Element} item
   */
  #place(item) {
    const stage = this.stage.getBoundingClientRect();
    const box = item.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const over = box.top - stage.top - height - GAP;
    const under = box.bottom - stage.top + GAP;
    const top = over >= 0 ? over : Math.max(0, Math.min(under, stage.height - height));
    const left = box.left - stage.left + (box.width - width) / 2;
    this.element.style.top = `${top}px`;
    this.element.style.left = `${Math.max(0, Math.min(left, stage.width - width))}px`;
  }
}

/**
 * Return the key of an item.
 * @param {Element} item
 */
export function keyOf(item) {
  return item.getAttribute("data-key") ?? "";
}

/**
 * Return the labelled item that contains an element of the drawing.
 * @param {EventTarget | null} target
 */
export function itemOf(target) {
  const item = target instanceof Element ? target.closest(".item") : null;
  return item?.hasAttribute("aria-label") ? item : undefined;
}
