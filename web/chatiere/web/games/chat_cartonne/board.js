// The board of Chat Cartonne: cards, cats and toys, places to choose, labels of boxes.

import { s } from "../../dom.js";
import { boxesOf, cellKey, centreOf, jointKey, jointOf, rimOf } from "./layout.js";
import {
  CELL,
  awakeCat,
  boxLabel,
  carton,
  faceOf,
  ghost,
  jointGhost,
  labelWidth,
  princessInCell,
  princessOnJoint,
  sleeper,
  toyOnJoint,
  turnedCard,
} from "./parts.js";
import { boxText, sleeperText } from "./text.js";

/** @typedef {import("../../game.js").Context} Context */
/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./layout.js").Point} Point */
/** @typedef {import("./layout.js").Layout} Layout */

/**
 * @param {Context} context @param {Layout} layout @param {Box} extent
 * @param {{at: (point: Point | undefined) => Point | undefined, scale: number}} toBoard
 * @returns {Item[]}
 */
export function boardOf(context, layout, extent, toBoard) {
  const { view } = context;
  /** @type {Map<number, any>} */
  const boxes = new Map();
  for (const box of boxesOf(context)) {
    for (const cell of box.cells ?? []) {
      boxes.set(cell, box);
    }
  }
  const placers = new Map();
  for (const event of context.update.events ?? []) {
    const told = /** @type {any} */ (event).chatCartonne ?? {};
    const place = told.cell ?? told.joint;
    if (told.seat !== undefined && place !== undefined) {
      placers.set(place, told.seat);
    }
  }
  const from = (/** @type {number} */ cell) => {
    const seat = placers.get(cell);
    const place = seat === undefined ? undefined : toBoard.at(layout.seats[seat]);
    return place && { from: place };
  };
  const to = (/** @type {number} */ seat) => {
    const place = toBoard.at(layout.seats[seat]);
    return place && { to: place };
  };
  /** @type {Item[]} */
  const items = [gridOf(context)];
  for (const shown of view.table ?? []) {
    items.push(cardOf(context, shown, boxes.get(shown.laid.cell ?? 0), from, to));
    const lying = lyingOf(context, shown.laid, from, to);
    if (lying) {
      items.push(lying);
    }
  }
  items.push(
    ...newestOf(context, placers),
    ...targetsOf(context),
    ...labelsOf(context, extent, toBoard.scale),
  );
  return items;
}

/** @param {Context} context @returns {Item} */
function gridOf({ details }) {
  const { rows = 0, columns = 0 } = details;
  const [width, height] = [columns * CELL, rows * CELL];
  return {
    key: "grid",
    x: 0,
    y: 0,
    board: true,
    layer: -1,
    stamp: "",
    draw: () => {
      let d = "";
      for (let column = 0; column <= columns; column++) {
        d += `M${column * CELL} 0V${height}`;
      }
      for (let row = 0; row <= rows; row++) {
        d += `M0 ${row * CELL}H${width}`;
      }
      return s("path", { d, fill: "none", stroke: "var(--table-line)", "stroke-width": 1.5, opacity: 0.45 });
    },
  };
}

/**
 * A card in its cell.
 * @param {Context} context @param {any} shown @param {any} box
 * @param {(cell: number) => object | undefined} from @param {(seat: number) => object | undefined} to
 * @returns {Item}
 */
function cardOf(context, shown, box, from, to) {
  const { t, nameOf } = context;
  const { laid: card } = shown;
  const cell = card.cell ?? 0;
  const isClosed = box?.closed ?? false;
  const options = { tints: isClosed ? (box.majority ?? []) : [], isClosed };
  const tint = `${options.tints.join()} ${isClosed}`;
  const place = { ...centreOf(context, cell), board: true, ...from(cell) };
  const name = nameOf("cell", cell);
  if (card.princess) {
    return {
      key: `princess-in:${cell}`,
      ...place,
      stamp: tint,
      draw: () => princessInCell(options),
      label: t("princess-at", { cell: name }),
    };
  }
  if (card.sleepingCat !== undefined) {
    const isWoken = card.woken ?? false;
    return {
      key: `asleep:${cell}:${card.sleepingCat}`,
      ...place,
      ...to(card.sleepingCat),
      stamp: `${isWoken} ${tint}`,
      pick: cellKey(cell),
      draw: () => sleeper(card.sleepingCat, { ...options, isWoken }),
      label: sleeperText(context, card),
    };
  }
  const kind = card.card ?? 0;
  return {
    key: `at:${cell}`,
    ...place,
    stamp: `${kind} ${faceOf(shown)} ${tint}`,
    draw: () => carton(shown, options),
    label: t("lies", { card: nameOf(card.turned ? "turned" : "card", kind), cell: name }),
  };
}

