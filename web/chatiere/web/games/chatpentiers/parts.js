// The pieces of Chatpentiers: bricks and towers of castles, plates of players, marks.

import { cardFace, seatMark, suitSymbol } from "../../art/cards.js";
import { crown, sprayer } from "../../art/pieces.js";
import { s } from "../../dom.js";
import { keyOf } from "./picks.js";
import { suitOf, valueOf } from "./view.js";

/** @typedef {import("../../dom.js").Child} Child */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./view.js").Context} Context */

/** How much higher than wide a card is. */
export const RATIO = 1.4;
/** Cards are drawn this wide, and scaled. */
export const DRAWN = 100;

// The smallest height of a brick that has its value written on it.
const WRITTEN = 14;

/**
 * A text. `x`, `y`: the middle of the line, at the end that `anchor` names.
 * @param {string} content
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {{anchor?: "start" | "middle" | "end", fill?: string, weight?: number}} [options]
 */
export function text(content, x, y, size, { anchor = "start", fill = "var(--ink)", weight = 600 } = {}) {
  const made = s(
    "text",
    { x, y, dy: "0.35em", "font-size": size, "text-anchor": anchor, "font-weight": weight },
    content,
  );
  made.style.fill = fill;
  return made;
}

/**
 * About how wide a text is.
 * @param {string} content
 * @param {number} size
 */
export function widthOf(content, size) {
  return content.length * size * 0.64;
}

/**
 * A rounded rectangle.
 * @param {Box} box
 * @param {number} radius
 * @param {string} fill
 * @param {Record<string, unknown>} [attributes]
 */
export function plane({ x, y, width, height }, radius, fill, attributes = {}) {
  return s("rect", { x, y, width, height, rx: radius, fill, ...attributes });
}

/**
 * Children, moved.
 * @param {number} x
 * @param {number} y
 * @param {...Child} children
 */
export function at(x, y, ...children) {
  return s(
    "g",
    { transform: `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})` },
    ...children,
  );
}

/**
 * A card as a stone of a castle, around its middle.
 * @param {number} suit
 * @param {number} value
 * @param {number} width
 * @param {number} height
 */
export function brick(suit, value, width, height) {
  const colour = `var(--suit-${suit})`;
  const ink = `var(--suit-ink-${suit})`;
  const box = { x: -width / 2, y: -height / 2, width, height };
  const isWritten = height >= WRITTEN;
  const size = Math.max(12, Math.min(15, height * 0.68));
  if (!isWritten || width < 40) {
    return s(
      "g",
      {},
      plane(box, 3, colour, { stroke: "var(--cat-line)", "stroke-opacity": 0.55 }),
      isWritten
        ? text(String(value), 0, 0.5, size, { anchor: "middle", fill: ink, weight: 700 })
        : plane({ x: box.x + 2, y: box.y + 1.5, width: width - 4, height: 1.5 }, 1, "#ffffff55"),
    );
  }
  const tab = Math.max(24, width * 0.4);
  return s(
    "g",
    {},
    plane(box, 4, `var(--suit-soft-${suit})`),
    s("path", {
      d: `M${box.x + 4} ${box.y}h${tab - 4}v${height}h${4 - tab}a4 4 0 0 1-4-4v${8 - height}a4 4 0 0 1 4-4Z`,
      fill: colour,
    }),
    plane(box, 4, "none", { stroke: colour, "stroke-width": 2 }),
    text(String(value), box.x + tab / 2 + 1, 0.5, size, { anchor: "middle", fill: ink, weight: 700 }),
    at(box.x + (width + tab) / 2, 0, suitSymbol(suit, Math.min(height - 5, width - tab - 6))),
  );
}

/**
 * What a zone of a castle looks like. `step`: the height of a stone; `head`: of the battlements; `room`: of
 * the space that is kept for stones; `next`: where a card that is picked would come to lie, and its suit.
 * @typedef {object} Tower
 * @property {number} width
 * @property {number} step
 * @property {number} head
 * @property {number} foot
 * @property {boolean} isSection
 * @property {number} limit
 * @property {number} count
 * @property {number | undefined} suit
 * @property {number} points
 * @property {number} seat
 * @property {number} room
 * @property {{y: number, height: number, suit: number} | undefined} next
 */

/**
 * A section of a castle as a tower, or its zero zone as a pit; the origin is the middle of its ground line.
 * @param {Tower} tower
 */
