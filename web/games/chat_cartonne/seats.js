// The seats of Chat Cartonne: plates of players, the hand, the draw pile.

import { cardBack } from "../../art/cards.js";
import { crown } from "../../art/pieces.js";
import { at, box, group, middleBox } from "../../art/shapes.js";
import { badge, badgeItem, badgeWidth, drawnBy, panel, plate, slot, stepOf } from "../../art/table_pieces.js";
import { cut, widthOf, write } from "../../art/text.js";
import { s } from "../../dom.js";
import { playersInfo, seatOf } from "../../views.js";
import {
  boxSign,
  cartonCard,
  faceOf,
  pileBars,
  princessCard,
  sleeperCard,
  supplyRow,
  turnButton,
  turnedCard,
} from "./parts.js";
import { formKey } from "./picks.js";
import { drawnText, partText, seatText } from "./text.js";
import { cardOf, hasOneForm, heldBy, princessesOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Place} Place */
/** @typedef {import("./layout.js").Point} Point */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Held} Held */
/**
 * The contents of a seat's plate.
 * @typedef {object} Plate
 * @property {number} seat
 * @property {string} name the player's name
 * @property {number} size the number of cards in hand
 * @property {number} supply the number of cats left to play
 * @property {number} cats the number of cats that a seat has at the beginning
 * @property {number} played the number of Princesses played
 * @property {string} drawn text with the number of cards drawn from each part of the pile
 * @property {boolean | undefined} holds true if the seat holds a carton; undefined before the final phase
 * @property {boolean} turns true if it is the seat's turn
 */

// The look of the badge of the final phase.
const FINAL = { size: 12.5, height: 22, fill: "var(--accent)", ink: "var(--accent-ink)", line: "none" };

/**
 * Return the items of the other seats' plates.
 * @type {Part}
 */
export function seatItems(context, layout) {
  return layout.others.flatMap((place) => plateItems(context, layout, place));
}

/**
 * @param {Context} context
 * @param {number} seat
 * @returns {Plate}
 */
