// How the things of Chat perché look: rugs, plates, the dogs' track, cards and decks; the tree and who is in it.

import { cardFace, seatMark } from "../../art/cards.js";
import { catFace, catFalling, catPerched, catSitting } from "../../art/cats.js";
import { bird, dog, paw } from "../../art/pieces.js";
import { disc, flipped, line, outlined, path, placed, round, shape } from "../../art/shapes.js";
import { s } from "../../dom.js";
import { chipsOf, deckLines, ICON } from "./layout.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheCardInfoJson} CardInfo */
/** @typedef {import("./layout.js").Limb} Limb */

/**
 * A text.
 * @param {string} said
 * @param {number} x
 * @param {number} y
 * @param {{size?: number, fill?: string, anchor?: "start" | "middle" | "end", weight?: number}} [options]
 */
export function text(said, x, y, { size = 13, fill = "var(--ink)", anchor = "middle", weight = 600 } = {}) {
  const place = { x: round(x), y: round(y), dy: "0.36em", "text-anchor": anchor };
  return s("text", { ...place, fill, "font-size": size, "font-weight": weight }, said);
}

/**
 * Shorten a text so that it fits a width. `letter`: how wide a letter is.
 * @param {string} said
 * @param {number} width
 * @param {number} letter
 */
function fitted(said, width, letter) {
  const most = Math.floor(width / letter);
  return said.length <= most ? said : `${said.slice(0, Math.max(1, most - 1))}…`;
}

/**
 * The rug on which a seat's cats wait, around its middle.
 * @param {number} seat
 * @param {number} width
 * @param {number} height
 * @param {string} [ring]
 */
export function rug(seat, width, height, ring) {
  return s(
    "g",
    {},
    s("rect", {
      x: -width / 2,
      y: -height / 2,
      width,
      height,
      rx: 14,
      fill: `var(--seat-${seat})`,
      opacity: 0.34,
    }),
    s("rect", {
      x: -width / 2 + 3.5,
      y: -height / 2 + 3.5,
      width: width - 7,
      height: height - 7,
      rx: 11,
      fill: "none",
      stroke: ring ?? `var(--seat-${seat})`,
      "stroke-width": ring ? 3 : 1.6,
      "stroke-dasharray": ring ? null : "7 4",
    }),
  );
}

/**
 * How many, on a round mark.
 * @param {number} count
 */
export function tally(count) {
  return s(
    "g",
    { "pointer-events": "none" },
    s("circle", { r: 12, fill: "var(--surface)", stroke: "var(--line)" }),
    text(String(count), 0, 0, { size: 13, weight: 700 }),
  );
}

/**
 * Who sits where: mark, name and a line more, around the left of its middle.
 * @param {number} seat
 * @param {string} name
 * @param {string} more
 * @param {number} width
 * @param {boolean} isActive
 */
export function plate(seat, name, more, width, isActive) {
  return s(
    "g",
    {},
    s("rect", {
      x: 0,
      y: -18,
      width,
      height: 36,
      rx: 18,
      fill: "var(--surface)",
      stroke: isActive ? "var(--accent)" : "var(--line)",
      "stroke-width": isActive ? 2.4 : 1,
    }),
    placed(17, 0, 1, 0, seatMark(seat, 28)),
    text(fitted(name, width - 36, 8.8), 33, -7, { anchor: "start", weight: 700 }),
    text(fitted(more, width - 36, 7), 33, 8, {
      anchor: "start",
      size: 12,
      fill: "var(--ink-soft)",
      weight: 500,
    }),
  );
}

/**
 * The way of the dogs, around its beginning.
 * @param {number} step
 * @param {number} steps
 * @param {number} dogs
 */
