// The board of Chat Cartonne: cards, cats and toys, places that can be picked, labels of boxes.

import { middleBox } from "../../art/shapes.js";
import { drawnBy } from "../../art/table_pieces.js";
import { write } from "../../art/text.js";
import { s } from "../../dom.js";
import { numberOf } from "../../picks.js";
import { centreOf, jointOf } from "./layout.js";
import {
  awakeCat,
  boxLabel,
  carton,
  cartonCard,
  CELL,
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
import { cellKey, formKey, jointKey } from "./picks.js";
import { boxText, sleeperText } from "./text.js";
import { boxesOf, cardOf, cardsOn, phaseOf, rimOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Point} Point */
/** @typedef {import("./view.js").CardInfo} CardInfo */
/** @typedef {import("./view.js").CatBox} CatBox */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Laid} Laid */
/** @typedef {import("./view.js").Shown} Shown */
/**
 * The points from which pieces arrive on the board, by cell or joint, and to which they leave, by seat.
 * @typedef {{from: (place: number) => Pick<Item, "from">, to: (seat: number) => Pick<Item, "to">}} Ways
 */

/**
 * Return the items of the board, and of the starting cartons while one is to be chosen.
 * @type {Part}
 */
export function tableItems(context, layout) {
  const placers = placersOf(context);
  return [
    gridItem(context),
    ...cardItems(context, waysOf(layout, placers)),
    ...newestItems(context, placers),
    ...cellItems(context),
    ...jointItems(context),
    ...labelItems(context, layout),
    ...numberItems(context),
    ...startItems(context, layout),
  ];
}

/**
 * Return the seats that placed a piece since the last update, by cell or joint.
 * @param {Context} context
 */
function placersOf({ update }) {
  /** @type {Map<number, number>} */
  const placers = new Map();
  for (const { chatCartonne: { seat, cell, joint } = {} } of update.events ?? []) {
    const place = cell ?? joint;
    if (seat !== undefined && place !== undefined) {
      placers.set(place, seat);
    }
  }
  return placers;
}

/**
 * @param {Layout} layout
 * @param {ReadonlyMap<number, number>} placers
 * @returns {Ways}
 */
function waysOf({ toBoard, seats }, placers) {
  return {
    from: (place) => {
      const seat = placers.get(place);
      const from = seat === undefined ? undefined : toBoard.at(seats[seat]);
      return from ? { from } : {};
    },
    to: (seat) => {
      const to = toBoard.at(seats[seat]);
      return to ? { to } : {};
    },
  };
}

/**
 * @param {Context} context
 * @returns {Item}
 */
