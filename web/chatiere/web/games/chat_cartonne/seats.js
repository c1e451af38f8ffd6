// The seats of Chat Cartonne: plates of players, the hand, the pile.

import { seatMark } from "../../art/cards.js";
import { crown } from "../../art/pieces.js";
import { placed } from "../../art/shapes.js";
import { s } from "../../dom.js";
import {
  back,
  boxSign,
  cartonCard,
  cut,
  faceOf,
  panel,
  pileBars,
  princessCard,
  sleeperCard,
  supplyRow,
  turnButton,
  turnedCard,
  words,
} from "./parts.js";
import { formKey } from "./picks.js";
import { drawnText, partText, seatText } from "./text.js";
import { cardOf, hasOneForm, heldBy, princessesOf, seatOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Place} Place */
/** @typedef {import("./layout.js").Point} Point */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Held} Held */
/**
 * What a plate tells. `holds`: once nobody draws, whether a carton is held; `turns`: whether it is the seat's turn.
 * @typedef {object} Plate
 * @property {number} seat
 * @property {string} name
 * @property {number} size  Of the hand.
 * @property {number} supply
 * @property {number} cats
 * @property {number} played
 * @property {string} drawn
 * @property {boolean | undefined} holds
 * @property {boolean} turns
 */

/**
 * The plates of the other seats.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
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
  const plate = plateOf(context, seat);
  const { name, size, supply, played, drawn, holds, turns } = plate;
  const isRoomy = width >= 190;
  const final = holds === undefined ? "" : String(holds);
  const backs = isRoomy ? size : final === "" ? 1 : 0;
  const { left, backSize } = plateColumns(isRoomy);
  const opacity = size > 0 ? 1 : 0.4;
  const { shown = [], handCards = [] } = seatOf(context, seat);
  return [
    {
      key: `plate:${seat}`,
      x,
      y,
      label: seatText(context, seat),
      stamp: [width, height, name, size, supply, played, drawn, final, turns].join(),
      draw: () => (isRoomy ? roomyPlate : tightPlate)(plate, width, height),
    },
    ...Array.from({ length: backs }, (_, index) => {
      const isKnown = shown[index] !== undefined;
      const sign = () => isKnown && words("≠", 0, 0, 14, { fill: "var(--card-back-2)", weight: 700 });
      // At the end the others show what they hold.
      const open = handCards[index];
      return {
        key: `back:${seat}:${index}`,
        x: x + left + index * (backSize + 3),
        y: y + ROW,
        stamp: `${backSize} ${isKnown} ${size > 0} ${open}`,
        draw: () =>
          open === undefined
            ? s("g", { opacity }, back(backSize), sign())
            : openCard(context, open, backSize),
        from: pile,
      };
    }),
  ];
}

/**
 * @param {Context} context
 * @param {number} kind
 * @param {number} size
 */
function openCard(context, kind, size) {
  const card = cardOf(context, kind);
  return card.role === "CHAT_CARTONNE_ROLE_PRINCESS" ? princessCard(size) : cartonCard(size, card);
}

// Where on a plate the row of cards and cats is.
const ROW = 44;

/** @param {boolean} isRoomy */
function plateColumns(isRoomy) {
  const backSize = isRoomy ? 20 : 17;
  return { left: isRoomy ? 58 + backSize / 2 : 17, backSize };
}

/**
 * @param {Plate} plate
 * @param {number} width
 * @param {number} height
 */
function roomyPlate({ seat, name, supply, cats, played, drawn, holds, turns }, width, height) {
  const hasDrawn = height > 70;
  const left = 58;
  const catsLeft = left + 3 * (20 + 3) + 12;
  const step = Math.min(17, (width - catsLeft - 4) / Math.max(1, cats));
  const said = cut(name, 16, width - left - (8 + 17 * played));
  return s(
    "g",
    {},
    panel(width, height, turns),
    placed(29, height / 2 - (hasDrawn ? 10 : 0), 1, 0, seatMark(seat, 38)),
    placed(catsLeft, ROW, 1, 0, supplyRow(seat, supply, cats, step)),
    hasDrawn && words(drawn, 14, height - 15, 12.5, { anchor: "start", fill: "var(--ink-soft)" }),
    holds !== undefined && placed(width - 20, 20, 1, 0, boxSign(22, holds)),
    crowns(played, width - (holds === undefined ? 18 : 44), 20),
    words(said, left, 20, 16, { anchor: "start", weight: 700 }),
  );
}

/**
 * @param {Plate} plate
 * @param {number} width
 * @param {number} height
 */
