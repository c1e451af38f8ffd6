// The seats of Chat perché: their tokens, cats, plates and decks, and the card that is turned up.

import { round } from "../../art/shapes.js";
import { drawnBy, fan, stepOf } from "../../art/table_pieces.js";
import { LAYERS, MEDIUM } from "./layout.js";
import { climber, deckPanel, rug, seatPlate, solidityToken, tally, turnedUp, waiting } from "./parts.js";
import { animalMark, spaceKey, startKey, tokenKey } from "./picks.js";
import { cardSaid, deckSaid } from "./text.js";
import { badgeOf, startOf, whereabouts } from "./view.js";

// The radius of the area around a token that receives touches.
const REACH = 37;

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./layout.js").Spot} Spot */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {NonNullable<import("./view.js").View["seats"]>[number]} SeatView */

/**
 * Return the items of both seats' unplaced tokens.
 * @type {Part}
 */
export function handItems(context, layout) {
  const { view, me, t } = context;
  const { width, tokensY } = layout;
  return (view.seats ?? []).flatMap(({ unplacedTokens = 0, unplacedSolidity = [] }, seat) => {
    const isMine = seat === me && unplacedSolidity.length > 0;
    const share = me === undefined ? 0.5 : seat === me ? 0.66 : 0.34;
    const room = width * share - 16;
    const most = Math.max(unplacedTokens, (view.solidity ?? []).length, 1);
    const size = !isMine ? 34 : width < MEDIUM ? 41 : 44;
    const gap = stepOf(most, isMine ? 2 * REACH + 2 : size + 8, room - size);
    const middle = seat === 0 ? 8 + room / 2 : width - 8 - room / 2;
    return fan(unplacedTokens, middle, gap).map((x, index) => {
      const value = unplacedSolidity[index];
      const copy = unplacedSolidity.slice(0, index).filter((each) => each === value).length;
      const said = value === undefined ? "?" : String(value);
      return {
        key: `hand:${seat}:${value ?? index}:${value === undefined ? "" : copy}`,
        x: round(x),
        y: tokensY,
        layer: LAYERS.tokens,
        ...drawnBy(
          solidityToken,
          seat,
          said,
          size,
          value === undefined ? { isHidden: true } : { reach: REACH },
        ),
        ...(value !== undefined && { pick: tokenKey(value), label: t("token", { value }) }),
      };
    });
  });
}

/**
 * Return the items of the plates, the decks, the card that is turned up, and the cats.
 * @type {Part}
 */