function gridItem({ details }) {
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
 * Return the numbers of the columns and rows, by which sentences name cells, at the edges of the empty cells around the
 * cards.
 * @param {Context} context
 * @returns {Item[]}
 */
function numberItems({ view, details }) {
  const places = cardsOn(view).map(({ cell }) => details.cells?.[cell] ?? {});
  const columns = spanOf(
    places.map(({ column = 0 }) => column),
    details.columns ?? 0,
  );
  const rows = spanOf(
    places.map(({ row = 0 }) => row),
    details.rows ?? 0,
  );
  const at = (/** @type {number} */ place) => (place + 0.5) * CELL;
  const item = (/** @type {string} */ key, /** @type {number} */ number, /** @type {Point} */ point) => ({
    key: `${key}:${number}`,
    ...point,
    board: true,
    layer: 3,
    stamp: "",
    draw: () =>
      s("g", { "pointer-events": "none" }, write(String(number + 1), 0, 0, 14, { fill: "var(--ink-soft)" })),
  });
  return [
    ...columns.map((each) => item("column", each, { x: at(each), y: (rows[0] ?? 0) * CELL + 10 })),
    ...rows.map((each) => item("row", each, { x: (columns[0] ?? 0) * CELL + 12, y: at(each) })),
  ];
}

/**
 * Return all numbers from the one before the smallest to the one after the largest, as far as they are places of the
 * board.
 * @param {readonly number[]} numbers
 * @param {number} end the number of places
 */
function spanOf(numbers, end) {
  const first = Math.max(0, Math.min(...numbers) - 1);
  const last = Math.min(end - 1, Math.max(...numbers) + 1);
  return numbers.length === 0 ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/**
 * Return the items of the cards, and of the pieces on their joints.
 * @param {Context} context
 * @param {Ways} ways
 * @returns {Item[]}
 */
function cardItems(context, ways) {
  /** @type {Map<number, CatBox>} */
  const boxes = new Map();
  for (const box of boxesOf(context)) {
    for (const cell of box.cells ?? []) {
      boxes.set(cell, box);
    }
  }
  return cardsOn(context.view).flatMap(({ shown, laid, cell }) => [
    cardItem(context, shown, boxes.get(cell), ways),
    ...lyingItems(context, laid, ways),
  ]);
}

/**
 * Return the item of a card.
 * @param {Context} context
 * @param {Shown} shown
 * @param {CatBox | undefined} box
 * @param {Ways} ways
 * @returns {Item}
 */
function cardItem(context, shown, box, { from, to }) {
  const { t, nameOf } = context;
  const { laid: card = {} } = shown;
  const { cell = 0, sleepingCat, woken: isWoken = false } = card;
  const isClosed = box?.closed ?? false;
  const options = { tints: isClosed ? (box?.majority ?? []) : [], isClosed };
  const place = { ...centreOf(context, cell), board: true, ...from(cell) };
  const name = nameOf("cell", cell);
  if (card.princess) {
    const label = t("princess-at", { cell: name });
    return { key: `princess-in:${cell}`, ...place, ...drawnBy(princessInCell, options), label };
  }
  if (sleepingCat !== undefined) {
    return {
      key: `asleep:${cell}:${sleepingCat}`,
      ...place,
      ...to(sleepingCat),
      pick: cellKey(cell),
      ...drawnBy(sleeper, sleepingCat, { ...options, isWoken }),
      label: sleeperText(context, card),
    };
  }
  const kind = card.card ?? 0;
  return {
    key: `at:${cell}`,
    ...place,
    ...drawnBy(carton, shown, options),
    label: t("lies", { card: nameOf(card.turned ? "turned" : "card", kind), cell: name }),
  };
}

/**
 * Return the item of the piece on the joint between a card and its eastern neighbour.
 * @param {Context} context
 * @param {Laid} card
 * @param {Ways} ways
 * @returns {Item[]}
 */
function lyingItems(context, { cell: joint = 0, onJoint: lies }, { from, to }) {
  const { t, nameOf, seatName } = context;
  const place = { ...jointOf(context, joint), board: true, layer: 2, ...from(joint) };
  const cell = nameOf("cell", joint);
  if (!lies) {
    return [];
  }
  if (lies.princess) {
    const label = t("princess-at", { cell });
    return [{ key: `princess:${joint}`, ...place, ...drawnBy(princessOnJoint), label }];
  }
  const { toy, cat: seat = 0 } = lies;
  if (toy !== undefined) {
    const label = t("toys", { card: nameOf("card", toy), cell });
    return [{ key: `toy:${joint}`, ...place, ...drawnBy(toyOnJoint, cardOf(context, toy)), label }];
  }
  return [
    {
      key: `awake:${joint}:${seat}`,
      ...place,
      ...to(seat),
      pick: jointKey(joint),
      ...drawnBy(awakeCat, seat),
      label: t("awake", { name: seatName(seat), cell }),
    },
  ];
}

/**
 * Return frames around the cards placed since the last update.
 * @param {Context} context
 * @param {ReadonlyMap<number, number>} placers
 * @returns {Item[]}
 */
function newestItems(context, placers) {
  const taken = new Set(cardsOn(context.view).map(({ cell }) => cell));
  const joints = new Set((context.update.events ?? []).map(({ chatCartonne }) => chatCartonne?.joint));
  return [...placers]
    .filter(([cell]) => taken.has(cell) && !joints.has(cell))
    .map(([cell, seat]) => ({
      key: `newest:${cell}`,
      ...centreOf(context, cell),
      board: true,
      layer: 1,
      stamp: String(seat),
      draw: () =>
        middleBox(CELL + 6, CELL + 6, 8, {
          fill: "none",
          stroke: `var(--seat-${seat % 6})`,
          "stroke-width": 5,
          "pointer-events": "none",
        }),
    }));
}

/**
 * Return the empty cells next to cards. A cell that no legal action uses can also be picked: the service then explains
 * why the action is illegal.
 * @param {Context} context
 * @returns {Item[]}
 */
function cellItems(context) {
  const { view, actions, candidates, picked, nameOf, t } = context;
  const [what, kind, turned] = (picked[0] ?? "").split(":");
  const played = what === "card" ? Number(kind) : (view.startingCarton ?? view.toy);
  const preview = () => {
    if (what === "cat") {
      return sleeper(context.me ?? 0, { radius: 7 });
    }
    const card = cardOf(context, played ?? -1);
    return carton(turned === undefined ? card : turnedCard(card), { radius: 7 });
  };
  const touched = () => middleBox(CELL - 8, CELL - 8, 0, { fill: "transparent" });
  return [...(actions.length > 0 ? rimOf(context) : [])].map((cell) => {
    const pick = cellKey(cell);
    const isOpen = candidates.has(pick);
    return {
      key: pick,
      ...centreOf(context, cell),
      board: true,
      layer: 1,
      pick,
      label: t("cell-empty", { cell: nameOf("cell", cell) }),
      stamp: isOpen ? `${what} ${played} ${turned}` : "",
      draw: () => (isOpen ? ghost(preview()) : touched()),
    };
  });
}

/**
 * Return the joints that can be picked.
 * @param {Context} context
 * @returns {Item[]}
 */
function jointItems(context) {
  const { view, actions, candidates, nameOf, t } = context;
  const taken = new Set(cardsOn(view).flatMap(({ cell, laid }) => (laid.onJoint ? [jointKey(cell)] : [])));
  const { toy } = view;
  return [...(actions.length > 0 ? candidates : [])]
    .filter((pick) => pick.startsWith("joint:") && !taken.has(pick))
    .map((pick) => {
      const joint = numberOf(pick);
      return {
        key: pick,
        ...jointOf(context, joint),
        board: true,
        layer: 3,
        pick,
        stamp: String(toy),
        label: t("cell-empty", { cell: nameOf("cell", joint) }),
        draw: () =>
          jointGhost(toy === undefined ? awakeCat(context.me ?? 0) : toyOnJoint(cardOf(context, toy))),
      };
    });
}

/**
 * Return the labels of boxes. A label shows the points, and the seats that get the points.
 * @type {Part}
 */
function labelItems(context, { extent, toBoard: { scale } }) {
  const cards = new Map(cardsOn(context.view).map(({ cell, shown }) => [cell, shown]));
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
      ...drawnBy(boxLabel, entries, box.closed ?? false),
      label: boxText(context, box),
    });
  }
  return items;
}

