// The layout of Discat's table.

import { chip, seatMark } from "../../art/cards.js";
import { s } from "../../dom.js";
import {
  back,
  CARD,
  constraintSign,
  face,
  fitted,
  freeSign,
  panel,
  scaleOfNumbers,
  slot,
  widthOf,
  write,
} from "./parts.js";

/** @typedef {import("#api/chatiere/v1/discat_pb.js").DiscatViewJson} View */
/** @typedef {import("#api/chatiere/v1/discat_pb.js").DiscatSeatViewJson} SeatView */
/** @typedef {import("../../game.js").Context<View>} Context */
/** @typedef {import("../../game.js").Item} Item @typedef {import("../../game.js").Box} Box */
/** @typedef {import("./parts.js").Look} Look */
/** @typedef {{x: number, y: number, scale: number, turn?: number}} Spot */

/**
 * The key of a card.
 * @param {number} card
 */
export function keyOf(card) {
  return `card:${card}`;
}

/**
 * The card of a key.
 * @param {string} key
 */
export function cardOf(key) {
  return Number(key.slice("card:".length));
}

/** @param {number} low @param {number} value @param {number} high */
function within(low, value, high) {
  return Math.round(Math.max(low, Math.min(high, value)));
}

/**
 * Draw the table.
 * @param {Context} context
 */
export function draw(context) {
  const { width, height, players, view } = context;
  const seats = view.seats ?? [];
  const bottom = context.me ?? 0;
  const isNarrow = width < 560;
  const margin = isNarrow ? 8 : 16;
  const gap = isNarrow ? 6 : 12;
  const middle = width / 2;
  /** @type {Item[]} */
  const items = [];

  // Where the rows are.
  const others = players - 1;
  const room = width - 2 * margin;
  const cell = Math.min((room - gap * (others - 1)) / Math.max(1, others), 440);
  const isTight = cell < 130;
  const isWide = cell > 260;
  const alignment = isTight ? 0.5 : isWide ? 1 : 0;
  const small = isTight ? within(36, cell - 22, 46) : within(48, height * 0.105, 84);
  const otherHeight = (isTight ? 92 : 70) + small * CARD.ratio + 18;
  const otherTop = margin + (isNarrow ? 6 : 0);
  const rowTop = otherTop + otherHeight + (isNarrow ? 14 : 18);
  const sign = within(116, Math.min(height * 0.26, width * 0.4), 210);
  const side = Math.min((room - sign) / 2 - gap, 300);
  const rowHeight = Math.max(sign + 34, isNarrow ? 158 : 0);
  const pileWidth = isNarrow ? 56 : (rowHeight - 70) / CARD.ratio;
  const lineTop = rowTop + rowHeight + (isNarrow ? 4 : 10);
  const hasLine = height > 560;
  const handTop = lineTop + (hasLine ? 34 : 0) + 24;
  const mostInHand = context.details.largestHand ?? 1;
  const handRoom = isNarrow ? (room * 1.08) / mostInHand : room / mostInHand - 8;
  const handWidth =
    within(52, Math.min(height * 0.155, handRoom), 120) * (context.me === undefined ? 0.7 : 1);
  const handHeight = handWidth * CARD.ratio;
  const total = handTop + handHeight + margin + 4;

  /** @type {Box} */
  const drawBox = { x: margin, y: rowTop, width: side, height: rowHeight };
  /** @type {Box} */
  const ownBox = { x: width - margin - side, y: rowTop, width: side, height: rowHeight };
  const isUnqueued = isNarrow || (view.queue ?? []).length === 0;
  const drawWidth = isNarrow ? 48 : pileWidth;
  const drawSpot = {
    x: isUnqueued ? drawBox.x + drawBox.width / 2 : drawBox.x + 20 + drawWidth / 2,
    y: isNarrow
      ? drawBox.y + 10 + (drawWidth * CARD.ratio) / 2
      : drawBox.y + rowHeight - 18 - (pileWidth * CARD.ratio) / 2,
    scale: drawWidth / CARD.width,
  };
  const handSpot = { x: middle, y: handTop + handHeight / 2, scale: handWidth / CARD.width };

  items.push(...drawPile(context, drawBox, drawSpot, isNarrow));
  items.push(...constraint(context, middle, rowTop, sign, side));
  if (hasLine) {
    items.push(numberLine(context, middle, lineTop, Math.min(room, 720)));
  }
  items.push(...hand(context, bottom, handSpot, room, drawSpot));
  items.push(...seatPanel(context, bottom, ownBox, { card: pileWidth, spot: handSpot, isTight: side < 130 }));
  const left = middle - (cell * others + gap * (others - 1)) / 2;
  for (let index = 0; index < others; index++) {
    const seat = (bottom + 1 + index) % players;
    const box = { x: left + index * (cell + gap), y: otherTop, width: cell, height: otherHeight };
    const spot = isTight
      ? { x: box.x + cell / 2, y: box.y + 76, scale: 0.17 }
      : isWide
        ? { x: box.x + cell - 14 - 17, y: box.y + 36, scale: 0.34 }
        : { x: box.x + 60, y: box.y + 46, scale: 0.22 };
    items.push(...seatPanel(context, seat, box, { card: small, spot, isTight }));
    items.push(...smallHand(context, seat, seats[seat] ?? {}, spot, box, alignment, drawSpot));
  }
  return { width, height: total, items };
}

