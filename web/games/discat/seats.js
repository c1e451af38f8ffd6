// The seats of Discat: their hands, piles and bonus cards.

import { badgeItem, drawnBy, fan, panelItem, plate, stepOf } from "../../art/table_pieces.js";
import { numberOf } from "../../picks.js";
import { seatOf } from "../../views.js";
import { CARD, emptyPlace, hiddenCard, openCard, PANEL } from "./parts.js";
import { keyOf } from "./picks.js";
import { digitsOf, passedSeats, pointsUp, topOf } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Place} Place */
/** @typedef {import("./layout.js").Spot} Spot */
/** @typedef {import("./view.js").Context} Context */

/**
 * Return the items of all panels of players, and of the other seats' hands.
 * @type {Part}
 */
export function seatItems(context, layout) {
  const drawSpot = layout.pile.spot;
  return [
    ...panelItems(context, layout.own),
    ...layout.others.flatMap((place) => {
      const hand = otherHandItems(context, place, drawSpot);
      return [...panelItems(context, place, hand[0]?.x), ...hand];
    }),
  ];
}

/**
 * Return the items of the hand at the bottom.
 * @type {Part}
 */
export function handItems(context, { own: { seat, spot }, handRoom: room, pile }) {
  const { handSize = 0, handCards = [] } = seatOf(context, seat);
  const width = CARD.width * spot.scale;
  const step = stepOf(handSize, width + (room > 560 ? 12 : 5), room - width);
  const places = fan(handSize, spot.x, step);
  const items = places.map((x, index) => {
    const card = handCards[index];
    return card === undefined
      ? hiddenCard(`back:${seat}:${index}`, { ...spot, x }, { layer: 3, from: pile.spot })
      : handCard(context, card, { ...spot, x }, seat, pile.spot);
  });
  const top = topOf(context);
  const x = places[top === undefined ? -1 : handCards.indexOf(top)];
  if (context.actions.length > 0 && x !== undefined) {
    const look = { fill: "var(--picked)", ink: "var(--surface)", line: "var(--picked)" };
    items.push(badgeItem("on-top", x, spot.y - (width * CARD.ratio) / 2 - 22, context.t("on-top"), look));
  }
  return items;
}

/**
 * Return the item of a card in the hand at the bottom.
 * @param {Context} context
 * @param {number} card
 * @param {Spot} spot
 * @param {number} seat
 * @param {Spot} from the position of the draw pile, from which a new card arrives
 */
function handCard(context, card, spot, seat, from) {
  const { view, details, me, picked, candidates, t, nameOf } = context;
  const key = keyOf(card);
  const chosen = picked.map(numberOf);
  const isPicked = picked.includes(key);
  const isNext = candidates.has(key);
  const lift = isPicked ? 20 : isNext ? 5 : 0;
  const looksAlike = chosen.length > 0 && (isNext || (isPicked && chosen.length > 1));
  const same = (/** @type {"tens" | "units"} */ digit) =>
    looksAlike && chosen.every((other) => digitsOf(details, other)[digit] === digitsOf(details, card)[digit]);
  const arrow = t(pointsUp(view, card) ? "up" : "down");
  const look = { sharesTens: same("tens"), sharesUnits: same("units") };
  const mine =
    me === seat
      ? { pick: key, label: t("in-hand", { card: nameOf("card", card), arrow }) }
      : { label: nameOf("card", card) };
  return openCard(context, card, { ...spot, y: spot.y - lift }, { layer: 3, from, ...mine }, look);
}

/**
 * Return the items of a seat's panel: the name, the pile and the bonus cards.
 * @param {Context} context
 * @param {Place} place
 * @param {number} [handX] the middle of the first card of the hand, on the panel of another seat
 * @returns {Item[]}
 */
function panelItems(context, place, handX = Infinity) {
  const { turn, t, seatName } = context;
  const { seat } = place;
  const { pile = [] } = seatOf(context, seat);
  const label = t("panel", { name: seatName(seat), count: pile.length });
  return [
    { ...panelItem(`panel:${seat}`, place.box, turn === seat, PANEL), label },
    nameItem(context, place, handX),
    ...seatPileItems(context, place),
    ...bonusItems(context, place),
    ...stateItems(context, place),
  ];
}

/**
 * @param {Context} context
 * @param {Place} place
 * @param {number} handX
 * @returns {Item}
 */
function nameItem({ seatName }, { seat, box, spot, isTight, alignment }, handX) {
  const mark = isTight ? 28 : box.width < 200 ? 34 : 38;
  const middle = box.width / 2;
  const y = 7 + mark / 2;
  const isOwnRow = spot.y > box.y + box.height;
  /** @type {Parameters<typeof plate>[2]} */
  const place = isTight
    ? { mark: [middle, y, mark], text: [middle, 47, 13], room: box.width - 4, least: 12, anchor: "middle" }
    : {
        mark: [8 + mark / 2, y, mark],
        text: [mark + 14, isOwnRow ? y : 18, 15],
        // The hand is next to the name on a wide panel.
        room: Math.min(box.width, alignment < 1 ? Infinity : handX - box.x - 20) - mark - 22,
        least: 12,
      };
  return { key: `name:${seat}`, x: box.x, y: box.y, ...drawnBy(plate, seat, seatName(seat), place) };
}

/**
 * Return the items of a seat's pile. Its last cards are fanned out as far as the panel's width allows.
 * @param {Context} context
 * @param {Place} place
 * @returns {Item[]}
 */
