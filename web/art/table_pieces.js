// The pieces that all tables share: panels, plates of players, slots, badges, card backs and rows of cards. Sizes are
// in pixels.

import { s } from "../dom.js";
import { seatMark } from "./cards.js";
import { paw } from "./pieces.js";
import { at, box, group, middleBox, raised } from "./shapes.js";
import { fit, widthOf, write } from "./text.js";

/** @typedef {import("../game.js").Box} Box */
/** @typedef {import("../game.js").Item} Item */
/** @typedef {import("./shapes.js").Attributes} Attributes */
/** @typedef {import("./shapes.js").Child} Child */

/**
 * Return the look of an item that depends on nothing except some data.
 * @template {readonly unknown[]} Data
 * @param {(...data: Data) => SVGElement} draw draws the item around its origin
 * @param {Data} data the arguments of `draw`, which JSON can represent
 * @returns {Pick<Item, "stamp" | "draw">}
 */
export function drawnBy(draw, ...data) {
  return { stamp: `${draw.name} ${JSON.stringify(data)}`, draw: () => draw(...data) };
}

/**
 * Draw the background of a seat's panel, from its upper left corner.
 * @param {number} width
 * @param {number} height
 * @param {boolean} isActive true if it is the seat's turn
 * @param {{radius?: number, line?: string, opacity?: number}} [look] `line` and `opacity` apply while it is not the
 *   seat's turn
 */
export function panel(width, height, isActive, { radius = 12, line = "var(--line)", opacity = 1 } = {}) {
  return box(0, 0, width, height, radius, {
    fill: "var(--surface)",
    "fill-opacity": isActive ? 1 : opacity,
    stroke: isActive ? "var(--accent)" : line,
    "stroke-width": isActive ? 3 : 1,
  });
}

/**
 * Return the item of a panel.
 * @param {string} key
 * @param {Box} box
 * @param {boolean} isActive
 * @param {Parameters<typeof panel>[3]} look
 * @returns {Item}
 */
export function panelItem(key, { x, y, width, height }, isActive, look) {
  return { key, x, y, layer: -2, ...drawnBy(panel, width, height, isActive, look) };
}

/**
 * Draw the mark of a seat, and the name of its player.
 * @param {number} seat
 * @param {string} name
 * @param {{
 *   mark: readonly [x: number, y: number, size: number], text: readonly [x: number, y: number, size: number],
 *   room: number, least?: number, anchor?: "start" | "middle",
 * }} place the mark's middle, and the name's position and size; `room` is the largest width of the name: a longer name is
 *   drawn smaller, down to the size `least`, and then shortened
 */
export function plate(
  seat,
  name,
  { mark: [markX, markY, mark], text: [x, y, most], room, least = most, anchor = "start" },
) {
  const { text, size } = fit(name, room, least, most);
  return group(at(markX, markY, seatMark(seat, mark)), write(text, x, y, size, { anchor }));
}

/**
 * Draw an empty place, around its middle.
 * @param {number} width
 * @param {number} height
 * @param {{radius?: number, fill?: string, line?: string, thickness?: number, dash?: string}} [look]
 */
export function slot(
  width,
  height,
  { radius = 7, fill = "none", line = "var(--table-line)", thickness = 1.5, dash = "5 4" } = {},
) {
  const stroke = { stroke: line, "stroke-width": thickness, "stroke-dasharray": dash };
  return middleBox(width, height, radius, { fill, ...stroke });
}

/**
 * Draw a small rounded label, around its middle.
 * @param {string} text
 * @param {{size?: number, height?: number, fill?: string, ink?: string, line?: string, icon?: [Child, number]}} [look]
 *   `icon` is a drawing before the text, and its width
 */
export function badge(text, look = {}) {
  const { size = 14, fill = "var(--surface)", ink = "var(--ink)", line = "var(--line)" } = look;
  const { height = size * 1.6, icon: [icon, taken] = [undefined, 0] } = look;
  const width = badgeWidth(text, { ...look, size, height });
  return group(
    middleBox(width, height, height / 2, { fill, stroke: line }),
    icon && at((taken + size - width) / 2, 0, icon),
    write(text, taken / 2, 0, size, { fill: ink }),
  );
}

/**
 * Return the width of a badge.
 * @param {string} text
 * @param {NonNullable<Parameters<typeof badge>[1]>} look
 */
export function badgeWidth(text, { size = 14, height = size * 1.6, icon: [, taken] = [undefined, 0] }) {
  return Math.max(height, widthOf(text, size) + taken + size);
}

/**
 * Return the item of a badge that never moves.
 * @param {string} key
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {Parameters<typeof badge>[1]} [look]
 * @returns {Item}
 */
export function badgeItem(key, x, y, text, look = {}) {
  return { key, x, y, layer: 6, ...drawnBy(badge, text, { size: 12, ...look }) };
}

/**
 * Draw a round badge with a sign, around its middle.
 * @param {number} radius
 * @param {Attributes} look
 * @param {...Child} sign
 */
export function roundBadge(radius, look, ...sign) {
  return group(s("circle", { r: radius, ...look }), ...sign);
}

/**
 * Draw the back of a small card, around its middle: a paw.
 * @param {number} width
 * @param {number} height
 */
export function smallBack(width, height) {
  const [left, top] = [-width / 2, -height / 2];
  const look = { fill: "var(--card-back)", stroke: "var(--card-line)" };
  return group(
    raised(left, top, width, height, 4, look, 1),
    middleBox(width - 5, height - 5, 2.5, { fill: "none", stroke: "var(--card-back-2)" }),
    paw(width * 0.5, "var(--card-back-2)"),
  );
}

/**
 * Return the seats clockwise from a first one, such as the seat at the bottom of the table.
 * @param {number} players
 * @param {number} first
 */
export function seatsFrom(players, first) {
  return Array.from({ length: players }, (_, index) => (first + index) % players);
}

/**
 * Return the distance between neighbouring cards in a row.
 * @param {number} count the number of cards
 * @param {number} wish the largest distance
 * @param {number} room the distance available from the first card to the last one
 */
export function stepOf(count, wish, room) {
  return Math.min(wish, room / Math.max(1, count - 1));
}

/**
 * Return the positions of the cards in a row.
 * @param {number} count the number of cards
 * @param {number} middle the middle of the row
 * @param {number} step the distance between neighbouring cards
 */
export function fan(count, middle, step) {
  return Array.from({ length: count }, (_, index) => middle + (index - (count - 1) / 2) * step);
}