/**
 * What lies on the joint between a card and its eastern neighbour.
 * @param {Context} context @param {any} card
 * @param {(cell: number) => object | undefined} from @param {(seat: number) => object | undefined} to
 * @returns {Item | undefined}
 */
function lyingOf(context, card, from, to) {
  const { t, nameOf, seatName, details } = context;
  const lies = card.onJoint;
  const joint = card.cell ?? 0;
  const place = { ...jointOf(context, joint), board: true, layer: 2, stamp: "", ...from(joint) };
  const cell = nameOf("cell", joint);
  if (!lies) {
    return undefined;
  }
  if (lies.princess) {
    return { key: `princess:${joint}`, ...place, draw: princessOnJoint, label: t("princess-at", { cell }) };
  }
  if (lies.toy !== undefined) {
    const label = t("toys", { card: nameOf("card", lies.toy), cell });
    return { key: `toy:${joint}`, ...place, draw: () => toyOnJoint(details.cards[lies.toy] ?? {}), label };
  }
  const seat = lies.cat ?? 0;
  return {
    key: `awake:${joint}:${seat}`,
    ...place,
    ...to(seat),
    pick: jointKey(joint),
    draw: () => awakeCat(seat),
    label: t("awake", { name: seatName(seat), cell }),
  };
}

/**
 * Frames around what has just been laid.
 * @param {Context} context @param {Map<number, number>} placers @returns {Item[]}
 */
function newestOf(context, placers) {
  const { view } = context;
  const items = [];
  for (const [cell, seat] of placers) {
    const shown = (view.table ?? []).find((/** @type {any} */ { laid }) => (laid.cell ?? 0) === cell);
    const isJoint = (context.update.events ?? []).some(
      (event) => /** @type {any} */ (event).chatCartonne?.joint === cell,
    );
    if (shown && !isJoint) {
      items.push({
        key: `newest:${cell}`,
        ...centreOf(context, cell),
        board: true,
        layer: 1,
        stamp: String(seat),
        draw: () =>
          s("rect", {
            x: -CELL / 2 - 3,
            y: -CELL / 2 - 3,
            width: CELL + 6,
            height: CELL + 6,
            rx: 8,
            fill: "none",
            stroke: `var(--seat-${seat % 6})`,
            "stroke-width": 5,
            "pointer-events": "none",
          }),
      });
    }
  }
  return items;
}

/**
 * The places that can be chosen, and those that can only be tried.
 * @param {Context} context @returns {Item[]}
 */
function targetsOf(context) {
  const { view, actions, candidates, picked, nameOf, t } = context;
  if (actions.length === 0) {
    return [];
  }
  const [what, kind, turned] = (picked[0] ?? "").split(":");
  const played = what === "card" ? Number(kind) : (view.startingCarton ?? view.toy);
  const preview = () => {
    if (what === "cat") {
      return sleeper(context.me ?? 0, { radius: 7 });
    }
    const card = context.details.cards[played ?? -1] ?? {};
    return carton(turned === undefined ? card : turnedCard(card), { radius: 7 });
  };
  /** @type {Item[]} */
  const items = [];
  for (const cell of rimOf(context)) {
    const pick = cellKey(cell);
    const isOpen = candidates.has(pick);
    items.push({
      key: pick,
      ...centreOf(context, cell),
      board: true,
      layer: 1,
      pick,
      label: t("cell-empty", { cell: nameOf("cell", cell) }),
      stamp: isOpen ? `${what} ${played} ${turned}` : "",
      draw: () =>
        isOpen
          ? ghost(preview())
          : s("rect", {
              x: -CELL / 2 + 4,
              y: -CELL / 2 + 4,
              width: CELL - 8,
              height: CELL - 8,
              fill: "transparent",
            }),
    });
  }
  for (const pick of candidates) {
    const [shape, at] = pick.split(":");
    const joint = Number(at);
    const isTaken = (view.table ?? []).some(
      (/** @type {any} */ { laid }) => (laid.cell ?? 0) === joint && laid.onJoint,
    );
    if (shape === "joint" && !isTaken) {
      items.push({
        key: pick,
        ...jointOf(context, joint),
        board: true,
        layer: 3,
        pick,
        stamp: String(view.toy),
        label: t("cell-empty", { cell: nameOf("cell", joint) }),
        draw: () =>
          jointGhost(
            view.toy === undefined
              ? awakeCat(context.me ?? 0)
              : toyOnJoint(context.details.cards[view.toy] ?? {}),
          ),
      });
    }
  }
  return items;
}