export function tower(tower) {
  const { width, step, head, foot, isSection, limit, count, suit, room, next } = tower;
  const half = width / 2;
  const top = isSection ? limit * step + head * 0.42 : Math.max(1, count) * step + head * 0.6;
  return s(
    "g",
    {},
    // All of the column can be clicked.
    plane({ x: -half - 2, y: -room - head, width: width + 4, height: room + head + foot }, 0, "transparent"),
    isSection ? walls(tower) : zeroZone(tower),
    Array.from({ length: Math.max(0, limit - count) }, (_, index) => freeStone(tower, count + index + 1)),
    suit !== undefined && at(0, -top, shield(suit, Math.min(head * 1.25, width * 0.6))),
    next && nextStone(tower, next),
    counts(tower),
  );
}

/** @param {Tower} tower */
function walls({ width, step, head, limit, count, seat }) {
  const half = width / 2;
  const height = limit * step;
  return [
    count === limit && flag(half * 0.1, -height - head, Math.min(26, step + 5), seat),
    plane({ x: -half, y: -height - 1, width, height: height + 1 }, 0, "var(--carton)"),
    plane({ x: -half + 3, y: -height, width: width - 6, height }, 2, "var(--wall)"),
    s("path", {
      d: battlements(width, head, -height),
      fill: "var(--carton)",
      stroke: "var(--wall)",
      "stroke-linejoin": "round",
    }),
    s("path", { d: `M${-half} ${-height}V0M${half} ${-height}V0`, stroke: "var(--wall)" }),
  ];
}

/** @param {Tower} tower */
function zeroZone({ width, step, count }) {
  return [
    s("path", {
      d: pit(width / 2, step * 1.1),
      fill: "var(--wall)",
      "fill-opacity": 0.55,
      stroke: "var(--wall)",
      "stroke-dasharray": "3 3",
    }),
    count === 0 && at(0, -step * 0.55 - 4, sprayer(Math.min(28, width * 0.7, step * 1.5))),
  ];
}

/**
 * Where a stone is missing.
 * @param {Tower} tower
 * @param {number} nth from 1, at the ground
 */
function freeStone({ width, step }, nth) {
  return plane({ x: -width / 2 + 4.5, y: -nth * step + 2, width: width - 9, height: step - 4 }, 3, "none", {
    stroke: "var(--carton-2)",
    "stroke-width": 1.2,
    "stroke-dasharray": "3 3",
    "stroke-opacity": 0.9,
  });
}

/**
 * Where the card that is picked would come to lie.
 * @param {Tower} tower
 * @param {NonNullable<Tower["next"]>} next
 */
function nextStone({ width, limit, count }, { y, height, suit }) {
  const isFull = count >= limit;
  const box = { x: -width / 2 + 3, y: -height / 2 + 1, width: width - 6, height: height - 2 };
  const look = {
    stroke: isFull ? "var(--bad)" : `var(--suit-${suit})`,
    "stroke-width": 2.5,
    "stroke-dasharray": "4 3",
  };
  const size = Math.max(12, Math.min(18, height));
  return at(
    0,
    y,
    plane(box, 4, `var(--suit-soft-${suit})`, look),
    // The zone's name says how many cards it has and may have.
    s(
      "g",
      { "aria-hidden": "true" },
      text(isFull ? "!" : "+", 0, 0, size, { anchor: "middle", weight: 700 }),
    ),
  );
}

/**
 * How many stones a tower has and may have, and its points.
 * @param {Tower} tower
 */
function counts({ width, foot, isSection, limit, count, points }) {
  const isPerfect = isSection && count === limit;
  const isOver = count > limit;
  const half = width / 2;
  const said = width >= 62 ? signed(points) : "";
  const fill = isOver || isPerfect ? "var(--surface)" : "var(--ink)";
  const [y, size] = [3 + (foot - 5) / 2, foot >= 24 ? 14 : 12];
  const box = { x: -half + 1, y: 3, width: width - 2, height: Math.max(4, foot - 5) };
  return [
    plane(box, 5, isOver ? "var(--bad)" : isPerfect ? "var(--good)" : "var(--surface)", {
      stroke: "var(--wall)",
      "stroke-opacity": 0.5,
    }),
    foot >= 16 &&
      text(`${count}/${limit}`, said ? -half + 8 : 0, y, size, {
        anchor: said ? "start" : "middle",
        fill,
        weight: 700,
      }),
    said && text(said, half - 8, y, size, { anchor: "end", fill, weight: 700 }),
  ];
}

/**
 * Write points with their sign; those that are none as nothing.
 * @param {number} points
 */
export function signed(points) {
  return points === 0 ? "" : points > 0 ? `+${points}` : `−${-points}`;
}

/**
 * A castle's ground wall, under its towers.
 * @param {number} width
 * @param {number} height
 */
