// The things beside the board of Chat Cartonne: plates of players, the hand, the pile.

import { seatMark } from "../../art/cards.js";
import { crown } from "../../art/pieces.js";
import { placed } from "../../art/shapes.js";
import { s } from "../../dom.js";
import { formKey, hasOneForm, heldBy, phaseOf } from "./layout.js";
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
import { drawnText, partText, princessesOf, seatText } from "./text.js";

/** @typedef {import("../../game.js").Context} Context */
/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Point} Point */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Held} Held */

/**
 * The starting cartons from which the first one is chosen.
 * @param {Context} context @param {Layout} layout @returns {Item[]}
 */
export function startsOf(context, { free: board }) {
  const { view, details, nameOf, t } = context;
  if (phaseOf(view) !== "CHOOSE_START") {
    return [];
  }
  const forms = (details.cards ?? [])
    .filter((/** @type {any} */ { role }) => role === "CHAT_CARTONNE_ROLE_STARTING_CARTON")
    .flatMap((/** @type {any} */ card) => {
      const other = turnedCard(card);
      return faceOf(other) === faceOf(card)
        ? [{ card, turned: false }]
        : [
            { card, turned: false },
            { card: other, turned: true },
          ];
    });
  const gap = 16;
  const inRow = Math.max(1, Math.min(forms.length, Math.floor((board.width - 24) / (76 + gap))));
  const rows = Math.ceil(forms.length / inRow);
  const columns = Math.ceil(forms.length / rows);
  const size = Math.min(84, (board.width - 24) / columns - gap, (board.height - 24) / rows - gap);
  return forms.map(
    (/** @type {{card: any, turned: boolean}} */ { card, turned }, /** @type {number} */ index) => {
      const pick = formKey("start", card.card ?? 0, turned);
      const row = Math.floor(index / columns);
      const inThis = Math.min(columns, forms.length - row * columns);
      return {
        key: pick,
        pick,
        stamp: `${size}`,
        draw: () => cartonCard(size, card),
        x: board.x + board.width / 2 + ((index % columns) - (inThis - 1) / 2) * (size + gap),
        y: board.y + board.height / 2 + (row - (rows - 1) / 2) * (size + gap),
        label: t("start", { card: nameOf(turned ? "turned" : "card", card.card ?? 0) }),
      };
    },
  );
}

/**
 * The plate of another player.
 * @param {Context} context @param {Layout} layout
 * @param {{seat: number, x: number, y: number, width: number, height: number}} place
 * @returns {Item[]}
 */
export function plateOf(context, layout, { seat, x, y, width, height }) {
  const { view, details, seatName, turn } = context;
  const state = view.seats?.[seat] ?? {};
  const size = state.handSize ?? 0;
  const supply = state.supply ?? 0;
  const isRoomy = width >= 190;
  const played = princessesOf(state);
  const drawn = drawnText(context, state);
  const left = isRoomy ? 58 : 31;
  const nameY = isRoomy ? 20 : 18;
  const rowY = 44;
  const backSize = isRoomy ? 20 : 17;
  const hasDrawn = height > 70;
  const final = view.finalPhase ? String(state.holdsCarton ?? false) : "";
  const nameSize = isRoomy ? 16 : 12;
  const nameRoom = width - left - (isRoomy ? 8 + 17 * played : 4);
  const cats = details.catsPerSeat ?? 0;
  const backsLeft = isRoomy ? left + backSize / 2 : 17;
  const catsLeft = isRoomy ? left + 3 * (backSize + 3) + 12 : width / 2 + 12;
  const catStep = Math.min(17, (width - catsLeft - 4) / Math.max(1, cats));
  /** @type {Item[]} */
  const items = [
    {
      key: `plate:${seat}`,
      x,
      y,
      label: seatText(context, seat),
      stamp: [width, height, seatName(seat), size, supply, played, drawn, final, turn === seat].join(),
      draw: () =>
        s(
          "g",
          {},
          panel(width, height, turn === seat),
          isRoomy
            ? [
                placed(29, height / 2 - (hasDrawn ? 10 : 0), 1, 0, seatMark(seat, 38)),
                placed(catsLeft, rowY, 1, 0, supplyRow(seat, supply, cats, catStep)),
                hasDrawn && words(drawn, 14, height - 15, 12.5, { anchor: "start", fill: "var(--ink-soft)" }),
                final !== "" && placed(width - 20, nameY, 1, 0, boxSign(22, final === "true")),
                crowns(played, width - (final === "" ? 18 : 44), nameY),
              ]
            : [
                placed(17, 19, 1, 0, seatMark(seat, 26)),
                crowns(played, 16 + 4 * (played - 1), 6),
                final !== "" && placed(backsLeft, rowY, 1, 0, boxSign(18, final === "true")),
                words(String(size), 29, rowY, 14, { anchor: "start" }),
                placed(
                  catsLeft,
                  rowY,
                  1,
                  0,
                  s("g", { opacity: supply > 0 ? 1 : 0.4 }, supplyRow(seat, 1, 1, 18)),
                ),
                words(String(supply), catsLeft + 12, rowY, 14, { anchor: "start" }),
              ],
          words(cut(seatName(seat), nameSize, nameRoom), left, nameY, nameSize, {
            anchor: "start",
            weight: 700,
          }),
        ),
    },
  ];
  const backs = isRoomy ? size : final === "" ? 1 : 0;
  const [shown = []] = [state.shown];
  for (let index = 0; index < backs; index++) {
    const told = shown[index];
    items.push({
      key: `back:${seat}:${index}`,
      x: x + backsLeft + index * (backSize + 3),
      y: y + rowY,
      stamp: `${backSize} ${told !== undefined} ${size > 0}`,
      draw: () =>
        s(
          "g",
          { opacity: size > 0 ? 1 : 0.4 },
          back(backSize),
          told && words("≠", 0, 0, 14, { fill: "var(--card-back-2)", weight: 700 }),
        ),
      from: layout.pile,
    });
  }
  return items;
}