/**
 * The seats that have passed since the last play.
 * @param {View} view
 */
export function passedSeats(view) {
  const passes = view.passes ?? 0;
  return new Set(passes > 0 ? (view.turns ?? []).slice(-passes).map(({ seat }) => seat ?? 0) : []);
}

/**
 * A card that lies open.
 * @param {Context} context @param {number} card @param {Spot} spot @param {Partial<Item>} item
 * @param {Look} [look]
 * @returns {Item}
 */
function openCard({ view, details }, card, spot, item, look = {}) {
  const info = details.cards?.[card - 1] ?? {};
  const isUp = (view.upArrows?.cards ?? []).includes(card);
  const size = CARD.width * spot.scale;
  const drawn = { ...look, size: Math.round(size), isUp, tens: info.tens ?? 0, units: info.units ?? 0 };
  return {
    key: keyOf(card),
    ...spot,
    stamp: JSON.stringify(["open", card, drawn]),
    draw: () => face(card, drawn),
    ...item,
  };
}

/**
 * A card that lies face down; `card`: its number, where everybody knows it; `strip`: the pixels of its width
 * that can be seen.
 * @param {string} key @param {Spot} spot @param {Partial<Item>} item @param {number} [card]
 * @param {number} [strip]
 * @returns {Item}
 */
function hiddenCard(key, spot, item, card, strip = CARD.width) {
  const size = Math.round(CARD.width * spot.scale);
  return {
    key,
    ...spot,
    stamp: `back ${card ?? ""} ${size} ${strip}`,
    draw: () => back(size, card, strip),
    ...item,
  };
}

/**
 * A small label with a fixed place.
 * @param {string} key @param {number} x @param {number} y @param {string} text
 * @param {{fill?: string, ink?: string, stroke?: string, size?: number, label?: string}} [options]
 * @returns {Item}
 */
function badge(key, x, y, text, { label, ...look } = {}) {
  const draw = () => {
    const drawn = chip(text, { size: 12, ...look });
    // The page's own colour of text would win over the attribute.
    drawn.querySelector("text")?.style.setProperty("fill", look.ink ?? "var(--ink)");
    return drawn;
  };
  return { key, x, y, layer: 6, stamp: `${text} ${JSON.stringify(look)}`, draw, ...(label ? { label } : {}) };
}