export function ground(width, height) {
  const rows = [];
  for (let x = 22; x < width - 10; x += 44) {
    rows.push(`M${x - width / 2} 0V${height / 2}M${x + 22 - width / 2} ${height / 2}V${height}`);
  }
  return s(
    "g",
    {},
    plane({ x: -width / 2, y: 0, width, height }, 5, "var(--carton-2)", { stroke: "var(--wall)" }),
    s("path", {
      d: `M${-width / 2} ${height / 2}H${width / 2}${rows.join("")}`,
      stroke: "var(--wall)",
      "stroke-opacity": 0.25,
    }),
  );
}

/**
 * The outline of the top of a tower.
 * @param {number} width
 * @param {number} height
 * @param {number} y its lower edge
 */
function battlements(width, height, y) {
  const half = width / 2;
  const tooth = (width + 4) / 5;
  const top = y - height;
  const notch = height * 0.3;
  let d = `M${-half - 2} ${y}V${top}`;
  for (let index = 0; index < 5; index++) {
    d += `h${tooth}${index === 4 ? "" : index % 2 === 0 ? `v${notch}` : `v${-notch}`}`;
  }
  return `${d}V${y}Z`;
}

/**
 * The outline of the zero zone.
 * @param {number} half
 * @param {number} depth
 */
function pit(half, depth) {
  return `M${-half} ${-depth}Q${3 - half} 0 ${5 - half} 0H${half - 5}Q${half - 3} 0 ${half} ${-depth}Z`;
}

/**
 * @param {number} suit
 * @param {number} size
 */