/** @param {CatBox} box */
function entriesOf(box) {
  const { majority = [], bySeat = [] } = box;
  const bonus = bySeat.map(({ bonusPoints = 0 }) => bonusPoints);
  const own = bonus[majority[0] ?? -1] ?? 0;
  const isShared = majority.every((seat) => (bonus[seat] ?? 0) === own);
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
 * Return the point of a box where a label hides least: an empty card, else the edge between two cards, else the upper
 * edge.
 * @param {Context} context
 * @param {readonly number[]} cells
 * @param {ReadonlyMap<number, Shown>} cards
 * @returns {Point}
 */
function labelPoint(context, cells, cards) {
  const { columns = 0 } = context.details;
  const isBare = (/** @type {number} */ cell) => {
    const shown = cards.get(cell) ?? {};
    const count = (shown.mice ?? 0) + (shown.balls ?? 0) + (shown.fish ?? 0) + (shown.sprayers ?? 0);
    const isCat = shown.laid?.sleepingCat !== undefined || shown.laid?.princess;
    return count === 0 && !isCat && !shown.laid?.onJoint && !cards.get(cell - 1)?.laid?.onJoint;
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

/**
 * Return the starting cartons while one is to be chosen.
 * @type {Part}
 */
function startItems(context, { free: board }) {
  const { view, details, nameOf, t } = context;
  if (phaseOf(view) !== "CHOOSE_START") {
    return [];
  }
  const forms = (details.cards ?? [])
    .filter(({ role }) => role === "CHAT_CARTONNE_ROLE_STARTING_CARTON")
    .flatMap(formsOf);
  const gap = 16;
  const inRow = Math.max(1, Math.min(forms.length, Math.floor((board.width - 24) / (76 + gap))));
  const rows = Math.ceil(forms.length / inRow);
  const columns = Math.ceil(forms.length / rows);
  const size = Math.min(84, (board.width - 24) / columns - gap, (board.height - 24) / rows - gap);
  return forms.map(({ card, turned }, index) => {
    const pick = formKey("start", card.card ?? 0, turned);
    const row = Math.floor(index / columns);
    const inThis = Math.min(columns, forms.length - row * columns);
    return {
      key: pick,
      pick,
      ...drawnBy(cartonCard, size, card),
      x: board.x + board.width / 2 + ((index % columns) - (inThis - 1) / 2) * (size + gap),
      y: board.y + board.height / 2 + (row - (rows - 1) / 2) * (size + gap),
      label: t("start", { card: nameOf(turned ? "turned" : "card", card.card ?? 0) }),
    };
  });
}

/**
 * Return the distinct orientations of a card: as printed and, if it then looks different, turned by 180 degrees.
 * @param {CardInfo} card
 */
function formsOf(card) {
  const other = turnedCard(card);
  const plain = { card, turned: false };
  return faceOf(other) === faceOf(card) ? [plain] : [plain, { card: other, turned: true }];
}