function tightPlate({ seat, name, size, supply, played, holds, turns }, width, height) {
  const catsLeft = width / 2 + 12;
  return s(
    "g",
    {},
    panel(width, height, turns),
    placed(17, 19, 1, 0, seatMark(seat, 26)),
    crowns(played, 16 + 4 * (played - 1), 6),
    holds !== undefined && placed(17, ROW, 1, 0, boxSign(18, holds)),
    words(String(size), 29, ROW, 14, { anchor: "start" }),
    placed(catsLeft, ROW, 1, 0, s("g", { opacity: supply > 0 ? 1 : 0.4 }, supplyRow(seat, 1, 1, 18))),
    words(String(supply), catsLeft + 12, ROW, 14, { anchor: "start" }),
    words(cut(name, 12, width - 31 - 4), 31, 18, 12, { anchor: "start", weight: 700 }),
  );
}

/**
 * Crowns of Princesses played, from the right.
 * @param {number} count
 * @param {number} x
 * @param {number} y
 */
function crowns(count, x, y) {
  return Array.from({ length: count }, (_, index) => placed(x - 10 * index, y, 1, 0, crown(15)));
}

/**
 * What lies before the player at the bottom.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
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
 * Keep which cards of the hand are turned.
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
  const isActive = turn === bottom;
  const edge = { y: 0, width, height: isActive ? 4 : 1, fill: isActive ? "var(--accent)" : "var(--line)" };
  return {
    key: "tray",
    x: 0,
    y: tray.y,
    stamp: `${width} ${tray.height} ${isActive}`,
    draw: () =>
      s("g", {}, s("rect", { width, height: tray.height, fill: "var(--surface)" }), s("rect", edge)),
  };
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item}
 */
function ownPlateItem(context, { tray, bottom, isWide, isSmall, pad, head }) {
  const { view, t } = context;
  const plate = plateOf(context, bottom);
  const { played, holds } = plate;
  const drawn = isSmall && view.finalPhase ? "" : plate.drawn;
  const name = isSmall && view.finalPhase ? "" : plate.name;
  const final = holds === undefined ? "" : String(holds);
  const left = pad + 26;
  const taken = view.finalPhase && !isWide ? signLength(t("final-short")) + 8 : 0;
  const nameEnd = left + (name === "" ? taken : name.length * 15 * 0.7);
  const middle = head / 2 + 2;
  const crownsEnd = nameEnd + (played > 0 ? 12 + 10 * played : 0);
  const [x, anchor] = isSmall
    ? /** @type {const} */ ([crownsEnd + 8, "start"])
    : /** @type {const} */ ([tray.width - pad - (final === "" ? 0 : 30 + taken), "end"]);
  return {
    key: `plate:${bottom}`,
    x: tray.x,
    y: tray.y,
    label: seatText(context, bottom),
    stamp: [tray.width, name, played, drawn, final].join(),
    draw: () =>
      s(
        "g",
        {},
        placed(pad + 10, middle, 1, 0, seatMark(bottom, 21)),
        words(name, left, middle, 15, { anchor: "start", weight: 700 }),
        crowns(played, nameEnd + 10 * played, middle - 1),
        words(drawn, x, middle, 12.5, { anchor, fill: "var(--ink-soft)", weight: 500 }),
        holds !== undefined &&
          !isSmall &&
          placed(tray.width - pad - 12, middle - 1, 1, 0, boxSign(20, holds)),
      ),
  };
}