/** Crowns of Princesses played, from the right. @param {number} count @param {number} x @param {number} y */
function crowns(count, x, y) {
  return Array.from({ length: count }, (_, index) => placed(x - 10 * index, y, 1, 0, crown(15)));
}

/**
 * What lies before the player at the bottom.
 * @param {Context} context @param {Layout} layout @returns {Item[]}
 */
export function trayOf(context, layout) {
  const { view, me, turn, details, seatName, t } = context;
  const { tray, tile, bottom, hand: slots, pile, isWide, isSmall, pad } = layout;
  const state = view.seats?.[bottom] ?? {};
  const supply = state.supply ?? 0;
  const played = princessesOf(state);
  const drawn = isSmall && view.finalPhase ? "" : drawnText(context, state);
  const final = view.finalPhase ? String(state.holdsCarton ?? false) : "";
  const underY = tile / 2 + 14;
  const ink = "var(--ink-soft)";
  const nameLeft = pad + 26;
  const taken = view.finalPhase && !isWide ? signLength(t("final-short")) + 8 : 0;
  const name = isSmall && view.finalPhase ? "" : seatName(bottom);
  const nameEnd = nameLeft + (name === "" ? taken : name.length * 15 * 0.7);
  const middle = layout.head / 2 + 2;
  const crownsEnd = nameEnd + (played > 0 ? 12 + 10 * played : 0);
  /** @type {Item[]} */
  const items = [
    {
      key: "tray",
      x: 0,
      y: tray.y,
      stamp: `${layout.width} ${tray.height} ${turn === bottom}`,
      draw: () =>
        s(
          "g",
          {},
          s("rect", { width: layout.width, height: tray.height, fill: "var(--surface)" }),
          s("rect", {
            y: 0,
            width: layout.width,
            height: turn === bottom ? 4 : 1,
            fill: turn === bottom ? "var(--accent)" : "var(--line)",
          }),
        ),
    },
    {
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
          words(name, nameLeft, middle, 15, { anchor: "start", weight: 700 }),
          crowns(played, nameEnd + 10 * played, middle - 1),
          isSmall
            ? words(drawn, crownsEnd + 8, middle, 12.5, { anchor: "start", fill: ink, weight: 500 })
            : words(drawn, tray.width - pad - (final === "" ? 0 : 30 + taken), middle, 12.5, {
                anchor: "end",
                fill: ink,
                weight: 500,
              }),
          final !== "" &&
            !isSmall &&
            placed(tray.width - pad - 12, middle - 1, 1, 0, boxSign(20, final === "true")),
        ),
    },
    {
      key: "pile",
      ...pile,
      pick: "pile",
      stamp: `${tile} ${view.drawPileSize ?? 0} ${final}`,
      label: t("pile-button", { count: view.drawPileSize ?? 0 }),
      draw: () => s("g", { opacity: view.finalPhase ? 0.5 : 1 }, pileCard(tile, view.drawPileSize ?? 0)),
    },
    {
      key: "parts",
      ...(isWide ? { x: pile.x + tile / 2 + 14, y: pile.y } : { x: pile.x, y: pile.y + underY }),
      label:
        (view.parts ?? [])
          .map((/** @type {any} */ _, /** @type {number} */ part) => partText(context, part))
          .join("; ") || undefined,
      stamp: JSON.stringify([tile, isWide, view.parts]),
      draw: () => partsOf(context, tile, isWide),
    },
    {
      key: "cat",
      ...layout.cats,
      pick: bottom === me ? "cat" : undefined,
      stamp: `${tile} ${bottom} ${supply > 0}`,
      draw: () => s("g", { opacity: supply > 0 ? 1 : 0.35 }, sleeperCard(tile, bottom)),
      label: t(bottom === me ? "cat-card" : "cats-left", { name: seatName(bottom), count: supply }),
    },
    {
      key: "supply",
      x: layout.cats.x,
      y: layout.cats.y + underY,
      stamp: `${tile} ${bottom} ${supply}`,
      draw: () => {
        const cats = details.catsPerSeat ?? 0;
        const step = Math.min(17, tile / Math.max(1, cats));
        return s(
          "g",
          { transform: `translate(${(-step * (cats - 1)) / 2} 0)` },
          supplyRow(bottom, supply, cats, step),
        );
      },
    },
  ];
  if (view.finalPhase) {
    items.push(finalSign(layout, t("final-short"), t("final")));
  }
  const held = heldBy(context, bottom);
  const hidden = (state.handCards ?? []).length > 0 ? 0 : (state.handSize ?? 0);
  const first = layout.hand[0] ?? layout.cats;
  const at = (/** @type {number} */ index) => ({
    x: first.x + (index + (slots.length - held.length - hidden) / 2) * (tile + layout.gap),
    y: first.y,
  });
  for (let index = 0; index < hidden; index++) {
    items.push({
      key: `back:${bottom}:${index}`,
      ...at(index),
      stamp: String(tile),
      draw: () => back(tile),
      from: pile,
    });
  }
  held.forEach((card, index) => items.push(...handCardOf(context, layout, card, at(hidden + index))));
  const active = view.activeSeat;
  const shown = active === bottom ? undefined : heldBy(context, active).find(({ isDrawn }) => isDrawn);
  if (shown) {
    items.push({
      key: shown.key,
      x: layout.free.x + 16 + tile / 2,
      y: layout.free.y + 16 + tile / 2,
      stamp: `shown ${tile}`,
      layer: 2,
      draw: () => cartonCard(tile, details.cards[shown.kind] ?? {}),
      from: pile,
      label: t("toy-drawn", { name: seatName(active), card: context.nameOf("card", shown.kind) }),
    });
  }
  return items;
}

