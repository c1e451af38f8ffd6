// Describes Chat Cartonne's table in words.

import { seatOf, sumOf } from "../../views.js";
import { boxesOf, cardsOn, princessesOf } from "./view.js";

/** @typedef {import("./view.js").CatBox} CatBox */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("./view.js").Laid} Laid */

/** @param {Context} context */
export function prompt({ picked: [first], t }) {
  if (first === undefined) {
    return undefined;
  }
  return t(first === "cat" ? "play-sleep" : first === "princess" ? "play-princess" : "play-cell");
}

/** @param {Context} context */
export function summary(context) {
  const { view, me, t, seatName, nameOf } = context;
  const lines = [];
  if (view.firstSeat !== undefined) {
    lines.push(t("first", { name: seatName(view.firstSeat) }));
  }
  if (view.finalPhase) {
    lines.push(t("final"));
  }
  lines.push(
    [pileText(context), ...(view.parts ?? []).map((_, part) => partText(context, part))].join(t("parts")),
  );
  const drawn = view.toy ?? view.startingCarton;
  if (drawn !== undefined && view.activeSeat !== undefined) {
    const card = nameOf("card", drawn);
    lines.push(t("toy-drawn", { name: seatName(view.activeSeat), card }));
  }
  for (let seat = 0; seat < context.players; seat++) {
    lines.push(seatText(context, seat));
  }
  const hand = me === undefined ? [] : (seatOf(context, me).handCards ?? []);
  if (hand.length > 0) {
    const cards = hand.map((kind) => nameOf("card", kind)).join(", ");
    lines.push(t("own-hand", { cards }));
  }
  for (const { laid } of cardsOn(view)) {
    lines.push(...cardTexts(context, laid));
  }
  lines.push(...boxesOf(context).map((box) => boxText(context, box)));
  const unseen = view.unseenCards ?? [];
  if (unseen.length > 0) {
    const cards = unseen.map((kind) => nameOf("card", kind)).join(", ");
    lines.push(t("unseen", { cards, count: view.unseenPrincesses ?? 0 }));
  }
  return lines;
}

/** @type {import("../../game.js").Game<"chatCartonne", import("./view.js").Remembered>["breakdown"]} */
export function breakdown(seat, { negativePoints = 0 }, context) {
  const boxes = boxesOf(context);
  const own = boxes.filter(({ majority = [] }) => majority.includes(seat));
  return [
    [context.t("boxes"), sumOf(own.map(({ points = 0 }) => points))],
    [context.t("bonuses"), sumOf(boxes.map(({ bySeat }) => bySeat?.[seat]?.bonusPoints ?? 0))],
    [context.t("negative"), negativePoints],
  ];
}

/** @type {import("../../game.js").Game<"chatCartonne">["isMoment"]} */
export function isMoment({ chatCartonne }) {
  const kind = chatCartonne?.kind;
  return (
    kind === "CHAT_CARTONNE_EVENT_KIND_FINAL_PHASE_BEGUN" || kind === "CHAT_CARTONNE_EVENT_KIND_GAME_ENDED"
  );
}

/**
 * Return the text of the number of cards left to draw.
 * @param {Context} context
 */
export function pileText({ view, t }) {
  return t("pile", { count: view.drawPileSize ?? 0 });
}

/**
 * Return the text of the cards left in a part of the draw pile.
 * @param {Context} context
 * @param {number} part the number of the part, from 0 at the top of the pile
 */
export function partText({ view, t }, part) {
  const { cardsLeft: left = 0, ownPrincess = false } = view.parts?.[part] ?? {};
  const text = t("part", { part: part + 1, count: left });
  return ownPrincess ? `${text}, ${t("part-own")}` : text;
}

/**
 * Return the text of the facts known about a seat's hand.
 * @param {Context} context
 * @param {number} seat
 */
export function seatText(context, seat) {
  const { view, t, seatName, nameOf } = context;
  const state = seatOf(context, seat);
  const name = seatName(seat);
  const shown = (state.shown ?? []).map(({ notPatterns = [], notPrincess = false }) => {
    const cards = notPatterns.map((pattern) => nameOf("pattern", pattern));
    return t("shown", { cards: [...cards, ...(notPrincess ? [princessName(context)] : [])].join(", ") });
  });
  const open = seat === context.me ? [] : (state.handCards ?? []).map((kind) => nameOf("card", kind));
  return [
    t("hand", { name, count: state.handSize ?? 0 }),
    open.length > 0 && t("open-hand", { cards: open.join(", ") }),
    ...shown,
    t("cats-left", { name, count: state.supply ?? 0 }),
    drawnText(context, state),
    t("princesses", { count: princessesOf(state) }),
    ...(view.finalPhase ? [t(state.holdsCarton ? "holds" : "holds-not")] : []),
  ]
    .filter(Boolean)
    .join(", ");
}

