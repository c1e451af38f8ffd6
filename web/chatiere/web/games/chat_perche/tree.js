// The tree of Chat perché, and who is in it, as drawings.

import { catPerched, catSitting } from "../../art/cats.js";
import { bird, paw } from "../../art/pieces.js";
import { disc, flipped, line, outlined, placed, shape } from "../../art/shapes.js";
import { s } from "../../dom.js";
import { path, round, text } from "./parts.js";

/**
 * An area that feels clicks and shows nothing.
 * @param {number} x @param {number} y @param {number} width @param {number} height
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
 * @param {number} width @param {number} height @param {number} horizon
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
 * @param {number} pitch @param {number} top @param {number} foot how much of it is below the lowest branches
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
 * @param {readonly (readonly [number, number, number])[]} tufts @param {number} opacity
 */
function foliage(tufts, opacity) {
  const discs = tufts.map(([x, y, r]) => disc(round(x), round(y), round(r), "var(--leaf)", round(r * 0.9)));
  return s("g", { opacity }, discs);
}

/** @param {number} x @param {number} y @param {number} turn @param {number} size */
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

/** How a branch bends: all measures follow from the pitch of its spaces. */
export class Limb {
  /** @param {number} pitch @param {number} rise @param {number} spaces */
  constructor(pitch, rise, spaces) {
    this.pitch = pitch;
    this.rise = rise;
    this.length = pitch * (spaces + 0.42);
  }

  /** How far out a space is. @param {number} place */
  outward(place) {
    return this.pitch * (place + 0.02);
  }

  /** The middle of the wood. @param {number} x */
  middle(x) {
    const t = x / this.length;
    return 2 * t * (1 - t) * (0.06 * this.pitch - 0.2 * this.rise) - t * t * this.rise;
  }

  /** Half of the wood's thickness. @param {number} x */
  half(x) {
    const t = x / this.length;
    return (
      this.pitch * (0.25 * (1 - t) ** 3 + 0.4 * t * (1 - t) ** 2 + 0.25 * t * t * (1 - t) + 0.035 * t ** 3)
    );
  }

  /** The upper edge. @param {number} x */
  top(x) {
    return this.middle(x) - this.half(x);
  }

  /** The outline, out to `end`; `tip`: how it ends. @param {number} end @param {string} tip */
  outline(end, tip) {
    const steps = Array.from({ length: 9 }, (_, index) => (index * end) / 8);
    const upper = steps.map((x) => path`${x} ${this.top(x)}`);
    const lower = steps.map((x) => path`${x} ${this.middle(x) + this.half(x)}`).reverse();
    return `M${upper.join("L")}${tip}L${lower.join("L")}Z`;
  }
}

/**
 * A branch to the right, around where it hangs.
 * @param {Limb} limb @param {number} number it makes the leaves differ
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
 * @param {number} pitch @param {{width: number, height: number}} reach
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
 * @param {number} seat @param {number} size
 * @param {{onTrunk: boolean, isLeft: boolean, ring: string | undefined,
 *   badge: "barred" | "moved" | undefined, reach: {width: number, height: number}}} look
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
 * @param {number} seat @param {number} size
 */
export function waiting(seat, size) {
  const cat = placed(0, round(-size * 0.46), 1, 0, catSitting(seat, size));
  return s("g", { "pointer-events": "none" }, seat === 0 ? flipped(cat) : cat);
}

/**
 * A bird, around its feet.
 * @param {number} size @param {boolean} isLeft
 */
export function perchedBird(size, isLeft) {
  const drawn = placed(0, round(-size * 0.44), 1, 0, bird(size));
  return isLeft ? drawn : flipped(drawn);
}

/**
 * A token of solidity in the colour of its seat. `said`: what it says; face down, it is dark.
 * @param {number} seat @param {string} said @param {number} size
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
