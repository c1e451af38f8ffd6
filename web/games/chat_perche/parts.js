// The parts of Chat perché's drawing: rugs, plates, the dogs' track, cards and decks, the tree and its animals.
// Sizes are in pixels.

import { cardFace } from "../../art/cards.js";
import { catFace, catFalling, catPerched, catSitting } from "../../art/cats.js";
import { bird, dog, paw } from "../../art/pieces.js";
import {
  at,
  box,
  disc,
  flipped,
  group,
  line,
  middleBox,
  outlined,
  path,
  placed,
  round,
  shape,
} from "../../art/shapes.js";
import { badge, panel, plate, roundBadge, slot } from "../../art/table_pieces.js";
import { cut, write } from "../../art/text.js";
import { s } from "../../dom.js";
import { chipsOf, deckLines, ICON } from "./layout.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheCardInfoJson} CardInfo */
/** @typedef {import("./layout.js").Limb} Limb */

/**
 * Draw the rug on which a seat's cats wait, around its middle.
 * @param {number} seat
 * @param {number} width
 * @param {number} height
 * @param {string} [ring] the colour of its edge, if it can be or is picked
 */
export function rug(seat, width, height, ring) {
  const colour = `var(--seat-${seat})`;
  const edge = ring
    ? { line: ring, thickness: 3, dash: "none" }
    : { line: colour, thickness: 1.6, dash: "7 4" };
  return group(
    middleBox(width, height, 14, { fill: colour, opacity: 0.34 }),
    slot(width - 7, height - 7, { radius: 11, ...edge }),
  );
}

/**
 * Draw a number on a round badge.
 * @param {number} count
 */
export function tally(count) {
  return s("g", { "pointer-events": "none" }, badge(String(count), { size: 13, height: 24 }));
}

/**
 * Draw the plate of a player: mark, name and a second line. The origin is the middle of the left edge.
 * @param {number} seat
 * @param {string} name
 * @param {string} more the second line
 * @param {number} width in pixels
 * @param {boolean} isActive
 */
export function seatPlate(seat, name, more, width, isActive) {
  const room = width - 44;
  return group(
    at(0, -18, panel(width, 36, isActive, { radius: 18 })),
    plate(seat, name, { mark: [17, 0, 28], text: [33, -7, 13], room }),
    write(cut(more, room, 12, 500), 33, 8, 12, { anchor: "start", fill: "var(--ink-soft)", weight: 500 }),
  );
}

/**
 * Draw the track of the dogs, from its beginning at the origin.
 * @param {number} step the length of a step, in pixels
 * @param {number} steps the number of steps
 * @param {number} dogs the number of steps that the dogs have taken
 */
export function track(step, steps, dogs) {
  const r = Math.min(4.5, step * 0.32);
  const end = step * steps;
  const marks = Array.from({ length: steps }, (_, index) =>
    index < dogs && step >= 14
      ? placed(round(index * step), 0, 1, 90, paw(11, "var(--bark-2)"))
      : disc(round(index * step), 0, round(r), index < dogs ? "var(--bark-2)" : "var(--surface)"),
  );
  return group(
    line(path`M0 0H${end}`, "var(--carton-2)", 26),
    line(path`M0 0H${end}`, "var(--carton)", 22),
    marks,
    placed(
      round(end),
      0,
      0.22,
      -24,
      outlined(
        "M-34-12C-62-34-72 4-46 0C-72 4-58 38-34 12H34C58 38 72 4 46 0C72-34 62-34 34-12Z",
        "#fff7e8",
        6,
      ),
    ),
  );
}

/**
 * Draw the wire on which the birds wait, from its left end.
 * @param {number} length
 */
export function wire(length) {
  return line(path`M0 0Q${length * 0.5} 5 ${length} -2`, "var(--ink-soft)", 1.6);
}

/**
 * Draw the dogs, around their middle.
 * @param {number} size
 */
export function pack(size) {
  return group(at(-size * 0.5, -size * 0.1, dog(size * 0.82, "#8d8378")), dog(size));
}

/**
 * Draw the motif of a card, around its middle.
 * @param {CardInfo} card
 * @param {number} seat the card's owner
 * @param {number} size
 * @returns {Child}
 */