/** @param {Context} context @param {Box} box @param {Spot} spot @param {boolean} isNarrow */
function drawPile(context, box, spot, isNarrow) {
  const { view, t, seatName } = context;
  const size = view.drawPileSize ?? 0;
  const queue = view.queue ?? [];
  const last = view.lastTurnsLeft ?? 0;
  const width = CARD.width * spot.scale;
  const height = width * CARD.ratio;
  const name = t("draw-pile", { count: size });
  /** @type {Item[]} */
  const items = [panelItem("panel:draw", box, false)];
  if (!isNarrow) {
    const text = t("draw-name");
    items.push({
      key: "draw:name",
      x: box.x + 14,
      y: box.y + 26,
      stamp: text,
      draw: () => write(text, 0, 0, { size: 15, anchor: "start" }),
    });
  }
  const depth = Math.min(3, Math.ceil(size / 8));
  for (let layer = 0; layer < depth; layer++) {
    const place = { ...spot, x: spot.x + (depth - 1 - layer) * 2, y: spot.y + (depth - 1 - layer) * 2.5 };
    items.push(hiddenCard(`draw:${layer}`, place, layer === depth - 1 ? { label: name } : {}));
  }
  if (size === 0) {
    items.push({
      key: "draw:slot",
      ...spot,
      stamp: `slot ${spot.scale}`,
      draw: () => slot(t("empty"), spot.scale),
      label: name,
    });
  } else {
    items.push(badge("draw:count", spot.x, spot.y + height / 2, `×${size}`, { size: 13 }));
  }
  if (last > 0) {
    const y = isNarrow ? box.y + box.height - 30 : box.y + 24;
    const text = t("last-turns", { count: last });
    items.push({
      key: "last",
      x: box.x + box.width / 2,
      y,
      layer: 6,
      stamp: `${text} ${box.width}`,
      label: text,
      draw: () => write(text, 0, 0, { size: 13, wrap: box.width - 12 }),
    });
  }
  if (queue.length > 0) {
    const mini = box.width < 250 ? 22 : 30;
    const start = isNarrow ? box.x + 6 : spot.x + width / 2 + 20;
    const end = box.x + box.width - (isNarrow ? 6 : 10);
    const top = isNarrow ? spot.y + height / 2 + 11 : spot.y - height / 2 + 24;
    const rowHeight = mini * CARD.ratio + 4;
    const most = Math.max(1, Math.floor((box.y + box.height - 4 - top) / rowHeight));
    const usual = Math.max(1, 1 + Math.floor((end - start - mini) / (mini * 0.95)));
    const columns = Math.max(usual, Math.ceil(queue.length / most));
    const step = Math.min(mini + 4, (end - start - mini) / Math.max(1, Math.min(columns, queue.length) - 1));
    if (!isNarrow) {
      const text = t("under");
      items.push({
        key: "queue:name",
        x: start,
        y: top - 14,
        stamp: text,
        draw: () => write(text, 0, 0, { size: 13, anchor: "start", fill: "var(--ink-soft)" }),
      });
    }
    queue.forEach(({ seat = 0, card }, index) => {
      const place = {
        x: start + mini / 2 + (index % columns) * step,
        y: top + rowHeight * (Math.floor(index / columns) + 0.5) - 2,
        scale: mini / CARD.width,
      };
      items.push(
        card === undefined
          ? hiddenCard(`queue:${index}`, place, { to: spot, label: t("queued", { name: seatName(seat) }) })
          : openCard(context, card, place, {
              to: spot,
              layer: 1,
              label: t("queued-card", { card, name: seatName(seat) }),
            }),
      );
      if (card === undefined && step >= 15) {
        items.push({
          key: `queue-seat:${index}`,
          x: place.x,
          y: place.y + (mini * CARD.ratio) / 2 - 4,
          layer: 1,
          stamp: `mark ${seat}`,
          draw: () => seatMark(seat, 14),
        });
      }
    });
  }
  return items;
}

/**
 * @param {Context} context @param {number} x @param {number} top @param {number} size @param {number} side
 * @returns {Item[]}
 */