function shield(suit, size) {
  return s(
    "g",
    {},
    s("circle", {
      r: size / 2,
      fill: `var(--suit-soft-${suit})`,
      stroke: `var(--suit-${suit})`,
      "stroke-width": 1.5,
    }),
    suitSymbol(suit, size * 0.66),
  );
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {number} seat
 */
function flag(x, y, height, seat) {
  const size = height * 0.55;
  return at(
    x,
    y,
    s("path", {
      d: `M0 4V${-height}`,
      stroke: "var(--cat-line)",
      "stroke-width": 2,
      "stroke-linecap": "round",
    }),
    s("path", {
      d: `M0 ${-height}h${size * 1.5}l${-size * 0.4} ${size / 2} ${size * 0.4} ${size / 2}h${-size * 1.5}Z`,
      fill: `var(--seat-${seat})`,
      stroke: "var(--cat-line)",
      "stroke-linejoin": "round",
    }),
  );
}

/**
 * A suit that somebody doesn't hold.
 * @param {number} suit
 * @param {number} size
 */
function voidMark(suit, size) {
  const half = size / 2;
  return s(
    "g",
    {},
    plane({ x: -half, y: -half, width: size, height: size }, 4, `var(--suit-soft-${suit})`, {
      stroke: "var(--line)",
    }),
    suitSymbol(suit, size * 0.74),
    s("path", {
      d: `M${-half} ${half}L${half} ${-half}`,
      stroke: "var(--ink)",
      "stroke-width": 2,
      "stroke-linecap": "round",
    }),
  );
}

/**
 * What is said of a player. `kind`: over the castle in two lines ("full"), with the voids in a third
 * ("tall"), in one line ("line"); on small screens in a column ("side") or over a small castle ("above").
 * @typedef {object} Plate
 * @property {"full" | "tall" | "line" | "side" | "above"} kind
 * @property {number} seat
 * @property {string} name
 * @property {number} hand
 * @property {number | string} total
 * @property {boolean} leads
 * @property {readonly number[]} voids
 * @property {number} width
 * @property {number} mark
 */

/**
 * The plate of a player, from its upper left corner.
 * @param {Plate} plate
 */
export function plate({ kind, seat, name, hand, total, leads, voids, width, mark }) {
  const isSmall = kind === "side" || kind === "above";
  const size = isSmall ? 12 : mark >= 40 ? 16 : 14;
  const numbers = isSmall ? 13 : size - 1;
  const left = mark + (isSmall ? 5 : 8);
  const nameEnd = left + widthOf(name, size);
  const handWidth = 13 + widthOf(String(hand), numbers);
  const totalWidth = 19 + widthOf(String(total), numbers);
  const centre = mark / 2;
  const spot = {
    full: { mark: centre, name: [left, mark * 0.24], hand: [left, mark * 0.78], voids: [width, 9] },
    tall: {
      mark: centre,
      name: [left, mark * 0.24],
      hand: [left, mark * 0.78],
      voids: [undefined, mark + 16],
    },
    line: { mark: centre, name: [left, centre], hand: [nameEnd + 10, centre], voids: [width, centre] },
    side: { mark: 14 + centre, name: [0, 6], hand: [left, 20], voids: [undefined, 53] },
    above: { mark: 16 + centre, name: [0, 6], hand: [left, 16 + centre], voids: [undefined, 52] },
  }[kind];
  const [handX = 0, handY = 0] = spot.hand;
  const [totalX, totalY] =
    kind === "side" ? [handX, handY + 16] : [handX + handWidth + (isSmall ? 4 : 10), handY];
  const flag = isSmall ? [width - 6, 7] : [totalX + totalWidth + 12, totalY];
  const [voidsEnd, voidsY = 0] = spot.voids;
  const high = isSmall ? 16 : 18;
  const taken = voidsEnd === undefined ? 0 : kind === "line" ? totalX + totalWidth + 24 : nameEnd + 6;
  const step = Math.min(high + 4, (width - taken - high) / Math.max(1, voids.length - 1));
  const voidsX = voidsEnd === undefined ? high / 2 : voidsEnd - high / 2 - (voids.length - 1) * step;
  return s(
    "g",
    {},
    at(centre, spot.mark, seatMark(seat, mark)),
    text(name, spot.name[0] ?? 0, spot.name[1] ?? 0, size, { weight: 700 }),
    plane({ x: handX, y: handY - 6.5, width: 9, height: 13 }, 2, "var(--card-back)", {
      stroke: "var(--card-back-2)",
    }),
    text(String(hand), handX + 13, handY, numbers),
    at(totalX + (kind === "side" ? 5 : 7), totalY, crown(15)),
    text(String(total), totalX + (kind === "side" ? 13 : 17), totalY, numbers),
    leads && at(flag[0] ?? 0, flag[1] ?? 0, pennant()),
    voids.map((suit, index) => at(voidsX + index * step, voidsY, voidMark(suit, high))),
  );
}

/** The mark of the player who leads. */
function pennant() {
  return s(
    "g",
    {},
    s("path", { d: "M-5 8V-8", stroke: "var(--ink)", "stroke-width": 2, "stroke-linecap": "round" }),
    s("path", {
      d: "M-5-8L7-4-5 1Z",
      fill: "var(--accent)",
      stroke: "var(--ink)",
      "stroke-linejoin": "round",
    }),
  );
}

/**
 * Where a card of the trick lies, with what is said under it.
 * @param {number} width
 * @param {string} caption
 * @param {number} size
 * @param {boolean} isActive
 * @param {boolean} isSoft
 */
export function slot(width, caption, size, isActive, isSoft) {
  const box = { x: -width / 2, y: (-width * RATIO) / 2, width, height: width * RATIO };
  const colour = isActive ? "var(--accent)" : "var(--table-line)";
  return s(
    "g",
    {},
    isActive &&
      plane({ x: box.x - 4, y: box.y - 4, width: width + 8, height: box.height + 8 }, 10, "var(--accent)", {
        "fill-opacity": 0.25,
        stroke: "var(--accent)",
        "stroke-width": 2,
      }),
    plane(box, 7, "var(--table)", { stroke: colour, "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
    text(caption, 0, box.height / 2 + size + 4, size, {
      anchor: "middle",
      fill: isActive ? "var(--accent)" : isSoft ? "var(--ink-soft)" : "var(--ink)",
      weight: isActive ? 700 : 600,
    }),
  );
}

/**
 * Where a card lies, and what can be done with it.
 * @typedef {object} CardPlace
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} layer
 * @property {string} label
 * @property {boolean} pick
 * @property {boolean} [isDim]
 * @property {{x: number, y: number, scale: number} | undefined} [from]
 */

/**
 * A card, face up.
 * @param {Context} context
 * @param {number} number
 * @param {CardPlace} how
 * @returns {Item}
 */
export function card({ details }, number, { x, y, width, layer, label, pick, isDim = false, from }) {
  const suit = suitOf(details, number);
  const value = String(valueOf(details, number));
  const isSmall = width < 66;
  const height = DRAWN * RATIO;
  const face = {
    band: `var(--suit-${suit})`,
    bandInk: `var(--suit-ink-${suit})`,
    soft: `var(--suit-soft-${suit})`,
  };
  const draw = () =>
    s(
      "g",
      {},
      isSmall
        ? cardFace(DRAWN, height, {
            ...face,
            motif: s(
              "g",
              {},
              text(value, 0, -30, 52, { anchor: "middle", fill: "var(--card-ink)", weight: 700 }),
              at(0, 28, suitSymbol(suit, 56)),
            ),
          })
        : cardFace(DRAWN, height, { ...face, corner: value, motif: suitSymbol(suit, 54) }),
      isDim &&
        plane({ x: -DRAWN / 2, y: -height / 2, width: DRAWN, height }, 9, "var(--table)", { opacity: 0.55 }),
    );
  return {
    key: keyOf(number),
    x,
    y,
    scale: width / DRAWN,
    layer,
    stamp: `face ${isSmall} ${isDim}`,
    draw,
    label,
    ...(from && { from }),
    ...(pick && { pick: keyOf(number) }),
  };
}