function motif({ kind, ownCats }, seat, size) {
  const coat = ownCats ? seat : 1 - seat;
  switch (kind) {
    case "CHAT_PERCHE_CARD_KIND_DOGS":
      return dog(size);
    case "CHAT_PERCHE_CARD_KIND_BIRD":
      return bird(size);
    case "CHAT_PERCHE_CARD_KIND_FALL":
      return catFalling(coat, size);
    case "CHAT_PERCHE_CARD_KIND_TWO_CATS":
      return [
        at(size * 0.24, -size * 0.16, catFace(coat, size * 0.74)),
        at(-size * 0.22, size * 0.14, catFace(coat, size * 0.74)),
      ];
    default:
      return catFace(coat, size);
  }
}

/**
 * Draw the card that is turned up.
 * @param {CardInfo} card
 * @param {number} seat
 * @param {number} width
 * @param {string} left the text of the steps left, or ""
 */
export function turnedUp(card, seat, width, left) {
  const height = width * 1.38;
  return group(
    cardFace(width, height, {
      band: `var(--seat-${seat})`,
      motif: at(0, -height * 0.02, motif(card, seat, width * 0.62)),
    }),
    left &&
      at(
        0,
        height / 2 - 5,
        badge(left, { height: 24, line: "var(--accent)", icon: [paw(13, "var(--accent)"), 18] }),
      ),
  );
}

/**
 * Draw the panel of a seat's deck, from its upper left corner. The cards still in the deck are bright.
 * @param {number} seat
 * @param {string} title
 * @param {import("./layout.js").DeckRow[]} rows
 * @param {number} width
 * @param {number} height
 */
export function deckPanel(seat, title, rows, width, height) {
  const { most, columns, firsts, lines } = deckLines(rows, width);
  const size = chipsOf(width);
  const head = 34;
  const pitch = (height - head - 6) / lines;
  return group(
    panel(width, height, false, { opacity: 0.92 }),
    plate(seat, title, { mark: [18, 19, 20], text: [34, 19, 13], room: width - 36 }),
    rows.map(({ card, chips }, index) => {
      const { column = 0, first = 0 } = firsts[index] ?? {};
      const x = (column * width) / columns;
      const y = head + (first + 0.5) * pitch;
      return [
        at(x + 17, y, motif(card, seat, 20)),
        chips.map((each, place) =>
          at(
            x + ICON + 8 + (place % most) * (size.width + size.gap) + size.width / 2,
            y + Math.floor(place / most) * pitch,
            deckChip(each, size),
          ),
        ),
      ];
    }),
  );
}

/**
 * @param {{value: number, isLeft: boolean}} chip
 * @param {{width: number, height: number}} size
 */
function deckChip({ value, isLeft }, { width, height }) {
  const fill = isLeft ? "var(--ink)" : "var(--ink-soft)";
  return [
    isLeft
      ? middleBox(width, height, 3.5, { fill: "var(--card)", stroke: "var(--ink-soft)", "stroke-width": 1.2 })
      : slot(width, height, { radius: 3.5, line: "var(--line)", thickness: 1, dash: "2.5 2" }),
    value > 0 && write(String(value), 0, 0, 12, { fill, weight: isLeft ? 700 : 400 }),
    value === 0 && isLeft && disc(0, 0, 3, "var(--ink-soft)"),
    !isLeft && line("M-6 7L6-7", "var(--ink-soft)", 1.1),
  ];
}

/**
 * Draw children, mirrored left to right if `isFlipped` is true.
 * @param {boolean} isFlipped
 * @param {...Child} children
 */
function flippedIf(isFlipped, ...children) {
  return isFlipped ? flipped(...children) : group(...children);
}

/**
 * Draw an invisible area that receives clicks.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function touchArea(x, y, width, height) {
  return box(round(x), round(y), round(width), round(height), 0, { fill: "transparent" });
}

/**
 * Draw sky, hills and the ground.
 * @param {number} width
 * @param {number} height
 * @param {number} horizon the y at which the ground begins
 */
