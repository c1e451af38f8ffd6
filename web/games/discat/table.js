// The middle of Discat's table: the draw pile, the constraint and the number line.

import { seatMark } from "../../art/cards.js";
import { badgeItem, drawnBy, panelItem, plate, stepOf } from "../../art/table_pieces.js";
import { cut, widthOf, wrap, write, writeLines } from "../../art/text.js";
import { seatOf, usedBy } from "../../views.js";
import {
  CARD,
  constraintSign,
  emptyPlace,
  freeSign,
  hiddenCard,
  openCard,
  PANEL,
  scaleOfNumbers,
} from "./parts.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./view.js").Context} Context */

/**
 * Return the items in the middle of the table.
 * @type {Part}
 */
export function tableItems(context, layout) {
  return [
    panelItem("panel:draw", layout.pile.box, false, PANEL),
    ...pileItems(context, layout),
    ...lastTurnsItems(context, layout),
    ...queueItems(context, layout),
    ...signItems(context, layout),
    ...(layout.line ? [lineItem(context, layout.line)] : []),
  ];
}

/** @type {Part} */
function pileItems({ view, t }, { pile: { box, spot }, isNarrow }) {
  const size = view.drawPileSize ?? 0;
  const label = t("draw-pile", { count: size });
  const depth = Math.min(3, Math.ceil(size / 8));
  const name = {
    key: "draw:name",
    x: box.x + 14,
    y: box.y + 26,
    ...drawnBy(write, t("draw-name"), 0, 0, 15, { anchor: "start" }),
  };
  const cards = Array.from({ length: depth }, (_, layer) => {
    const under = depth - 1 - layer;
    const place = { ...spot, x: spot.x + under * 2, y: spot.y + under * 2.5 };
    return hiddenCard(`draw:${layer}`, place, under === 0 ? { label } : {});
  });
  return [
    ...(isNarrow ? [] : [name]),
    ...cards,
    size > 0
      ? badgeItem("draw:count", spot.x, spot.y + (CARD.width * spot.scale * CARD.ratio) / 2, `×${size}`, {
          size: 13,
        })
      : { key: "draw:slot", ...spot, ...drawnBy(emptyPlace, t("empty"), spot.scale), label },
  ];
}

/**
 * Return the text that shows how many turns are left; no item before the last turns.
 * @type {Part}
 */
function lastTurnsItems({ view, t }, { pile: { box }, isNarrow }) {
  const count = view.lastTurnsLeft ?? 0;
  if (count === 0) {
    return [];
  }
  const text = t("last-turns", { count });
  const lines = wrap(text, box.width - 12, 13);
  return [
    {
      key: "last",
      x: box.x + box.width / 2,
      y: isNarrow ? box.y + box.height - 30 : box.y + 24,
      layer: 6,
      ...drawnBy(writeLines, lines, 0, -8 * (lines.length - 1), 13, 16),
      label: text,
    },
  ];
}

/**
 * Return the items of the queue. The queue lists the cards under the draw pile in order.
 * @type {Part}
 */
function queueItems(context, layout) {
  const { view, t } = context;
  const { queue = [] } = view;
  if (queue.length === 0) {
    return [];
  }
  const { start, top, placeOf, step, mini } = queueLayout(layout, queue.length);
  /** @type {Item} */
  const name = {
    key: "queue:name",
    x: start,
    y: top - 14,
    ...drawnBy(write, t("under"), 0, 0, 13, { anchor: "start", fill: "var(--ink-soft)" }),
  };
  return [
    ...(layout.isNarrow ? [] : [name]),
    ...queue.flatMap(({ seat = 0, card }, index) => {
      const place = placeOf(index);
      const shown = queuedCard(context, layout, { seat, card, index, place });
      /** @type {Item} */
      const mark = {
        key: `queue-seat:${index}`,
        x: place.x,
        y: place.y + (mini * CARD.ratio) / 2 - 4,
        layer: 1,
        ...drawnBy(seatMark, seat, 14),
      };
      return card === undefined && step >= 15 ? [shown, mark] : [shown];
    }),
  ];
}