export function seatItems(context, layout) {
  const { cats } = whereabouts(context);
  return [
    ...(context.view.seats ?? []).flatMap((state, seat) => plateItems(context, layout, state, seat)),
    ...cardItems(context, layout),
    ...cats.flatMap((places, seat) => [
      rugItem(context, layout, places, seat),
      ...places.map((place, number) => catItem(context, layout, places, { seat, place, number })),
    ]),
  ];
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {SeatView} state
 * @param {number} seat
 * @returns {Item[]}
 */
function plateItems(context, layout, { cats = [], catsAtStart = 0, drawPileCards = [] }, seat) {
  const { turn, details, seatName, t } = context;
  const { tree, side, panelWidth, panelHeight } = layout;
  const start = layout.startAt(seat);
  const width = Math.min(side, 210);
  const onTrunk = cats.filter((space) => tree.trunkSpaces.includes(space)).length;
  const more = t("seat-line", { trunk: onTrunk, limit: details.trunkLimit ?? 0 });
  const title = t("deck", { left: drawPileCards.length, all: details.deckSize ?? 0 });
  return [
    {
      key: `plate:${seat}`,
      x: round(seat === 0 ? start.x - side / 2 : start.x + side / 2 - width),
      y: round(layout.horizon + 22),
      layer: LAYERS.tokens,
      ...drawnBy(seatPlate, seat, seatName(seat), more, round(width), turn === seat),
    },
    {
      key: `tally:${seat}`,
      x: round(start.x + (side / 2 - 6) * (seat === 0 ? -1 : 1)),
      y: round(start.y - layout.rugHeight / 2 + 4),
      layer: LAYERS.card,
      ...drawnBy(tally, catsAtStart),
    },
    {
      key: `deck:${seat}`,
      ...layout.panelAt(seat),
      layer: LAYERS.spaces,
      ...drawnBy(deckPanel, seat, title, layout.rows[seat] ?? [], round(panelWidth), panelHeight),
      label: deckSaid(seat, context),
    },
  ];
}

/**
 * Return the item of the card that is turned up, if there is one.
 * @type {Part}
 */
function cardItems(context, layout) {
  const { view, details, t } = context;
  const { card, activeSeat, stepsLeft: steps = 0 } = view;
  const info = card === undefined ? undefined : details.cards?.[card];
  if (card === undefined || info === undefined || activeSeat === undefined) {
    return [];
  }
  const value = info.value ?? 0;
  const said = value === 0 ? "" : steps === value ? String(steps) : t("steps-of", { steps, value });
  const turned = (view.seats ?? []).map(({ discards }) => JSON.stringify(discards ?? [])).join();
  const panel = layout.panelAt(activeSeat);
  const pile = { x: panel.x + layout.panelWidth / 2, y: panel.y + 30, scale: 0.4 };
  return [
    {
      key: `card:${turned}`,
      x: layout.centre,
      y: round(layout.horizon + layout.startHeight * 0.5 - 2),
      layer: LAYERS.card,
      ...drawnBy(turnedUp, info, activeSeat, layout.cardWidth, said),
      from: pile,
      to: pile,
      label: cardSaid(card, activeSeat, context),
    },
  ];
}

/**
 * Return the colour of the ring around an item that can be or is picked.
 * @param {string} key
 * @param {Context} context
 */
function ringOf(key, { picked, candidates }) {
  return picked.includes(key) ? "var(--picked)" : candidates.has(key) ? "var(--pickable)" : undefined;
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {readonly number[]} places the spaces of the seat's cats
 * @param {number} seat
 * @returns {Item}
 */
function rugItem(context, { startAt, side, rugHeight }, places, seat) {
  const { details, seatName, t } = context;
  const key = startKey(seat);
  const count = places.filter((place) => place === startOf(details)).length;
  return {
    key,
    ...startAt(seat),
    layer: LAYERS.spaces,
    ...drawnBy(rug, seat, round(side), rugHeight, ringOf(key, context)),
    pick: key,
    label: t("start", { name: seatName(seat), count }),
  };
}

/**
 * @param {Context} context
 * @param {Layout} layout
 * @param {readonly number[]} places the spaces of the seat's cats
 * @param {{seat: number, place: number, number: number}} cat
 * @returns {Item}
 */
function catItem(context, layout, places, { seat, place, number }) {
  const { view, nameOf, t } = context;
  const { catSize, reach } = layout;
  const key = `cat:${seat}:${number}`;
  const spot = layout.spots.get(place);
  if (!spot) {
    return { key, layer: LAYERS.animals, ...waitingCat(context, layout, places, { seat, number }) };
  }
  const badge = view.catOwner === seat ? badgeOf(view, place) : undefined;
  const label = t("cat", { colour: nameOf("colour", seat), space: nameOf("space", place) });
  const size = spot.onTrunk ? catSize * 0.94 : catSize;
  const ring = ringOf(spaceKey(place), context);
  return {
    key,
    x: spot.x,
    y: spot.y,
    layer: LAYERS.animals,
    ...drawnBy(climber, seat, size, { ...spot, ring, badge, reach }),
    pick: spaceKey(place),
    mark: animalMark(place),
    label: badge ? `${label}, ${t(badge)}` : label,
  };
}

/**
 * Return the position and look of a cat on its seat's rug, in one of two rows.
 * @param {Context} context
 * @param {Layout} layout
 * @param {readonly number[]} places the spaces of the seat's cats
 * @param {{seat: number, number: number}} cat
 */
function waitingCat({ details }, layout, places, { seat, number }) {
  const { spots, waitingSize, rugHeight, side } = layout;
  const start = layout.startAt(seat);
  const count = places.filter((place) => place === startOf(details)).length;
  const rank = places.slice(0, number).filter((place) => !spots.has(place)).length;
  const columns = Math.ceil(places.length / 2);
  const gap = Math.min(waitingSize * 1.2, (side - waitingSize) / (columns - 0.5));
  const isBack = count > columns && rank < columns;
  const out = (rank % columns) - (columns - 1) / 2 + (isBack ? 0.25 : -0.25);
  return {
    x: round(start.x + out * gap * (seat === 0 ? -1 : 1)),
    y: round(start.y + (isBack ? 0.1 : 0.45) * rugHeight),
    ...drawnBy(waiting, seat, waitingSize),
  };
}