function seatPileItems(context, { seat, box, card: width, spot, isTight }) {
  const { view, t, seatName, nameOf } = context;
  const { pile = [], bonusPile = [] } = seatOf(context, seat);
  const height = width * CARD.ratio;
  const y = box.y + box.height - 18 - height / 2;
  const bonusRoom =
    isTight || bonusPile.length === 0 ? 0 : (box.width < 200 ? width * 0.46 : height * 0.62) + 14;
  const fanRoom = box.width - 20 - width - bonusRoom;
  const step = isTight ? 5 : Math.max(23, width * 0.27);
  const most = Math.min(isTight ? 3 : 14, 1 + Math.floor(fanRoom / step));
  const shown = pile.slice(-Math.max(1, most));
  const left = isTight ? box.x + box.width / 2 - ((shown.length - 1) * step) / 2 : box.x + 10 + width / 2;
  const scale = width / CARD.width;
  if (pile.length === 0) {
    return [{ key: `slot:${seat}`, x: left, y, scale, ...drawnBy(emptyPlace, "", 1) }];
  }
  const items = shown.map(({ card = 0, faceDown = false }, index) => {
    const isTop = index === shown.length - 1;
    const place = { x: left + index * step, y, scale };
    const arrow = t(pointsUp(view, card) ? "up" : "down");
    const name = seatName(seat);
    const label = t(faceDown ? "face-down" : "on-pile", { card: nameOf("card", card), arrow, name });
    const item = { layer: 1, from: spot, ...(isTop ? { label } : {}) };
    return faceDown
      ? hiddenCard(keyOf(card), place, item, card, isTop ? width : step)
      : openCard(context, card, place, item, isTop ? {} : { strip: Math.round(step) });
  });
  const topX = left + (shown.length - 1) * step;
  return [...items, badgeItem(`count:${seat}`, topX, y + height / 2 + (isTight ? 5 : 1), `×${pile.length}`)];
}

/**
 * Return the items of a seat's bonus cards.
 * @param {Context} context
 * @param {Place} place
 * @returns {Item[]}
 */
function bonusItems(context, { seat, box, card: width, spot, isTight }) {
  const { t, seatName, nameOf } = context;
  const { bonusPile = [] } = seatOf(context, seat);
  if (bonusPile.length === 0) {
    return [];
  }
  const height = width * CARD.ratio;
  const y = box.y + box.height - 18 - height / 2;
  const isSlim = box.width < 200;
  const own = isTight ? 20 : width * (isSlim ? 0.46 : 0.62);
  const x = isTight ? box.x + box.width - 14 : box.x + box.width - 10 - (own * (isSlim ? 1 : CARD.ratio)) / 2;
  const bottom = isTight ? y - height / 2 + 8 : y + height / 2 - (own * (isSlim ? CARD.ratio : 1)) / 2;
  const cards = bonusPile.map((card, index) => {
    const place = { x, y: bottom - index * 3, scale: own / CARD.width, turn: isTight || isSlim ? 0 : 90 };
    const label = t("bonus-card", { name: seatName(seat), card: nameOf("card", card) });
    return hiddenCard(keyOf(card), place, { layer: 1, from: spot, label });
  });
  const [countX, countY] = isTight ? [x - 2, bottom] : [x, y + height / 2];
  const look = { fill: "var(--pickable)", ink: "#20150a" };
  return [...cards, badgeItem(`bonus:${seat}`, countX, countY, `★${bonusPile.length}`, look)];
}

/**
 * Return the badge of a seat that has won or passed.
 * @param {Context} context
 * @param {Place} place
 * @returns {Item[]}
 */
function stateItems({ view, update, t }, { seat, box, isTight }) {
  const isWinner = view.phase === "DISCAT_PHASE_OVER" && (update.score?.winners ?? []).includes(seat);
  if (!isWinner && !passedSeats(view).has(seat)) {
    return [];
  }
  const colour = isWinner ? "var(--good)" : "var(--ink-soft)";
  const look = { fill: colour, ink: "var(--surface)", line: colour };
  const x = isTight ? box.x + box.width / 2 : box.x + box.width - 38;
  return [badgeItem(`state:${seat}`, x, box.y - 1, t(isWinner ? "winner" : "passed"), look)];
}

/**
 * Return the items of another seat's hand: card backs, then the cards that the viewer knows.
 * @param {Context} context
 * @param {Place} place
 * @param {Spot} from the position of the draw pile, from which a new card arrives
 * @returns {Item[]}
 */
function otherHandItems(context, { seat, spot, box, alignment }, from) {
  const { view, t, seatName, nameOf } = context;
  const { handSize = 0, handCards = [] } = seatOf(context, seat);
  const width = CARD.width * spot.scale;
  const room = box.width - (alignment === 0.5 ? 8 : alignment === 1 ? 180 : 62) - width;
  const step = stepOf(handSize, width * 0.62, room);
  const knownStep = stepOf(handSize, width + 1, room);
  const hidden = handSize - handCards.length;
  const used = Math.max(0, hidden - 1) * step + (handCards.length - (hidden > 0 ? 0 : 1)) * knownStep;
  const left = spot.x - Math.max(0, used) * alignment;
  const backs = Array.from({ length: hidden }, (_, index) =>
    hiddenCard(`back:${seat}:${index}`, { ...spot, x: left + index * step }, { layer: 1, from }),
  );
  const known = handCards.map((card, index) => {
    const x = left + Math.max(0, hidden - 1) * step + (index + (hidden > 0 ? 1 : 0)) * knownStep;
    const arrow = t(pointsUp(view, card) ? "up" : "down");
    const label = t("known", { card: nameOf("card", card), arrow, name: seatName(seat) });
    return openCard(context, card, { ...spot, x }, { layer: 1, from, label });
  });
  return [...backs, ...known];
}