function constraint({ view, t, seatName, nameOf }, x, top, size, side) {
  const now = view.constraint;
  const y = top + size / 2;
  if (!now) {
    const words = [t("free"), t("any")];
    return [
      {
        key: "sign",
        x,
        y,
        stamp: `free ${words} ${size}`,
        draw: () => freeSign(size, words),
        label: t("sign-free"),
      },
    ];
  }
  const { card = 0, higher = false, creator = 0, bonusDrawn = false } = now;
  const than = t(higher ? "higher" : "lower");
  const name = seatName(creator);
  const said = `${t("by", { name })}${bonusDrawn && size > 150 ? ` · ${t("bonus-drawn")}` : ""}`;
  return [
    {
      key: "sign",
      x,
      y,
      stamp: `${than} ${card} ${higher} ${size}`,
      draw: () => constraintSign(size, nameOf("card", card), than, higher),
      label: t("sign-by", { than, card, name }),
    },
    {
      key: "sign:by",
      x,
      y: top + size + 20,
      stamp: `${creator} ${said} ${size}`,
      draw: () => {
        const left = -widthOf(said, 13) / 2;
        return s(
          "g",
          {},
          s("g", { transform: `translate(${left - 2} 0)` }, seatMark(creator, 24)),
          write(said, left + 15, 0, { size: 13, anchor: "start" }),
        );
      },
    },
  ];
}

/** @param {Context} context @param {number} x @param {number} y @param {number} width @returns {Item} */
function numberLine({ view, details, players, me }, x, y, width) {
  const cards = /** @type {{card?: number, minPlayers?: number}[]} */ (details.cards ?? []);
  const used = cards.filter(({ minPlayers = 0 }) => minPlayers <= players).map(({ card = 0 }) => card);
  const hand = me === undefined ? [] : (view.seats?.[me]?.handCards ?? []);
  const { card, higher = false } = view.constraint ?? {};
  const shown = {
    least: Math.min(...used),
    most: Math.max(...used),
    card,
    higher,
    hand,
    width: Math.round(width),
  };
  return { key: "line", x, y, stamp: JSON.stringify(shown), draw: () => scaleOfNumbers(shown) };
}

/**
 * The hand at the bottom.
 * @param {Context} context @param {number} seat @param {Spot} spot @param {number} room
 * @param {Spot} drawSpot
 * @returns {Item[]}
 */
function hand(context, seat, spot, room, drawSpot) {
  const { view, details, me, picked, candidates, actions, t, nameOf } = context;
  const { handSize = 0, handCards = [] } = view.seats?.[seat] ?? {};
  const width = CARD.width * spot.scale;
  const step = Math.min(width + (room > 560 ? 12 : 5), (room - width) / Math.max(1, handSize - 1));
  const place = (/** @type {number} */ index) => ({
    ...spot,
    x: spot.x + (index - (handSize - 1) / 2) * step,
  });
  const chosen = picked.map(cardOf);
  const top = topOf(context);
  /** @type {Item[]} */
  const items = handCards.map((card, index) => {
    const key = keyOf(card);
    const at = place(index);
    const isPicked = picked.includes(key);
    const isNext = candidates.has(key);
    const lift = isPicked ? 20 : isNext ? 5 : 0;
    const looksAlike = chosen.length > 0 && (isNext || (isPicked && chosen.length > 1));
    const same = (/** @type {"tens" | "units"} */ digit) =>
      looksAlike && chosen.every((other) => infoOf(details, other)[digit] === infoOf(details, card)[digit]);
    const arrow = t((view.upArrows?.cards ?? []).includes(card) ? "up" : "down");
    const look = { sharesTens: same("tens"), sharesUnits: same("units") };
    const mine =
      me === seat
        ? { pick: key, label: t("in-hand", { card: nameOf("card", card), arrow }) }
        : { label: nameOf("card", card) };
    return openCard(context, card, { ...at, y: at.y - lift }, { layer: 3, from: drawSpot, ...mine }, look);
  });
  for (let index = handCards.length; index < handSize; index++) {
    items.push(hiddenCard(`back:${seat}:${index}`, place(index), { layer: 3, from: drawSpot }));
  }
  const at = top === undefined ? -1 : handCards.indexOf(top);
  if (actions.length > 0 && at >= 0) {
    const { x, y } = place(at);
    items.push(
      badge("on-top", x, y - (width * CARD.ratio) / 2 - 22, t("on-top"), {
        fill: "var(--picked)",
        ink: "var(--surface)",
        stroke: "var(--picked)",
      }),
    );
  }
  return items;
}