function plateOf(context, seat) {
  const { view, details, seatName, turn } = context;
  const state = seatOf(context, seat);
  return {
    seat,
    name: seatName(seat),
    size: state.handSize ?? 0,
    supply: state.supply ?? 0,
    cats: details.catsPerSeat ?? 0,
    played: princessesOf(state),
    drawn: drawnText(context, state),
    holds: view.finalPhase ? (state.holdsCarton ?? false) : undefined,
    turns: turn === seat,
  };
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {Place} place
 * @returns {Item[]}
 */
function plateItems(context, { pile }, { seat, x, y, width, height }) {
  const state = plateOf(context, seat);
  const { size, holds } = state;
  const isRoomy = width >= 190;
  const backs = isRoomy ? size : holds === undefined ? 1 : 0;
  const cardSize = isRoomy ? 20 : 17;
  const left = isRoomy ? NAME + cardSize / 2 : 17;
  const { shown = [], handCards = [] } = seatOf(context, seat);
  return [
    {
      key: `plate:${seat}`,
      x,
      y,
      label: seatText(context, seat),
      ...drawnBy(isRoomy ? roomyPlate : tightPlate, state, width, height),
    },
    ...Array.from({ length: backs }, (_, index) => {
      // At the end of the game the hands are open.
      const open = handCards[index];
      return {
        key: `back:${seat}:${index}`,
        x: x + left + index * (cardSize + 3),
        y: y + ROW,
        ...(open === undefined
          ? drawnBy(hiddenCard, cardSize, shown[index] !== undefined, size > 0)
          : drawnBy(openCard, cardSize, cardOf(context, open))),
        from: pile,
      };
    }),
  ];
}

/**
 * Draw the back of a card in the hand of another seat.
 * @param {number} size
 * @param {boolean} isKnown true if the seat has shown the card before
 * @param {boolean} isThere false to show that the hand is empty
 */
function hiddenCard(size, isKnown, isThere) {
  const sign = isKnown && write("≠", 0, 0, 14, { fill: "var(--card-back-2)" });
  return s("g", { opacity: isThere ? 1 : 0.4 }, cardBack(size, size), sign);
}

/**
 * @param {number} size
 * @param {import("./view.js").CardInfo} card
 */
function openCard(size, card) {
  return card.role === "CHAT_CARTONNE_ROLE_PRINCESS" ? princessCard(size) : cartonCard(size, card);
}

// The middle of the row of cards and cats on a plate, in pixels from its upper edge.
const ROW = 44;
// The width of the zoom buttons at the right end of the line above the hand, on a narrow screen.
const ZOOM_ROW = 156;
// The left edge of the name on a roomy plate, and of the row below it.
const NAME = 58;

/**
 * @param {Plate} plate
 * @param {number} width
 * @param {number} height
 */
function roomyPlate({ seat, name, supply, cats, played, drawn, holds, turns }, width, height) {
  const hasDrawn = height > 70;
  const catsLeft = NAME + 3 * (20 + 3) + 12;
  const mark = /** @type {const} */ ([29, height / 2 - (hasDrawn ? 10 : 0), 38]);
  return group(
    panel(width, height, turns),
    at(catsLeft, ROW, supplyRow(seat, supply, cats, stepOf(cats + 1, 17, width - catsLeft - 4))),
    hasDrawn &&
      write(drawn, 14, height - 15, 12.5, { anchor: "start", fill: "var(--ink-soft)", weight: 600 }),
    holds !== undefined && at(width - 20, 20, boxSign(22, holds)),
    crowns(played, width - (holds === undefined ? 18 : 44), 20),
    plate(seat, name, {
      mark,
      text: [NAME, 20, 16],
      room: width - NAME - 8 - 17 * played - (holds === undefined ? 0 : 26),
    }),
  );
}

/**
 * @param {Plate} plate
 * @param {number} width
 * @param {number} height
 */
function tightPlate({ seat, name, size, supply, played, holds, turns }, width, height) {
  const catsLeft = width / 2 + 12;
  return group(
    panel(width, height, turns),
    plate(seat, name, { mark: [17, 19, 26], text: [31, 18, 12], room: width - 35 }),
    crowns(played, 16 + 4 * (played - 1), 6),
    holds !== undefined && at(17, ROW, boxSign(18, holds)),
    write(String(size), 29, ROW, 14, { anchor: "start", weight: 600 }),
    at(catsLeft, ROW, s("g", { opacity: supply > 0 ? 1 : 0.4 }, supplyRow(seat, 1, 1, 18))),
    write(String(supply), catsLeft + 12, ROW, 14, { anchor: "start", weight: 600 }),
  );
}

/**
 * Draw a crown for each Princess played, from right to left.
 * @param {number} count
 * @param {number} x the middle of the rightmost crown, in pixels
 * @param {number} y
 */
function crowns(count, x, y) {
  return Array.from({ length: count }, (_, index) => at(x - 10 * index, y, crown(15)));
}

/**
 * Return the items of the seat at the bottom, and of the draw pile.
 * @type {Part}
 */
export function handItems(context, layout) {
  remember(context);
  return [
    trayItem(context, layout),
    ownPlateItem(context, layout),
    ...pileItems(context, layout),
    ...catItems(context, layout),
    ...finalItems(context, layout),
    ...cardItems(context, layout),
    ...shownItems(context, layout),
  ];
}

/**
 * Remember which cards of the hand are turned.
 * @param {Context} context
 */
function remember({ picked, ui }) {
  const [what, kind, turned] = (picked[0] ?? "").split(":");
  if (what === "card") {
    ui.turned = { ...ui.turned, [Number(kind)]: turned !== undefined };
  }
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function trayItem({ turn }, { tray, bottom, width }) {
  return { key: "tray", x: 0, y: tray.y, ...drawnBy(trayBack, width, tray.height, turn === bottom) };
}

/**
 * Draw the background of the area of the seat at the bottom, from its upper left corner.
 * @param {number} width
 * @param {number} height
 * @param {boolean} isActive true if it is the seat's turn
 */
function trayBack(width, height, isActive) {
  const edge = { fill: isActive ? "var(--accent)" : "var(--line)" };
  return group(
    box(0, 0, width, height, 0, { fill: "var(--surface)" }),
    box(0, 0, width, isActive ? 4 : 1, 0, edge),
  );
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function ownPlateItem(context, { tray, bottom, isWide, isSmall, pad, head }) {
  const { view, t } = context;
  const { played, holds, ...state } = plateOf(context, bottom);
  const drawn = isSmall && view.finalPhase ? "" : state.drawn;
  const wanted = isSmall && view.finalPhase ? "" : state.name;
  const final = holds === undefined ? "" : String(holds);
  const left = pad + 26;
  const taken = view.finalPhase && !isWide ? badgeWidth(t("final-short"), FINAL) + 8 : 0;
  const crownsWidth = played > 0 ? 12 + 10 * played : 0;
  const end = tray.width - (isSmall ? ZOOM_ROW : pad + (final === "" ? 0 : 30 + taken));
  const name = cut(wanted, end - left - crownsWidth - 8 - widthOf(drawn, 12.5, 500), 15);
  const nameEnd = left + (name === "" ? taken : widthOf(name, 15));
  const middle = head / 2 + 2;
  const x = isSmall ? nameEnd + crownsWidth + 8 : end;
  const anchor = isSmall ? "start" : "end";
  return {
    key: `plate:${bottom}`,
    x: tray.x,
    y: tray.y,
    label: seatText(context, bottom),
    stamp: [tray.width, name, played, drawn, final].join(),
    draw: () =>
      group(
        plate(bottom, name, { mark: [pad + 10, middle, 21], text: [left, middle, 15], room: Infinity }),
        crowns(played, nameEnd + 10 * played, middle - 1),
        write(drawn, x, middle, 12.5, { anchor, fill: "var(--ink-soft)", weight: 500 }),
        holds !== undefined && !isSmall && at(tray.width - pad - 12, middle - 1, boxSign(20, holds)),
      ),
  };
}

/**
 * Return the items of the draw pile and of its parts.
 * @type {Part}
 */
function pileItems(context, { pile, tile, isWide }) {
  const { view, t } = context;
  const count = view.drawPileSize ?? 0;
  const parts = (view.parts ?? []).map((_, part) => partText(context, part)).join(t("parts"));
  return [
    {
      key: "pile",
      ...pile,
      pick: "pile",
      ...drawnBy(pileCard, tile, count, view.finalPhase ?? false),
      label: t("pile-button", { count }),
    },
    {
      key: "parts",
      ...(isWide ? { x: pile.x + tile / 2 + 64, y: pile.y } : { x: pile.x, y: pile.y + tile / 2 + 14 }),
      ...(parts && { label: parts }),
      ...drawnBy(pileBars, partsOf(context), isWide ? 100 : tile, isWide),
    },
  ];
}

/**
 * Return the item of the cats that the seat at the bottom has left to play.
 * @type {Part}
 */
function catItems(context, { tile, bottom, cats: place }) {
  const { me, details, seatName, t } = context;
  const supply = seatOf(context, bottom).supply ?? 0;
  const cats = details.catsPerSeat ?? 0;
  const step = Math.min(17, tile / Math.max(1, cats));
  return [
    {
      key: "cat",
      ...place,
      ...(bottom === me && { pick: "cat" }),
      ...drawnBy(sleeperCard, tile, bottom, supply > 0),
      label: t(bottom === me ? "cat-card" : "cats-left", { name: seatName(bottom), count: supply }),
    },
    {
      key: "supply",
      x: place.x - (step * (cats - 1)) / 2,
      y: place.y + tile / 2 + 14,
      ...drawnBy(supplyRow, bottom, supply, cats, step),
    },
  ];
}

/**
 * Return the items of the hand at the bottom.
 * @type {Part}
 */
function cardItems(context, layout) {
  const { bottom, tile, gap, pile, hand: slots, cats } = layout;
  const { handCards = [], handSize = 0 } = seatOf(context, bottom);
  const held = heldBy(context, bottom);
  const hidden = handCards.length > 0 ? 0 : handSize;
  const first = slots[0] ?? cats;
  const at = (/** @type {number} */ index) => ({
    x: first.x + (index + (slots.length - held.length - hidden) / 2) * (tile + gap),
    y: first.y,
  });
  const backs = Array.from({ length: hidden }, (_, index) => ({
    key: `back:${bottom}:${index}`,
    ...at(index),
    ...drawnBy(cardBack, tile, tile),
    from: pile,
  }));
  return [
    ...backs,
    ...held.flatMap((card, index) => handCardItems(context, layout, card, at(hidden + index))),
  ];
}

/**
 * Return the item of the card that another seat has drawn and must play.
 * @type {Part}
 */
function shownItems(context, { bottom, free, tile, pile }) {
  const { view, seatName, nameOf, t } = context;
  const active = view.activeSeat ?? bottom;
  const shown = active === bottom ? undefined : heldBy(context, active).find(({ isDrawn }) => isDrawn);
  if (!shown) {
    return [];
  }
  return [
    {
      key: shown.key,
      x: free.x + 16 + tile / 2,
      y: free.y + 16 + tile / 2,
      layer: 2,
      ...drawnBy(cartonCard, tile, cardOf(context, shown.kind)),
      from: pile,
      label: t("toy-drawn", { name: seatName(active), card: nameOf("card", shown.kind) }),
    },
  ];
}

/**
 * Return the items of a card of the hand and of the button that turns it.
 * @param {Context} context
 * @param {Layout} layout
 * @param {Held} held
 * @param {Point} at
 * @returns {Item[]}
 */
function handCardItems(context, { tile, pile }, { kind, key, isDrawn }, at) {
  const { nameOf, t, ui, view, candidates, picked } = context;
  const card = cardOf(context, kind);
  const name = (/** @type {boolean} */ turned) =>
    t("hand-card", { card: nameOf(turned ? "turned" : "card", kind) });
  if (card.role === "CHAT_CARTONNE_ROLE_PRINCESS") {
    const label = name(false);
    return [{ key, ...at, pick: "princess", ...drawnBy(princessCard, tile), from: pile, label }];
  }
  const canTurn = faceOf(turnedCard(card)) !== faceOf(card);
  const turned = canTurn && (ui.turned?.[kind] ?? false);
  const isFixed = view.toy === kind || (isDrawn && hasOneForm(context));
  const form = (/** @type {boolean} */ way) => formKey("card", kind, way);
  /** @type {Item[]} */
  const items = [
    {
      key,
      ...at,
      turn: turned ? 180 : 0,
      ...drawnBy(ownCard, tile, card, turned, isDrawn),
      from: pile,
      label: name(turned),
      ...(!isFixed && { pick: form(turned) }),
    },
  ];
  const other = form(!turned);
  if (canTurn && !isFixed && (candidates.has(other) || picked[0] === form(turned))) {
    items.push({
      key: `turn:${kind}`,
      x: at.x,
      y: at.y + tile / 2 + 5,
      pick: other,
      ...drawnBy(turnButton, 36),
      label: t("turn", { card: nameOf(turned ? "card" : "turned", kind) }),
    });
  }
  return items;
}

/**
 * Draw a card of the hand at the bottom.
 * @param {number} tile
 * @param {import("./view.js").CardInfo} card
 * @param {boolean} isTurned
 * @param {boolean} isDrawn true to frame a card that has just been drawn and must be played
 */
function ownCard(tile, card, isTurned, isDrawn) {
  const edge = { fill: "none", stroke: "var(--accent)", "stroke-width": 3 };
  return group(cartonCard(tile, card, isTurned), isDrawn && middleBox(tile + 8, tile + 8, 10, edge));
}

/**
 * @param {number} tile
 * @param {number} count
 * @param {boolean} isClosed true if no more cards are drawn
 */
function pileCard(tile, count, isClosed) {
  const layers = Math.min(3, Math.ceil(count / 25));
  return s(
    "g",
    { opacity: isClosed ? 0.5 : 1 },
    count === 0 && slot(tile, tile, { radius: 8, line: "var(--line)", thickness: 2, dash: "6 5" }),
    Array.from({ length: layers }, (_, index) => at(0, (layers - 1 - index) * 2.5, cardBack(tile, tile))),
    count > 0 && badge(String(count), { size: 15 }),
  );
}

/**
 * Return the parts of the draw pile, from its top.
 * @param {Context} context
 */
function partsOf(context) {
  const { parts = [] } = context.view;
  const { partSizes = [], wholePileSize } = playersInfo(context);
  const sizes = partSizes.length === parts.length ? partSizes : [wholePileSize];
  return parts.map(({ cardsLeft: left = 0, ownPrincess = false }, index) => ({
    left,
    size: Math.max(1, left, sizes[index] ?? 1),
    hasCrown: ownPrincess,
  }));
}

/**
 * Return the badge that shows the final phase, in which no more cards are drawn.
 * @type {Part}
 */
function finalItems({ view, t }, { tray, head, pad, isWide, isSmall, width }) {
  if (!view.finalPhase) {
    return [];
  }
  const text = t("final-short");
  const length = badgeWidth(text, FINAL);
  const x = isWide ? pad + 6 + length / 2 : isSmall ? pad + 26 + length / 2 : width - pad - 34 - length / 2;
  return [{ ...badgeItem("final", x, tray.y + head / 2 + 2, text, FINAL), label: t("final") }];
}