/**
 * Lay out the queue in rows.
 * @param {Layout} layout
 * @param {number} count the number of cards in the queue
 */
function queueLayout({ pile: { box, spot }, isNarrow }, count) {
  const width = CARD.width * spot.scale;
  const height = width * CARD.ratio;
  const mini = box.width < 250 ? 22 : 30;
  const start = isNarrow ? box.x + 6 : spot.x + width / 2 + 20;
  const end = box.x + box.width - (isNarrow ? 6 : 10);
  const top = isNarrow ? spot.y + height / 2 + 11 : spot.y - height / 2 + 24;
  const rowHeight = mini * CARD.ratio + 4;
  const most = Math.max(1, Math.floor((box.y + box.height - 4 - top) / rowHeight));
  const usual = Math.max(1, 1 + Math.floor((end - start - mini) / (mini * 0.95)));
  const columns = Math.max(usual, Math.ceil(count / most));
  const step = stepOf(Math.min(columns, count), mini + 4, end - start - mini);
  const placeOf = (/** @type {number} */ index) => ({
    x: start + mini / 2 + (index % columns) * step,
    y: top + rowHeight * (Math.floor(index / columns) + 0.5) - 2,
    scale: mini / CARD.width,
  });
  return { start, top, placeOf, step, mini };
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {{seat: number, card: number | undefined, index: number, place: import("./layout.js").Spot}} queued
 */
function queuedCard(context, { pile: { spot: to } }, { seat, card, index, place }) {
  const { t, seatName } = context;
  const name = seatName(seat);
  return card === undefined
    ? hiddenCard(`queue:${index}`, place, { to, label: t("queued", { name }) })
    : openCard(context, card, place, { to, layer: 1, label: t("queued-card", { card, name }) });
}

/**
 * Return the sign that shows which cards may be played.
 * @type {Part}
 */
function signItems({ view, t, seatName, nameOf }, { sign: { x, y: top, size }, pile, own }) {
  const now = view.constraint;
  const y = top + size / 2;
  if (!now) {
    const words = [t("free"), t("any")];
    return [{ key: "sign", x, y, ...drawnBy(freeSign, size, words), label: t("sign-free") }];
  }
  const { card = 0, higher = false, creator = 0, bonusDrawn = false } = now;
  const than = t(higher ? "higher" : "lower");
  const name = seatName(creator);
  const more = bonusDrawn && size > 150 ? ` · ${t("bonus-drawn")}` : "";
  const free = 2 * Math.min(x - pile.box.x - pile.box.width, own.box.x - x) - 44 - widthOf(more, 13);
  const said = cut(t("by", { name }), free, 13) + more;
  const room = widthOf(said, 13);
  const left = -room / 2;
  return [
    {
      key: "sign",
      x,
      y,
      ...drawnBy(constraintSign, size, nameOf("card", card), than, higher),
      label: t("sign-by", { than, card, name }),
    },
    {
      key: "sign:by",
      x,
      y: top + size + 20,
      ...drawnBy(plate, creator, said, { mark: [left - 2, 0, 24], text: [left + 15, 0, 13], room }),
    },
  ];
}

/**
 * Return the number line, from the lowest card of the game to the highest.
 * @param {Context} context
 * @param {{x: number, y: number, width: number}} place the middle of the line's upper edge, and its width, in pixels
 * @returns {Item}
 */
function lineItem(context, { x, y, width }) {
  const { view, details, players, me } = context;
  const used = usedBy(details.cards, players).map(({ card = 0 }) => card);
  const { handCards: hand = [] } = seatOf(context, me ?? players);
  const { card, higher = false } = view.constraint ?? {};
  const shown = {
    least: Math.min(...used),
    most: Math.max(...used),
    card,
    higher,
    hand,
    width: Math.round(width),
  };
  return { key: "line", x, y, ...drawnBy(scaleOfNumbers, shown) };
}
