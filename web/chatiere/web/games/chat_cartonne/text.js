// The table of Chat Cartonne in words.

/** @typedef {import("../../game.js").Context} Context */

/** How many Princesses a seat has played. @param {any} state @returns {number} */
export function princessesOf(state) {
  return (state.byPart ?? []).reduce(
    (/** @type {number} */ sum, /** @type {any} */ { princessesPlayed = 0 }) => sum + princessesPlayed,
    0,
  );
}

/** @param {Context} context */
export function pileText({ view, t }) {
  return t("pile", { count: view.drawPileSize ?? 0 });
}

/** @param {Context} context @param {number} part */
export function partText({ view, t }, part) {
  const { cardsLeft: left = 0, ownPrincess = false } = view.parts?.[part] ?? {};
  const text = t("part", { part: part + 1, left });
  return ownPrincess ? `${text}, ${t("part-own")}` : text;
}

/** @param {Context} context @param {number} seat */
export function seatText(context, seat) {
  const { view, t, seatName, nameOf } = context;
  const state = view.seats?.[seat] ?? {};
  const name = seatName(seat);
  const shown = (state.shown ?? []).map((/** @type {any} */ { notPatterns = [], notPrincess = false }) => {
    const cards = notPatterns.map((/** @type {number} */ pattern) => nameOf("pattern", pattern));
    return t("shown", {
      cards: [...cards, ...(notPrincess ? [t("princess-at", { cell: "" }).replace(/,\s*$/, "")] : [])].join(
        ", ",
      ),
    });
  });
  return [
    t("hand", { name, count: state.handSize ?? 0 }),
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
 * How many cards a seat has drawn of each part of the pile, up to the last of which it has.
 * @param {Context} context @param {any} state
 */
export function drawnText({ t }, state) {
  const drawn = /** @type {any[]} */ (state.byPart ?? []).map(({ cardsDrawn = 0 }) => cardsDrawn);
  const last = drawn.findLastIndex((count) => count > 0);
  return last < 0 ? "" : t("drawn", { list: drawn.slice(0, last + 1).join(" + ") });
}

/** @param {Context} context @param {any} card */
export function sleeperText({ t, nameOf, seatName }, card) {
  const { cell = 0, sleepingCat, woken = false } = card;
  return t(woken ? "woken" : "asleep", { name: seatName(sleepingCat), cell: nameOf("cell", cell) });
}

/** @param {Context} context @param {any} card @returns {string[]} */
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

/** @param {Context} context @param {any} box */
export function boxText({ t, nameOf, seatName, players }, box) {
  const toys = ["mice", "balls", "fish", "sprayers"]
    .filter((name) => box[name] > 0)
    .map((name) => t(name, { count: box[name] }))
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
  const bonus = /** @type {{bonusPoints?: number}[]} */ (box.bySeat ?? [])
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
        ? t("box-majority", { names: majority.map(seatName).join(", "), points: box.points ?? 0 }) + bonus
        : t("box-nobody"),
  });
}