export function track(step, steps, dogs) {
  const r = Math.min(4.5, step * 0.32);
  const end = step * steps;
  const marks = Array.from({ length: steps }, (_, index) =>
    index < dogs && step >= 14
      ? placed(round(index * step), 0, 1, 90, paw(11, "var(--bark-2)"))
      : disc(round(index * step), 0, round(r), index < dogs ? "var(--bark-2)" : "var(--surface)"),
  );
  return s(
    "g",
    {},
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
 * The wire on which birds wait, from its left end.
 * @param {number} length
 */
export function wire(length) {
  return line(path`M0 0Q${length * 0.5} 5 ${length} -2`, "var(--ink-soft)", 1.6);
}

/**
 * The dogs, around their middle.
 * @param {number} size
 */
export function pack(size) {
  return s(
    "g",
    {},
    placed(round(-size * 0.5), round(-size * 0.1), 1, 0, dog(size * 0.82, "#8d8378")),
    dog(size),
  );
}

/**
 * A card's motif, around its middle.
 * @param {CardInfo} card
 * @param {number} seat whose card it is
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
        placed(round(size * 0.24), round(-size * 0.16), 1, 0, catFace(coat, size * 0.74)),
        placed(round(-size * 0.22), round(size * 0.14), 1, 0, catFace(coat, size * 0.74)),
      ];
    default:
      return catFace(coat, size);
  }
}

/**
 * The card that is turned up. `left`: what is left of its steps, as text.
 * @param {CardInfo} card
 * @param {number} seat
 * @param {number} width
 * @param {string} left
 */
export function turnedUp(card, seat, width, left) {
  const height = width * 1.38;
  const pill = Math.max(40, left.length * 7.6 + 30);
  return s(
    "g",
    {},
    cardFace(width, height, {
      band: `var(--seat-${seat})`,
      motif: placed(0, round(-height * 0.02), 1, 0, motif(card, seat, width * 0.62)),
    }),
    left &&
      placed(
        0,
        round(height / 2 - 5),
        1,
        0,
        s("rect", {
          x: -pill / 2,
          y: -12,
          width: pill,
          height: 24,
          rx: 12,
          fill: "var(--surface)",
          stroke: "var(--accent)",
          "stroke-width": 1.6,
        }),
        placed(-pill / 2 + 14, 0, 1, 0, paw(13, "var(--accent)")),
        text(left, 9, 0, { size: 14, weight: 700 }),
      ),
  );
}

/**
 * A seat's deck, from the upper left corner: what is left of it is bright.
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
  return s(
    "g",
    {},
    s("rect", { width, height, rx: 12, fill: "var(--surface)", stroke: "var(--line)", opacity: 0.92 }),
    placed(18, 19, 1, 0, seatMark(seat, 20)),
    text(title, 34, 19, { anchor: "start", size: 13, weight: 700 }),
    rows.map(({ card, chips }, index) => {
      const { column = 0, first = 0 } = firsts[index] ?? {};
      const x = (column * width) / columns;
      const y = head + (first + 0.5) * pitch;
      return [
        placed(x + 17, round(y), 1, 0, motif(card, seat, 20)),
        chips.map((each, at) =>
          placed(
            round(x + ICON + 8 + (at % most) * (size.width + size.gap) + size.width / 2),
            round(y + Math.floor(at / most) * pitch),
            1,
            0,
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
  const box = { x: -width / 2, y: -height / 2, width, height, rx: 3.5 };
  return [
    s(
      "rect",
      isLeft
        ? { ...box, fill: "var(--card)", stroke: "var(--ink-soft)", "stroke-width": 1.2 }
        : { ...box, fill: "none", stroke: "var(--line)", "stroke-dasharray": "2.5 2" },
    ),
    value > 0 &&
      text(String(value), 0, 0, {
        size: 12,
        fill: isLeft ? "var(--ink)" : "var(--ink-soft)",
        weight: isLeft ? 700 : 400,
      }),
    value === 0 && isLeft && disc(0, 0, 3, "var(--ink-soft)"),
    !isLeft && line("M-6 7L6-7", "var(--ink-soft)", 1.1),
  ];
}

/**
 * An area that feels clicks and shows nothing.
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function touchArea(x, y, width, height) {
  return s("rect", {
    x: round(x),
    y: round(y),
    width: round(width),
    height: round(height),
    fill: "transparent",
  });
}

/**
 * Sky, hills and the ground. `horizon`: where the ground begins.
 * @param {number} width
 * @param {number} height
 * @param {number} horizon
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
  return s(
    "g",
    {},
    s("rect", { width, height, fill: "#8accf2", opacity: 0.3 }),
    cloud(width * 0.14, horizon * 0.2, width / 900 + 0.3),
    cloud(width * 0.87, horizon * 0.36, width / 1000 + 0.4),
    shape(hill(horizon - 46, horizon - 78, horizon - 40), "var(--leaf)", { opacity: 0.22 }),
    shape(hill(horizon - 12, horizon - 22, horizon - 10), "var(--leaf)", { opacity: 0.38 }),
    shape(hill(horizon + 8, horizon, horizon + 10), "var(--leaf)", { opacity: 0.6 }),
  );
}

/**
 * The trunk, around the middle of its foot. `top`: how high it is.
 * @param {number} pitch
 * @param {number} top
 * @param {number} foot how much of it is below the lowest branches
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
 * The leaves on top of the tree, around the trunk's upper end.
 * @param {number} pitch
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
 * A cloud of leaves; each tuft is x, y and radius.
 * @param {readonly (readonly [number, number, number])[]} tufts
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
 * A branch to the right, around where it hangs.
 * @param {Limb} limb
 * @param {number} number it makes the leaves differ
 * @param {{isPicked: boolean, isBroken: boolean}} look `isPicked`: a click is felt all along it
 */
export function branch(limb, number, { isPicked, isBroken }) {
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
  return s(
    "g",
    {},
    isPicked && touchArea(0, -limb.rise - pitch * 0.7, length + 4, limb.rise + pitch * 1.2),
    !isBroken && foliage(tufts, 0.5),
    leaves,
    shape(limb.outline(length, ""), "var(--bark)"),
    outlined(limb.outline(length, ""), "none", 1.4, "var(--bark-2)"),
    [-38, -8, 26].map((turn) => leaf(length - 2, tip, turn, pitch * 0.4)),
  );
}

/**
 * What is left of a broken branch, around where it hung.
 * @param {Limb} limb
 */
export function stump(limb) {
  const end = limb.pitch * 0.72;
  const top = limb.top(end);
  const thick = limb.half(end) * 2;
  const tip =
    path`l${end * 0.3} -2l${-end * 0.22} ${thick * 0.3}l${end * 0.34} ${thick * 0.1}` +
    path`l${-end * 0.36} ${thick * 0.2}l${end * 0.2} ${thick * 0.26}`;
  return s(
    "g",
    {},
    outlined(limb.outline(end, tip), "var(--bark)", 1.4, "var(--bark-2)"),
    shape(path`M${end} ${top}${tip}L${end} ${top + thick}L${end * 0.9} ${top + thick / 2}Z`, "var(--carton)"),
  );
}

/**
 * A place to stand on, around where the paws are. `reach`: the width and height that feel clicks.
 * @param {number} pitch
 * @param {{width: number, height: number}} reach
 * @param {{onTrunk: boolean, isTarget: boolean, isFree: boolean}} look
 */
export function standing(pitch, reach, { onTrunk, isTarget, isFree }) {
  const size = pitch * 0.36;
  return s(
    "g",
    {},
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
      placed(
        0,
        round(-pitch * 0.36),
        1,
        0,
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
 * A cat in the tree, around its paws.
 * @param {number} seat
 * @param {number} size
 * @param {{onTrunk: boolean, isLeft: boolean, ring: string | undefined, badge: "barred" | "moved" | undefined, reach: {width: number, height: number}}}
 *   look
 */
export function climber(seat, size, { onTrunk, isLeft, ring, badge, reach }) {
  const cat = onTrunk ? catSitting(seat, size) : catPerched(seat, size);
  const high = onTrunk ? size * 0.46 : size * 0.17;
  return s(
    "g",
    {},
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
    placed(0, round(-high), 1, 0, isLeft || onTrunk ? cat : flipped(cat)),
    badge &&
      placed(
        round(size * 0.24 * (isLeft || onTrunk ? 1 : -1)),
        round(-size * (onTrunk ? 0.86 : 0.36)),
        1,
        0,
        badgeOf(badge),
      ),
  );
}

/** @param {"barred" | "moved"} badge */
function badgeOf(badge) {
  return badge === "barred"
    ? [
        s("circle", { r: 8, fill: "#b3261e", stroke: "#ffffff", "stroke-width": 1.6 }),
        s("rect", { x: -4.5, y: -1.5, width: 9, height: 3, rx: 1, fill: "#ffffff" }),
      ]
    : [
        s("circle", { r: 8, fill: "#0d7280", stroke: "#ffffff", "stroke-width": 1.6 }),
        line("M-3.6 0.4L-1 3L3.8-2.8", "#ffffff", 2.2),
      ];
}

/**
 * A cat that waits on the ground, around its paws.
 * @param {number} seat
 * @param {number} size
 */
export function waiting(seat, size) {
  const cat = placed(0, round(-size * 0.46), 1, 0, catSitting(seat, size));
  return s("g", { "pointer-events": "none" }, seat === 0 ? flipped(cat) : cat);
}

/**
 * A bird, around its feet.
 * @param {number} size
 * @param {boolean} isLeft
 */
export function perchedBird(size, isLeft) {
  const drawn = placed(0, round(-size * 0.44), 1, 0, bird(size));
  return isLeft ? drawn : flipped(drawn);
}

/**
 * A token of solidity in the colour of its seat. `said`: what it says; face down, it is dark.
 * @param {number} seat
 * @param {string} said
 * @param {number} size
 * @param {{isHidden?: boolean, isFull?: boolean, isBroken?: boolean}} [look] `isFull`: one more is too many
 */
export function solidityToken(seat, said, size, { isHidden, isFull, isBroken } = {}) {
  const r = size / 2;
  const fill = isHidden ? "#6f4623" : isBroken ? "#cdbfae" : "#f1dcb8";
  const ink = isHidden ? "#fff3df" : "#2b201d";
  return s(
    "g",
    { transform: isBroken ? "rotate(-14)" : null },
    s("circle", { cy: 1.5, r: round(r), fill: "var(--card-shadow)" }),
    s("circle", { r: round(r), fill: `var(--seat-${seat})`, stroke: "var(--cat-line)", "stroke-width": 1 }),
    s("circle", { r: round(r * 0.78), fill }),
    text(said, 0, 0, {
      size: Math.max(12, round(size * (said.length > 1 ? 0.42 : 0.58))),
      fill: ink,
      weight: 700,
    }),
    isBroken &&
      line(
        path`M${r * 0.74} ${-r * 0.64}l${-r * 0.24} ${r * 0.22}l${r * 0.1} ${r * 0.24}` +
          path`l${-r * 0.24} ${r * 0.2}`,
        "#43312a",
        1.6,
      ),
    isFull &&
      s("circle", {
        r: round(r + 2.6),
        fill: "none",
        stroke: "var(--bad)",
        "stroke-width": 2.2,
        "stroke-dasharray": "4 2.6",
      }),
  );
}

/**
 * Where a token can be put.
 * @param {number} size
 */
export function freeToken(size) {
  const r = round(size / 2);
  return s(
    "g",
    { "pointer-events": "none" },
    s("circle", { r, fill: "var(--surface)", opacity: 0.75 }),
    s("circle", {
      r,
      fill: "none",
      stroke: "var(--ink-soft)",
      "stroke-width": 1.6,
      "stroke-dasharray": "3.4 3",
    }),
  );
}