/**
 * The labels of boxes: who gets what there.
 * @param {Context} context @param {Box} extent @param {number} scale @returns {Item[]}
 */
function labelsOf(context, extent, scale) {
  const { view } = context;
  /** @type {Map<number, any>} */
  const cards = new Map((view.table ?? []).map((/** @type {any} */ shown) => [shown.laid.cell ?? 0, shown]));
  /** @type {Item[]} */
  const items = [];
  for (const box of boxesOf(context)) {
    const entries = entriesOf(box);
    if (entries.length === 0) {
      continue;
    }
    const cells = box.cells ?? [];
    const point = labelPoint(context, cells, cards);
    const half = (labelWidth(entries) / 2 + 2) * scale;
    const x = Math.min(Math.max(point.x, extent.x + half), extent.x + extent.width - half);
    items.push({
      key: `label:${cells[0]}`,
      x,
      y: point.y,
      scale,
      board: true,
      layer: 4,
      stamp: JSON.stringify([entries, box.closed]),
      draw: () => boxLabel(entries, box.closed ?? false),
      label: boxText(context, box),
    });
  }
  return items;
}

/** @param {any} box */
function entriesOf(box) {
  const majority = box.majority ?? [];
  const bonus = /** @type {{bonusPoints?: number}[]} */ (box.bySeat ?? []).map(
    ({ bonusPoints = 0 }) => bonusPoints,
  );
  const own = bonus[majority[0]] ?? 0;
  const isShared = majority.every((/** @type {number} */ seat) => (bonus[seat] ?? 0) === own);
  const points = String(box.points ?? 0).replace("-", "−");
  const entries =
    majority.length > 0 ? [{ seats: majority, text: isShared && own > 0 ? `${points}+${own}` : points }] : [];
  bonus.forEach((extra, seat) => {
    if (extra > 0 && !(isShared && majority.includes(seat))) {
      entries.push({ seats: [seat], text: `+${extra}` });
    }
  });
  return entries;
}

/**
 * Where in a box a label hides least: an empty card, or else between two cards, or else the upper edge.
 * @param {Context} context @param {readonly number[]} cells @param {Map<number, any>} cards
 * @returns {Point}
 */
function labelPoint(context, cells, cards) {
  const { columns = 0 } = context.details;
  const isBare = (/** @type {number} */ cell) => {
    const shown = cards.get(cell) ?? {};
    const count = (shown.mice ?? 0) + (shown.balls ?? 0) + (shown.fish ?? 0) + (shown.sprayers ?? 0);
    const isCat = shown.laid?.sleepingCat !== undefined || shown.laid?.princess;
    return count === 0 && !isCat && !shown.laid?.onJoint && !cards.get(cell - 1)?.laid.onJoint;
  };
  const points = cells.map((cell) => centreOf(context, cell));
  const middle = {
    x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
    y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
  };
  const bare = points
    .filter((_, index) => isBare(cells[index] ?? 0))
    .sort(
      (a, b) => Math.hypot(a.x - middle.x, a.y - middle.y) - Math.hypot(b.x - middle.x, b.y - middle.y),
    )[0];
  if (bare) {
    return bare;
  }
  const above = cells.find((cell) => cells.includes(cell + columns) && !cards.get(cell)?.wallSouth);
  const { x, y } = centreOf(context, above ?? cells[0] ?? 0);
  return { x, y: y + (above === undefined ? -CELL / 2 : CELL / 2) };
}