/**
 * Return the name of a Princess.
 * @param {Context} context
 */
function princessName({ details, nameOf }) {
  return nameOf("card", details.cards?.find(({ role }) => role === "CHAT_CARTONNE_ROLE_PRINCESS")?.card ?? 0);
}

/**
 * Return the text of the number of cards that a seat has drawn from each part of the pile; "" if it has drawn no card.
 * @param {Context} context
 * @param {import("#api/chatiere/v1/chat_cartonne_pb.js").ChatCartonneSeatViewJson} state
 */
export function drawnText({ t }, { byPart = [] }) {
  const drawn = byPart.map(({ cardsDrawn = 0 }) => cardsDrawn);
  const last = drawn.findLastIndex((count) => count > 0);
  return last < 0 ? "" : t("drawn", { list: drawn.slice(0, last + 1).join(" + ") });
}

/**
 * Return the text of a sleeping or woken cat in a cell.
 * @param {Context} context
 * @param {Laid} card
 */
export function sleeperText({ t, nameOf, seatName }, card) {
  const { cell = 0, sleepingCat = 0, woken = false } = card;
  return t(woken ? "woken" : "asleep", { name: seatName(sleepingCat), cell: nameOf("cell", cell) });
}

/**
 * Return the texts of the card in a cell, and of the piece on the joint to the east of the cell.
 * @param {Context} context
 * @param {Laid} card
 * @returns {string[]}
 */
export function cardTexts(context, card) {
  const { t, nameOf, seatName } = context;
  const cell = nameOf("cell", card.cell ?? 0);
  const lies = card.onJoint;
  const texts = [
    card.princess
      ? t("princess-at", { cell })
      : card.sleepingCat !== undefined
        ? sleeperText(context, card)
        : t("lies", { card: nameOf(card.turned ? "turned" : "card", card.card ?? 0), cell }),
  ];
  if (lies) {
    texts.push(
      lies.princess
        ? t("princess-at", { cell })
        : lies.toy !== undefined
          ? t("toys", { card: nameOf("card", lies.toy), cell })
          : t("awake", { name: seatName(lies.cat ?? 0), cell }),
    );
  }
  return texts;
}

/**
 * Return the text of a box: its contents and its points.
 * @param {Context} context
 * @param {CatBox} box
 */
export function boxText({ t, nameOf, seatName, players }, box) {
  const toys = /** @type {const} */ (["mice", "balls", "fish", "sprayers"])
    .map((name) => ({ name, count: box[name] ?? 0 }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => t(name, { count }))
    .join(", ");
  const cats = Array.from({ length: players }, (_, seat) => ({
    seat,
    awake: box.bySeat?.[seat]?.awakeCats ?? 0,
    woken: box.bySeat?.[seat]?.wokenCats ?? 0,
    asleep: box.bySeat?.[seat]?.sleepingCats ?? 0,
  }))
    .filter(({ awake, woken, asleep }) => awake + woken + asleep > 0)
    .map(({ seat, ...cats }) => t("cats", { name: seatName(seat), ...cats }));
  const majority = box.majority ?? [];
  const bonus = (box.bySeat ?? [])
    .map(({ bonusPoints: points = 0 }, seat) =>
      points > 0 ? `, ${t("bonus", { name: seatName(seat), points })}` : "",
    )
    .join("");
  return t("box", {
    kind: t(box.closed ? "box-closed" : "box-open"),
    count: (box.cells ?? []).length,
    cell: nameOf("cell", box.cells?.[0] ?? 0),
    toys: toys === "" ? t("no-toys") : toys,
    cats: cats.join(", ") || t("no-cats"),
    worth:
      majority.length > 0
        ? t("box-majority", { names: majority.map(seatName).join(", "), count: box.points ?? 0 }) + bonus
        : t("box-nobody"),
  });
}

/** @type {NonNullable<import("../../game.js").Game<"chatCartonne">["nameOf"]>} */
export function nameOf({ number = 0, name = "" }) {
  // The numbers of cards are not printed on them.
  return name.replace(` ${number} `, " ");
}