/** @param {any} details @param {number} card @returns {{tens: number, units: number}} */
function infoOf(details, card) {
  const { tens = 0, units = 0 } = details.cards?.[card - 1] ?? {};
  return { tens, units };
}

/**
 * The card that comes on top if what is picked is played; undefined if that can't be played.
 * @param {Context} context
 */
export function topOf({ actions, picked }) {
  const tops = actions.flatMap(({ discat }) => {
    const keys = discat?.play?.cards?.map(keyOf) ?? [];
    return keys.length === picked.length && keys.every((key) => picked.includes(key)) ? keys.slice(-1) : [];
  });
  const top = tops.find((key) => key === picked.at(-1)) ?? tops[0];
  return top === undefined ? undefined : cardOf(top);
}

/** @param {string} key @param {Box} box @param {boolean} isActive @returns {Item} */
function panelItem(key, { x, y, width, height }, isActive) {
  return {
    key,
    x,
    y,
    layer: -2,
    stamp: `${width} ${height} ${isActive}`,
    draw: () => panel(width, height, isActive),
  };
}

/**
 * A seat's name, pile and bonus cards. `card`: the width of its cards; `spot`: where its hand is.
 * @param {Context} context @param {number} seat @param {Box} box
 * @param {{card: number, spot: Spot, isTight: boolean}} how
 * @returns {Item[]}
 */
function seatPanel(context, seat, box, { card: width, spot, isTight }) {
  const { view, update, turn, t, seatName, nameOf } = context;
  const { pile = [], bonusPile = [] } = view.seats?.[seat] ?? {};
  const name = seatName(seat);
  const height = width * CARD.ratio;
  const mark = isTight ? 28 : box.width < 200 ? 34 : 38;
  const middle = box.x + box.width / 2;
  const y = box.y + box.height - 18 - height / 2;
  /** @type {Item[]} */
  const items = [panelItem(`panel:${seat}`, box, turn === seat)];
  const isOwnRow = spot.y > box.y + box.height;

  items.push({
    key: `mark:${seat}`,
    x: isTight ? middle : box.x + 8 + mark / 2,
    y: box.y + 7 + mark / 2,
    stamp: `${seat} ${mark}`,
    draw: () => seatMark(seat, mark),
  });
  const nameRoom = isTight ? box.width - 4 : box.width - mark - 16;
  const nameSize = within(12, nameRoom / (name.length * 0.66), isTight ? 13 : 15);
  const said = fitted(name, nameSize, nameRoom);
  items.push({
    key: `name:${seat}`,
    x: isTight ? middle : box.x + mark + 14,
    y: isTight ? box.y + 47 : box.y + (isOwnRow ? 7 + mark / 2 : 18),
    stamp: `${said} ${nameSize} ${isTight}`,
    draw: () => write(said, 0, 0, { size: nameSize, anchor: isTight ? "middle" : "start" }),
  });

  // The pile: its last cards fan out as far as there is room.
  const isSlim = box.width < 200;
  const bonusRoom = isTight || bonusPile.length === 0 ? 0 : (isSlim ? width * 0.46 : height * 0.62) + 14;
  const fanRoom = box.width - 20 - width - bonusRoom;
  const step = isTight ? 5 : Math.max(23, width * 0.27);
  const most = Math.min(isTight ? 3 : 14, 1 + Math.floor(fanRoom / step));
  const shown = pile.slice(-Math.max(1, most));
  const left = isTight ? middle - ((shown.length - 1) * step) / 2 : box.x + 10 + width / 2;
  shown.forEach(({ card = 0, faceDown = false }, index) => {
    const isTop = index === shown.length - 1;
    const place = { x: left + index * step, y, scale: width / CARD.width };
    const arrow = t((view.upArrows?.cards ?? []).includes(card) ? "up" : "down");
    const label = t(faceDown ? "face-down" : "on-pile", { card: nameOf("card", card), arrow, name });
    const item = { layer: 1, from: spot, ...(isTop ? { label } : {}) };
    items.push(
      faceDown
        ? hiddenCard(keyOf(card), place, item, card, isTop ? width : step)
        : openCard(context, card, place, item, isTop ? {} : { strip: Math.round(step) }),
    );
  });
  const topX = left + Math.max(0, shown.length - 1) * step;
  if (pile.length === 0) {
    items.push({
      key: `slot:${seat}`,
      x: left,
      y,
      scale: width / CARD.width,
      stamp: "slot",
      draw: () => slot("", 1),
    });
  } else {
    items.push(badge(`count:${seat}`, topX, y + height / 2 + (isTight ? 5 : 1), `×${pile.length}`));
  }

  const bonusWidth = isTight ? 20 : width * (isSlim ? 0.46 : 0.62);
  const bonusX = isTight
    ? box.x + box.width - 14
    : box.x + box.width - 10 - (bonusWidth * (isSlim ? 1 : CARD.ratio)) / 2;
  const bonusY = isTight ? y - height / 2 + 8 : y + height / 2 - (bonusWidth * (isSlim ? CARD.ratio : 1)) / 2;
  bonusPile.forEach((card, index) => {
    const place = {
      x: bonusX,
      y: bonusY - index * 3,
      scale: bonusWidth / CARD.width,
      turn: isTight || isSlim ? 0 : 90,
    };
    const label = t("bonus-card", { name, card: nameOf("card", card) });
    items.push(hiddenCard(keyOf(card), place, { layer: 1, from: spot, label }));
  });
  if (bonusPile.length > 0) {
    items.push(
      badge(
        `bonus:${seat}`,
        bonusX - (isTight ? 2 : 0),
        isTight ? bonusY : y + height / 2,
        `★${bonusPile.length}`,
        { fill: "var(--pickable)", ink: "#20150a" },
      ),
    );
  }

  const isWinner = view.phase === "DISCAT_PHASE_OVER" && (update.score?.winners ?? []).includes(seat);
  const state = isWinner ? t("winner") : passedSeats(view).has(seat) ? t("passed") : undefined;
  if (state !== undefined) {
    const look = isWinner
      ? { fill: "var(--good)", ink: "var(--surface)", stroke: "var(--good)" }
      : { fill: "var(--ink-soft)", ink: "var(--surface)", stroke: "var(--ink-soft)" };
    items.push(badge(`state:${seat}`, isTight ? middle : box.x + box.width - 38, box.y - 1, state, look));
  }
  return items;
}