/**
 * A card of the hand, and the button that turns it.
 * @param {Context} context @param {Layout} layout @param {Held} held @param {Point} at
 * @returns {Item[]}
 */
function handCardOf(context, { tile, pile }, { kind, key, isDrawn }, at) {
  const { details, nameOf, t, ui, view, candidates, picked } = context;
  const card = details.cards[kind] ?? {};
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
  const turned = canTurn && (ui[`turned:${kind}`] ?? false);
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
      pick: isFixed ? undefined : form(turned),
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

/** @param {number} tile @param {number} count */
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

/** @param {Context} context @param {number} tile @param {boolean} isWide */
function partsOf({ view, details, players }, tile, isWide) {
  const parts = view.parts ?? [];
  const table = (details.byPlayers ?? []).find((/** @type {any} */ each) => each.players === players) ?? {};
  const sizes = (table.partSizes ?? []).length === parts.length ? table.partSizes : [table.wholePileSize];
  const bars = parts.map(
    (/** @type {any} */ { cardsLeft: left = 0, ownPrincess = false }, /** @type {number} */ index) => ({
      left,
      size: Math.max(1, left, sizes[index] ?? 1),
      hasCrown: ownPrincess,
    }),
  );
  return isWide ? placed(50, 0, 1, 0, pileBars(bars, 100, true)) : pileBars(bars, tile, false);
}

/**
 * Says that nobody draws any longer.
 * @param {Layout} layout @param {string} text @param {string} label @returns {Item}
 */
function finalSign({ tray, head, pad, isWide, isSmall, width }, text, label) {
  const length = signLength(text);
  const x = isWide ? pad + 6 + length / 2 : isSmall ? pad + 26 + length / 2 : width - pad - 34 - length / 2;
  return {
    key: "final",
    x,
    y: tray.y + head / 2 + 2,
    stamp: text,
    label,
    draw: () =>
      s(
        "g",
        {},
        s("rect", { x: -length / 2, y: -11, width: length, height: 22, rx: 11, fill: "var(--accent)" }),
        words(text, 0, 0, 12.5, { fill: "var(--accent-ink)", weight: 700 }),
      ),
  };
}

/** @param {string} text */
function signLength(text) {
  return text.length * 7 + 18;
}
