// The parts of Chatpentiers' drawing: bricks and towers of castles, plates of players, marks. Sizes are in pixels.

import { cardFace, suitColours, suitSymbol } from "../../art/cards.js";
import { crown, sprayer } from "../../art/pieces.js";
import { at, box, group, line, middleBox, outlined, shape } from "../../art/shapes.js";
import { plate, roundBadge, slot, stepOf } from "../../art/table_pieces.js";
import { widthOf, write } from "../../art/text.js";
import { s } from "../../dom.js";
import { keyOf } from "./picks.js";
import { suitOf, valueOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./view.js").Context} Context */

/** The height of a card divided by its width. */
export const RATIO = 1.4;
/** The width of a card before it is scaled. */
export const DRAWN = 100;

// The smallest height of a brick that shows its value, in pixels.
const WRITTEN = 14;

/**
 * Draw a card as a stone of a castle, around its middle.
 * @param {number} suit
 * @param {number} value
 * @param {number} width
 * @param {number} height
 */
export function brick(suit, value, width, height) {
  const { band, bandInk, soft } = suitColours(suit);
  const isWritten = height >= WRITTEN;
  const size = Math.max(12, Math.min(15, height * 0.68));
  if (!isWritten || width < 40) {
    return group(
      middleBox(width, height, 3, { fill: band, stroke: "var(--cat-line)", "stroke-opacity": 0.55 }),
      isWritten
        ? write(String(value), 0, 0.5, size, { fill: bandInk })
        : box(2 - width / 2, 1.5 - height / 2, width - 4, 1.5, 1, { fill: "#ffffff55" }),
    );
  }
  const tab = Math.max(24, width * 0.4);
  const left = -width / 2;
  return group(
    middleBox(width, height, 4, { fill: soft }),
    shape(
      `M${left + 4} ${-height / 2}h${tab - 4}v${height}h${4 - tab}a4 4 0 0 1-4-4v${8 - height}a4 4 0 0 1 4-4Z`,
      band,
    ),
    middleBox(width, height, 4, { fill: "none", stroke: band, "stroke-width": 2 }),
    write(String(value), left + tab / 2 + 1, 0.5, size, { fill: bandInk }),
    at(left + (width + tab) / 2, 0, suitSymbol(suit, Math.min(height - 5, width - tab - 6))),
  );
}

/**
 * The contents and sizes of a zone of a castle. Sizes are in pixels.
 * @typedef {object} Tower
 * @property {number} width
 * @property {number} step the height of a stone
 * @property {number} head the height of the battlements
 * @property {number} foot the height of the ground wall
 * @property {boolean} isSection false for the zero zone
 * @property {number} limit the maximum number of cards
 * @property {number} count the number of cards
 * @property {number | undefined} suit undefined if the zone is empty
 * @property {number} points
 * @property {number} seat
 * @property {number} room the height of the space for stones
 * @property {{y: number, height: number, suit: number} | undefined} next the position of the picked card if it were
 *   placed here, and its suit
 */

/**
 * Draw a section of a castle as a tower, or its zero zone as a pit. The origin is the middle of the ground line.
 * @param {Tower} tower
 */
export function tower(tower) {
  const { width, step, head, foot, isSection, limit, count, suit, room, next } = tower;
  const half = width / 2;
  const top = isSection ? limit * step + head * 0.42 : Math.max(1, count) * step + head * 0.6;
  return group(
    // The whole column receives clicks.
    box(-half - 2, -room - head, width + 4, room + head + foot, 0, { fill: "transparent" }),
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
    box(-half, -height - 1, width, height + 1, 0, { fill: "var(--carton)" }),
    box(-half + 3, -height, width - 6, height, 2, { fill: "var(--wall)" }),
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
 * Draw the place of a missing stone.
 * @param {Tower} tower
 * @param {number} nth the stone's number, from 1 at the ground
 */
function freeStone({ width, step }, nth) {
  const look = { radius: 3, line: "var(--carton-2)", thickness: 1.2, dash: "3 3" };
  return at(0, (0.5 - nth) * step, slot(width - 9, step - 4, look));
}

/**
 * Draw the place that the picked card would take.
 * @param {Tower} tower
 * @param {NonNullable<Tower["next"]>} next
 */
function nextStone({ width, limit, count }, { y, height, suit }) {
  const isFull = count >= limit;
  const size = Math.max(12, Math.min(18, height));
  const { band, soft } = suitColours(suit);
  const look = { radius: 4, fill: soft, thickness: 2.5, dash: "4 3" };
  return at(
    0,
    y,
    slot(width - 6, height - 2, { ...look, line: isFull ? "var(--bad)" : band }),
    // The zone's label has the number of cards and the limit.
    s("g", { "aria-hidden": "true" }, write(isFull ? "!" : "+", 0, 0, size)),
  );
}

/**
 * Draw the number of stones, the limit and the points of a tower.
 * @param {Tower} tower
 */
function counts({ width, foot, isSection, limit, count, points }) {
  const isPerfect = isSection && count === limit;
  const isOver = count > limit;
  const half = width / 2;
  const said = width >= 62 ? signed(points) : "";
  const fill = isOver || isPerfect ? "var(--surface)" : "var(--ink)";
  const [y, size] = [3 + (foot - 5) / 2, foot >= 24 ? 14 : 12];
  return [
    box(1 - half, 3, width - 2, Math.max(4, foot - 5), 5, {
      fill: isOver ? "var(--bad)" : isPerfect ? "var(--good)" : "var(--surface)",
      stroke: "var(--wall)",
      "stroke-opacity": 0.5,
    }),
    foot >= 16 &&
      write(`${count}/${limit}`, said ? -half + 8 : 0, y, size, {
        anchor: said ? "start" : "middle",
        fill,
      }),
    said && write(said, half - 8, y, size, { anchor: "end", fill }),
  ];
}

/**
 * Return points with their sign; "" for 0.
 * @param {number} points
 */
export function signed(points) {
  return points === 0 ? "" : points > 0 ? `+${points}` : `−${-points}`;
}

/**
 * Draw the ground wall under a castle's towers.
 * @param {number} width
 * @param {number} height
 */
export function ground(width, height) {
  const rows = [];
  for (let x = 22; x < width - 10; x += 44) {
    rows.push(`M${x - width / 2} 0V${height / 2}M${x + 22 - width / 2} ${height / 2}V${height}`);
  }
  return group(
    box(-width / 2, 0, width, height, 5, { fill: "var(--carton-2)", stroke: "var(--wall)" }),
    s("path", {
      d: `M${-width / 2} ${height / 2}H${width / 2}${rows.join("")}`,
      stroke: "var(--wall)",
      "stroke-opacity": 0.25,
    }),
  );
}

/**
 * Return the outline of a tower's battlements as a path.
 * @param {number} width
 * @param {number} height
 * @param {number} y the lower edge
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
 * Return the outline of the zero zone as a path.
 * @param {number} half half of its width
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
  const { band, soft } = suitColours(suit);
  const look = { fill: soft, stroke: band, "stroke-width": 1.5 };
  return roundBadge(size / 2, look, suitSymbol(suit, size * 0.66));
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {number} seat
 */
function flag(x, y, height, seat) {
  const size = height * 0.55;
  const cloth = `M0 ${-height}h${size * 1.5}l${-size * 0.4} ${size / 2} ${size * 0.4} ${size / 2}h${-size * 1.5}Z`;
  return at(x, y, line(`M0 4V${-height}`, "var(--cat-line)", 2), outlined(cloth, `var(--seat-${seat})`, 1));
}

/**
 * Draw the mark of a suit that a player does not hold.
 * @param {number} suit
 * @param {number} size
 */
function voidMark(suit, size) {
  const half = size / 2;
  return group(
    middleBox(size, size, 4, { fill: suitColours(suit).soft, stroke: "var(--line)" }),
    suitSymbol(suit, size * 0.74),
    line(`M${-half} ${half}L${half} ${-half}`, "var(--ink)", 2),
  );
}

/**
 * The contents of a player's plate.
 * @typedef {object} Plate
 * @property {"full" | "tall" | "line" | "side" | "above"} kind the arrangement: above the castle in two lines ("full"),
 *   with the voids in a third line ("tall") or in one line ("line"); on small screens in a column ("side") or above a
 *   small castle ("above")
 * @property {number} seat
 * @property {string} name
 * @property {number} hand the number of cards in hand
 * @property {number | string} total the points
 * @property {boolean} leads true if the player leads the trick
 * @property {readonly number[]} voids the suits that the player is known not to hold
 * @property {number} width in pixels
 * @property {number} mark the size of the seat's mark, in pixels
 */

/**
 * Draw the plate of a player, from its upper left corner.
 * @param {Plate} plate
 */
export function seatPlate({ kind, seat, name, hand, total, leads, voids, width, mark }) {
  const isSmall = kind === "side" || kind === "above";
  const size = isSmall ? 12 : mark >= 40 ? 16 : 14;
  const numbers = isSmall ? 13 : size - 1;
  const left = mark + (isSmall ? 5 : 8);
  // The width of the marks after the name: the pennant on a small plate, the voids, which may overlap, on a full one.
  const ending = isSmall ? (leads ? 14 : 0) : kind === "full" && voids.length > 0 ? 16 + 8 * voids.length : 0;
  const room = kind === "line" ? width / 2 : width - (isSmall ? 0 : left) - ending;
  const nameEnd = left + Math.min(room, widthOf(name, size));
  const handWidth = 13 + widthOf(String(hand), numbers, 600);
  const totalWidth = 19 + widthOf(String(total), numbers, 600);
  const centre = mark / 2;
  const full = { mark: centre, name: [left, mark * 0.24], hand: [left, mark * 0.78], voids: [width, 9] };
  const spot = {
    full,
    tall: { ...full, voids: [undefined, mark + 16] },
    line: { mark: centre, name: [left, centre], hand: [nameEnd + 10, centre], voids: [width, centre] },
    side: { mark: 14 + centre, name: [0, 6], hand: [left, 20], voids: [undefined, 53] },
    above: { mark: 16 + centre, name: [0, 6], hand: [left, 16 + centre], voids: [undefined, 52] },
  }[kind];
  const [nameX = 0, nameY = 0] = spot.name;
  const [handX = 0, handY = 0] = spot.hand;
  const [totalX, totalY] =
    kind === "side" ? [handX, handY + 16] : [handX + handWidth + (isSmall ? 4 : 10), handY];
  const flag = isSmall ? [width - 6, 7] : [totalX + totalWidth + 12, totalY];
  const [voidsEnd, voidsY = 0] = spot.voids;
  const high = isSmall ? 16 : 18;
  const taken = voidsEnd === undefined ? 0 : kind === "line" ? totalX + totalWidth + 24 : nameEnd + 6;
  const step = stepOf(voids.length, high + 4, width - taken - high);
  const voidsX = voidsEnd === undefined ? high / 2 : voidsEnd - high / 2 - (voids.length - 1) * step;
  return group(
    plate(seat, name, { mark: [centre, spot.mark, mark], text: [nameX, nameY, size], room }),
    box(handX, handY - 6.5, 9, 13, 2, { fill: "var(--card-back)", stroke: "var(--card-back-2)" }),
    write(String(hand), handX + 13, handY, numbers, { anchor: "start", weight: 600 }),
    at(totalX + (kind === "side" ? 5 : 7), totalY, crown(15)),
    write(String(total), totalX + (kind === "side" ? 13 : 17), totalY, numbers, {
      anchor: "start",
      weight: 600,
    }),
    leads && at(flag[0] ?? 0, flag[1] ?? 0, pennant()),
    voids.map((suit, index) => at(voidsX + index * step, voidsY, voidMark(suit, high))),
  );
}

/** Draw the mark of the player who leads the trick. */
function pennant() {
  return group(
    line("M-5 8V-8", "var(--ink)", 2),
    outlined("M-5-8L7-4-5 1Z", "var(--accent)", 1, "var(--ink)"),
  );
}

/**
 * Draw the place of a card of the trick, with a caption below.
 * @param {number} width
 * @param {string} caption
 * @param {number} size the size of the caption, in pixels
 * @param {boolean} isActive true for the place of the deciding seat
 * @param {boolean} isSoft true for a caption in a softer colour
 */
export function captionedSlot(width, caption, size, isActive, isSoft) {
  const height = width * RATIO;
  const accent = "var(--accent)";
  const glow = { fill: accent, "fill-opacity": 0.25, stroke: accent, "stroke-width": 2 };
  return group(
    isActive && middleBox(width + 8, height + 8, 10, glow),
    slot(width, height, { fill: "var(--table)", line: isActive ? accent : "var(--table-line)" }),
    write(caption, 0, height / 2 + size + 4, size, {
      fill: isActive ? accent : isSoft ? "var(--ink-soft)" : "var(--ink)",
      weight: isActive ? 700 : 600,
    }),
  );
}

/**
 * The position of a card, and its behaviour.
 * @typedef {object} CardPlace
 * @property {number} x in pixels
 * @property {number} y in pixels
 * @property {number} width in pixels
 * @property {number} layer
 * @property {string} label
 * @property {boolean} pick true if the card can be picked
 * @property {boolean} [isDim]
 * @property {{x: number, y: number, scale: number} | undefined} [from] the position from which it arrives
 */

/**
 * Return the item of a card that lies face up.
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
  const face = suitColours(suit);
  const draw = () =>
    group(
      isSmall
        ? cardFace(DRAWN, height, {
            ...face,
            motif: group(
              write(value, 0, -30, 52, { fill: "var(--card-ink)" }),
              at(0, 28, suitSymbol(suit, 56)),
            ),
          })
        : cardFace(DRAWN, height, { ...face, corner: value, motif: suitSymbol(suit, 54) }),
      isDim && middleBox(DRAWN, height, 9, { fill: "var(--table)", opacity: 0.55 }),
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