export function landscape(width, height, horizon) {
  const hill = (/** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ right) =>
    path`M0 ${left}C${width * 0.25} ${top} ${width * 0.35} ${top} ${width * 0.5} ${(top + right) / 2}` +
    path`S${width * 0.8} ${right + 8} ${width} ${right - 6}V${height}H0Z`;
  const cloud = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ scale) =>
    placed(
      round(x),
      round(y),
      scale,
      0,
      shape("M-40 14C-56 14-56-6-38-6C-36-26-6-28 0-12C10-22 34-16 32-2C48-4 48 14 34 14Z", "#ffffff", {
        opacity: 0.3,
      }),
    );
  return group(
    s("rect", { width, height, fill: "#8accf2", opacity: 0.3 }),
    cloud(width * 0.14, horizon * 0.2, width / 900 + 0.3),
    cloud(width * 0.87, horizon * 0.36, width / 1000 + 0.4),
    shape(hill(horizon - 46, horizon - 78, horizon - 40), "var(--leaf)", { opacity: 0.22 }),
    shape(hill(horizon - 12, horizon - 22, horizon - 10), "var(--leaf)", { opacity: 0.38 }),
    shape(hill(horizon + 8, horizon, horizon + 10), "var(--leaf)", { opacity: 0.6 }),
  );
}

/**
 * Draw the trunk, around the middle of its foot.
 * @param {number} pitch the width of a space, in pixels
 * @param {number} top the height, in pixels
 * @param {number} foot the height of the part below the lowest branches, in pixels
 */
export function trunk(pitch, top, foot) {
  const low = pitch * 0.52;
  const high = pitch * 0.3;
  const root = pitch * 1.3;
  const knee = -foot * 0.45;
  const d =
    path`M${-root} 4C${-low * 1.5} 0 ${-low * 1.1} ${knee} ${-low} ${-foot}L${-high} ${-top}` +
    path`Q0 ${-top - high * 1.6} ${high} ${-top}L${low} ${-foot}` +
    path`C${low * 1.1} ${knee} ${low * 1.5} 0 ${root} 4Q${root * 0.5} -2 ${low * 0.7} 8` +
    path`Q0 -2 ${-low * 0.6} 8Q${-root * 0.5} -2 ${-root} 4Z`;
  const strokes = [];
  for (let at = 10; at < top; at += 23) {
    const x = (((at * 7) % 11) / 11 - 0.5) * high * 2.2;
    strokes.push(path`M${x} ${-at}q${at % 2 ? 3 : -3} -8 0 -15`);
  }
  return s(
    "g",
    { "pointer-events": "none" },
    shape(d, "var(--bark)"),
    shape(
      path`M${high * 0.35} ${-top}L${high} ${-top}L${low} ${-foot}` +
        path`C${low * 1.1} ${knee} ${low * 1.5} 0 ${root} 4` +
        path`C${low} 0 ${low * 0.4} ${knee} ${low * 0.4} ${-foot}Z`,
      "var(--bark-2)",
      { opacity: 0.4 },
    ),
    line(strokes.join(""), "var(--bark-2)", 2),
    outlined(d, "none", 1.6, "var(--bark-2)"),
  );
}

/**
 * Draw the leaves at the top of the tree, around the trunk's upper end.
 * @param {number} pitch the width of a space, in pixels
 */
export function crown(pitch) {
  /** @type {[number, number, number][]} */
  const tufts = [
    [-0.84, -0.3, 0.46],
    [-0.4, -0.6, 0.5],
    [0.12, -0.78, 0.52],
    [0.6, -0.55, 0.48],
    [0.9, -0.26, 0.4],
    [0, -0.3, 0.66],
  ];
  const scaled = tufts.map(([x, y, r]) => /** @type {const} */ ([x * pitch, y * pitch, r * pitch]));
  const lights = [
    [-0.45, -0.7],
    [0.2, -0.92],
    [-0.8, -0.35],
    [0.62, -0.62],
    [0.1, -0.5],
  ];
  return s(
    "g",
    { "pointer-events": "none" },
    foliage(scaled, 1),
    line(
      lights
        .map(
          ([x = 0, y = 0]) =>
            path`M${(x - 0.16) * pitch} ${y * pitch}q${pitch * 0.14} ${-pitch * 0.14} ` +
            path`${pitch * 0.32} 0`,
        )
        .join(""),
      "#ffffff55",
      2,
    ),
  );
}

/**
 * Draw a cloud of leaves.
 * @param {readonly (readonly [number, number, number])[]} tufts the x, y and radius of each tuft
 * @param {number} opacity
 */
function foliage(tufts, opacity) {
  const discs = tufts.map(([x, y, r]) => disc(round(x), round(y), round(r), "var(--leaf)", round(r * 0.9)));
  return s("g", { opacity }, discs);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} turn
 * @param {number} size
 */
function leaf(x, y, turn, size) {
  return placed(
    round(x),
    round(y),
    round(size) / 20,
    round(turn),
    outlined("M0 0C4-7 13-8 20 0C13 7 4 6 0 0Z", "var(--leaf)", 1, "var(--bark-2)"),
    line("M3 0H14", "var(--bark-2)", 0.8),
  );
}

/**
 * Draw a branch, around its end at the trunk.
 * @param {Limb} limb
 * @param {number} number varies the leaves
 * @param {{isPicked: boolean, isBroken: boolean, isLeft: boolean}} look if `isPicked` is true, the whole branch
 *   receives clicks; if `isLeft` is true, it grows to the left
 */
export function branch(limb, number, { isPicked, isBroken, isLeft }) {
  const { pitch, length } = limb;
  const leaves = [];
  for (let index = 0; index < 6; index++) {
    const x = pitch * (0.52 + index * 0.78);
    const at = Math.min(x, length);
    const wild = ((number * 5 + index * 3) % 7) - 3;
    leaves.push(leaf(at, limb.middle(at) + limb.half(at) - 1, 55 + wild * 9, pitch * 0.36));
    if (index % 2 === number % 2) {
      leaves.push(leaf(at + 3, limb.middle(at) + limb.half(at) - 1, 20 + wild * 6, pitch * 0.3));
    }
  }
  const tufts = [0.18, 0.36, 0.54, 0.72, 0.9].map((t, index) => {
    const wild = ((number * 3 + index * 5) % 4) / 4;
    return /** @type {const} */ ([
      length * t,
      limb.middle(length * t) - pitch * (0.16 + 0.2 * wild),
      pitch * (0.5 + 0.16 * wild),
    ]);
  });
  const tip = limb.middle(length);
  return flippedIf(
    isLeft,
    isPicked && touchArea(0, -limb.rise - pitch * 0.7, length + 4, limb.rise + pitch * 1.2),
    !isBroken && foliage(tufts, 0.5),
    leaves,
    shape(limb.outline(length, ""), "var(--bark)"),
    outlined(limb.outline(length, ""), "none", 1.4, "var(--bark-2)"),
    [-38, -8, 26].map((turn) => leaf(length - 2, tip, turn, pitch * 0.4)),
  );
}

/**
 * Draw the stump of a broken branch, around its end at the trunk.
 * @param {Limb} limb
 * @param {boolean} isLeft
 */
export function stump(limb, isLeft) {
  const end = limb.pitch * 0.72;
  const top = limb.top(end);
  const thick = limb.half(end) * 2;
  const tip =
    path`l${end * 0.3} -2l${-end * 0.22} ${thick * 0.3}l${end * 0.34} ${thick * 0.1}` +
    path`l${-end * 0.36} ${thick * 0.2}l${end * 0.2} ${thick * 0.26}`;
  return flippedIf(
    isLeft,
    outlined(limb.outline(end, tip), "var(--bark)", 1.4, "var(--bark-2)"),
    shape(path`M${end} ${top}${tip}L${end} ${top + thick}L${end * 0.9} ${top + thick / 2}Z`, "var(--carton)"),
  );
}

/**
 * Draw a space of the tree, around the position of an animal's paws.
 * @param {number} pitch the width of a space, in pixels
 * @param {{width: number, height: number}} reach the size of the area that receives clicks, in pixels
 * @param {{onTrunk: boolean, isTarget: boolean, isFree: boolean, isIdle: boolean}} look if `isIdle` is true, the space
 *   receives no clicks
 */
export function standing(pitch, reach, { onTrunk, isTarget, isFree, isIdle }) {
  const size = pitch * 0.36;
  return s(
    "g",
    { "pointer-events": isIdle ? "none" : "auto" },
    touchArea(-reach.width / 2, -reach.height * 0.82, reach.width, reach.height),
    onTrunk
      ? s("ellipse", {
          rx: round(size),
          ry: round(size * 0.5),
          cy: -2,
          fill: "var(--bark-2)",
          stroke: "var(--wall)",
        })
      : s("ellipse", {
          rx: round(size),
          ry: round(size * 0.26),
          cy: 1,
          fill: "var(--carton)",
          stroke: "var(--bark-2)",
        }),
    isFree &&
      isTarget &&
      at(
        0,
        -pitch * 0.36,
        s("circle", {
          r: round(pitch * 0.28),
          fill: "var(--surface)",
          stroke: "var(--pickable)",
          "stroke-width": 2.5,
        }),
        paw(pitch * 0.34, "var(--pickable)"),
      ),
  );
}

/**
 * Draw a cat in the tree, around its paws.
 * @param {number} seat
 * @param {number} size the height, in pixels
 * @param {{onTrunk: boolean, isLeft: boolean, ring: string | undefined, badge: "barred" | "moved" | undefined, reach: {width: number, height: number}}}
 *   look `ring` is the colour of the ring under a cat that can be or is picked, `reach` the size of the area that
 *   receives clicks
 */
export function climber(seat, size, { onTrunk, isLeft, ring, badge, reach }) {
  const cat = onTrunk ? catSitting(seat, size) : catPerched(seat, size);
  const high = onTrunk ? size * 0.46 : size * 0.17;
  return group(
    touchArea(-reach.width / 2, -reach.height * 0.82, reach.width, reach.height),
    ring &&
      s("ellipse", {
        rx: round(size * 0.46),
        ry: round(size * 0.15),
        fill: ring,
        "fill-opacity": 0.35,
        stroke: ring,
        "stroke-width": 2.5,
      }),
    at(0, -high, flippedIf(!isLeft && !onTrunk, cat)),
    badge && at(size * 0.24 * (isLeft || onTrunk ? 1 : -1), -size * (onTrunk ? 0.86 : 0.36), badgeOf(badge)),
  );
}

/** @param {"barred" | "moved"} badge */
function badgeOf(badge) {
  const look = { stroke: "#ffffff", "stroke-width": 1.6 };
  return badge === "barred"
    ? roundBadge(8, { fill: "#b3261e", ...look }, middleBox(9, 3, 1, { fill: "#ffffff" }))
    : roundBadge(8, { fill: "#0d7280", ...look }, line("M-3.6 0.4L-1 3L3.8-2.8", "#ffffff", 2.2));
}

/**
 * Draw a cat that waits on the ground, around its paws.
 * @param {number} seat
 * @param {number} size
 */
export function waiting(seat, size) {
  const cat = at(0, -size * 0.46, catSitting(seat, size));
  return s("g", { "pointer-events": "none" }, flippedIf(seat === 0, cat));
}

/**
 * Draw a bird, around its feet.
 * @param {number} size
 * @param {boolean} isLeft
 */
export function perchedBird(size, isLeft) {
  return flippedIf(!isLeft, at(0, -size * 0.44, bird(size)));
}

/**
 * Draw a token of solidity in its seat's colour. A face-down token is dark.
 * @param {number} seat
 * @param {string} said the text on the token
 * @param {number} size
 * @param {{isHidden?: boolean, isFull?: boolean, isBroken?: boolean, isIdle?: boolean, reach?: number}} [look] `isFull` is true if one
 *   more animal would break the branch, `isIdle` if the token receives no clicks, `reach` is the radius of the area that
 *   receives touches
 */
export function solidityToken(seat, said, size, { isHidden, isFull, isBroken, isIdle, reach } = {}) {
  const r = size / 2;
  const fill = isHidden ? "#6f4623" : isBroken ? "#cdbfae" : "#f1dcb8";
  const ink = isHidden ? "#fff3df" : "#2b201d";
  return s(
    "g",
    { transform: isBroken && "rotate(-14)", "pointer-events": isIdle && "none" },
    reach !== undefined && s("circle", { r: reach, fill: "transparent" }),
    s("circle", { cy: 1.5, r: round(r), fill: "var(--card-shadow)" }),
    s("circle", { r: round(r), fill: `var(--seat-${seat})`, stroke: "var(--cat-line)", "stroke-width": 1 }),
    s("circle", { r: round(r * 0.78), fill }),
    write(said, 0, 0, Math.max(12, size * (said.length > 1 ? 0.42 : 0.58)), { fill: ink }),
    isBroken &&
      line(
        path`M${r * 0.74} ${-r * 0.64}l${-r * 0.24} ${r * 0.22}l${r * 0.1} ${r * 0.24}` +
          path`l${-r * 0.24} ${r * 0.2}`,
        "#43312a",
        1.6,
      ),
    isFull &&
      slot(size + 5.2, size + 5.2, { radius: r + 2.6, line: "var(--bad)", thickness: 2.2, dash: "4 2.6" }),
  );
}

/**
 * Draw the place for a token.
 * @param {number} size
 */
export function freeToken(size) {
  const look = { radius: size / 2, line: "var(--ink-soft)", thickness: 1.6, dash: "3.4 3" };
  return s(
    "g",
    { "pointer-events": "none" },
    s("circle", { r: size / 2, fill: "var(--surface)", opacity: 0.75 }),
    slot(size, size, look),
  );
}