/**
 * The hand of another seat: backs, and the cards that the viewer knows.
 * @param {Context} context @param {number} seat @param {SeatView} of @param {Spot} spot @param {Box} box
 * @param {number} alignment 0: it begins at the spot, 0.5: that is its middle, 1: it ends there
 * @param {Spot} drawSpot
 * @returns {Item[]}
 */
function smallHand(context, seat, { handSize = 0, handCards = [] }, spot, box, alignment, drawSpot) {
  const { view, t, seatName, nameOf } = context;
  const width = CARD.width * spot.scale;
  const room = box.width - (alignment === 0.5 ? 8 : alignment === 1 ? 180 : 62) - width;
  const step = Math.min(width * 0.62, room / Math.max(1, handSize - 1));
  const knownStep = Math.min(width + 1, room / Math.max(1, handSize - 1));
  const hidden = handSize - handCards.length;
  const used = Math.max(0, hidden - 1) * step + (handCards.length - (hidden > 0 ? 0 : 1)) * knownStep;
  const left = spot.x - Math.max(0, used) * alignment;
  /** @type {Item[]} */
  const items = [];
  for (let index = 0; index < hidden; index++) {
    items.push(
      hiddenCard(`back:${seat}:${index}`, { ...spot, x: left + index * step }, { layer: 1, from: drawSpot }),
    );
  }
  handCards.forEach((card, index) => {
    const x = left + Math.max(0, hidden - 1) * step + (index + (hidden > 0 ? 1 : 0)) * knownStep;
    const arrow = t((view.upArrows?.cards ?? []).includes(card) ? "up" : "down");
    const label = t("known", { card: nameOf("card", card), arrow, name: seatName(seat) });
    items.push(openCard(context, card, { ...spot, x }, { layer: 1, from: drawSpot, label }));
  });
  return items;
}