/**
 * The pile, and what is left of its parts.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function pileItems(context, { pile, tile, bottom, isWide }) {
  const { view, t } = context;
  const count = view.drawPileSize ?? 0;
  const final = view.finalPhase ? String(seatOf(context, bottom).holdsCarton ?? false) : "";
  const parts = (view.parts ?? []).map((_, part) => partText(context, part)).join("; ");
  return [
    {
      key: "pile",
      ...pile,
      pick: "pile",
      stamp: `${tile} ${count} ${final}`,
      label: t("pile-button", { count }),
      draw: () => s("g", { opacity: view.finalPhase ? 0.5 : 1 }, pileCard(tile, count)),
    },
    {
      key: "parts",
      ...(isWide ? { x: pile.x + tile / 2 + 14, y: pile.y } : { x: pile.x, y: pile.y + tile / 2 + 14 }),
      ...(parts && { label: parts }),
      stamp: JSON.stringify([tile, isWide, view.parts]),
      draw: () => partsOf(context, tile, isWide),
    },
  ];
}

/**
 * The cats that are not laid yet.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function catItems(context, { tile, bottom, cats: place }) {
  const { me, details, seatName, t } = context;
  const supply = seatOf(context, bottom).supply ?? 0;
  const cats = details.catsPerSeat ?? 0;
  const step = Math.min(17, tile / Math.max(1, cats));
  const transform = `translate(${(-step * (cats - 1)) / 2} 0)`;
  return [
    {
      key: "cat",
      ...place,
      ...(bottom === me && { pick: "cat" }),
      stamp: `${tile} ${bottom} ${supply > 0}`,
      draw: () => s("g", { opacity: supply > 0 ? 1 : 0.35 }, sleeperCard(tile, bottom)),
      label: t(bottom === me ? "cat-card" : "cats-left", { name: seatName(bottom), count: supply }),
    },
    {
      key: "supply",
      x: place.x,
      y: place.y + tile / 2 + 14,
      stamp: `${tile} ${bottom} ${supply}`,
      draw: () => s("g", { transform }, supplyRow(bottom, supply, cats, step)),
    },
  ];
}

/**
 * The cards of the hand.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
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
    stamp: String(tile),
    draw: () => back(tile),
    from: pile,
  }));
  return [
    ...backs,
    ...held.flatMap((card, index) => handCardItems(context, layout, card, at(hidden + index))),
  ];
}

/**
 * The card that another seat has drawn and must play.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
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
      stamp: `shown ${tile}`,
      layer: 2,
      draw: () => cartonCard(tile, cardOf(context, shown.kind)),
      from: pile,
      label: t("toy-drawn", { name: seatName(active), card: nameOf("card", shown.kind) }),
    },
  ];
}

/**
 * A card of the hand, and the button that turns it.
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
    return [
      {
        key,
        ...at,
        pick: "princess",
        stamp: String(tile),
        draw: () => princessCard(tile),
        from: pile,
        label: name(false),
      },
    ];
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
      stamp: `${tile} ${turned}`,
      from: pile,
      label: name(turned),
      ...(!isFixed && { pick: form(turned) }),
      draw: () => s("g", {}, cartonCard(tile, card, turned), isDrawn && framed(tile)),
    },
  ];
  const other = form(!turned);
  if (canTurn && !isFixed && (candidates.has(other) || picked[0] === form(turned))) {
    items.push({
      key: `turn:${kind}`,
      x: at.x,
      y: at.y + tile / 2 + 5,
      stamp: "",
      pick: other,
      draw: () => turnButton(36),
      label: t("turn", { card: nameOf(turned ? "card" : "turned", kind) }),
    });
  }
  return items;
}

/** @param {number} tile */
function framed(tile) {
  return s("rect", {
    x: -tile / 2 - 4,
    y: -tile / 2 - 4,
    width: tile + 8,
    height: tile + 8,
    rx: 10,
    fill: "none",
    stroke: "var(--accent)",
    "stroke-width": 3,
  });
}

/**
 * @param {number} tile
 * @param {number} count
 */
function pileCard(tile, count) {
  if (count === 0) {
    return s("rect", {
      x: -tile / 2,
      y: -tile / 2,
      width: tile,
      height: tile,
      rx: 8,
      fill: "none",
      stroke: "var(--line)",
      "stroke-width": 2,
      "stroke-dasharray": "6 5",
    });
  }
  const layers = Math.min(3, Math.ceil(count / 25));
  return s(
    "g",
    {},
    Array.from({ length: layers }, (_, index) => placed(0, (layers - 1 - index) * 2.5, 1, 0, back(tile))),
    s("rect", {
      x: -18,
      y: -12,
      width: 36,
      height: 24,
      rx: 12,
      fill: "var(--surface)",
      stroke: "var(--line)",
    }),
    words(String(count), 0, 0, 15, { weight: 700 }),
  );
}

/**
 * @param {Context} context
 * @param {number} tile
 * @param {boolean} isWide
 */
function partsOf({ view, details, players }, tile, isWide) {
  const { parts = [] } = view;
  const { partSizes = [], wholePileSize } = details.byPlayers?.find((each) => each.players === players) ?? {};
  const sizes = partSizes.length === parts.length ? partSizes : [wholePileSize];
  const bars = parts.map(({ cardsLeft: left = 0, ownPrincess = false }, index) => ({
    left,
    size: Math.max(1, left, sizes[index] ?? 1),
    hasCrown: ownPrincess,
  }));
  return isWide ? placed(50, 0, 1, 0, pileBars(bars, 100, true)) : pileBars(bars, tile, false);
}

/**
 * The sign that nobody draws any longer.
 * @param {Context} context
 * @param {Layout} layout
 * @returns {Item[]}
 */
function finalItems({ view, t }, { tray, head, pad, isWide, isSmall, width }) {
  if (!view.finalPhase) {
    return [];
  }
  const text = t("final-short");
  const length = signLength(text);
  const x = isWide ? pad + 6 + length / 2 : isSmall ? pad + 26 + length / 2 : width - pad - 34 - length / 2;
  const draw = () =>
    s(
      "g",
      {},
      s("rect", { x: -length / 2, y: -11, width: length, height: 22, rx: 11, fill: "var(--accent)" }),
      words(text, 0, 0, 12.5, { fill: "var(--accent-ink)", weight: 700 }),
    );
  return [{ key: "final", x, y: tray.y + head / 2 + 2, stamp: text, label: t("final"), draw }];
}

/** @param {string} text */
function signLength(text) {
  return text.length * 7 + 18;
}
