// Discat on the screen: its words, what can be picked, and what is said.

import { cardOf, draw, keyOf, passedSeats, topOf } from "./table.js";

/** @typedef {import("./table.js").Context} Context */

/** @type {import("../../game.js").Game} */
export const game = {
  words: {
    en: {
      any: "any card",
      "bonus-card": "a bonus card of {name}, face down: {card}",
      "bonus-drawn": "bonus drawn",
      "bonus-points": "bonus",
      by: "by {name}",
      down: "points down",
      "draw-name": "Draw pile",
      "draw-pile": "The draw pile: {count} cards",
      empty: "empty",
      "face-down": "on top of the pile of {name}, face down: {card}",
      free: "free",
      "hand-points": "hand",
      higher: "higher than",
      "in-hand": "card {card}, {arrow}, in your hand",
      known: "card {card}, {arrow}, in the hand of {name}",
      "last-turns": "last turns: {count}",
      lower: "lower than",
      "on-pile": "card {card}, {arrow}, on top of the pile of {name}",
      "on-top": "on top",
      passed: "passed",
      "pile-points": "pile",
      "prompt-fit": "Play a card {than} {card}, or a group with such a top card.",
      "prompt-free": "Play any card, or a group that shares its tens or its units.",
      "prompt-keep": "No card {than} {card}, and no draw pile: keep your hand.",
      "prompt-more": "{card} comes on top. Play, or pick one more.",
      "prompt-one": "Play any card of your hand.",
      "prompt-pass": "No card {than} {card}: keep your hand, or pick one to exchange.",
      "prompt-ready": "{card} comes on top. Play now?",
      "prompt-swap": "{card} goes under the draw pile, and you draw another.",
      "prompt-top": "Now pick a card that may lie on top.",
      queue: "Under the draw pile, the next to be drawn first: {cards}",
      queued: "a card of {name}",
      "queued-card": "{card}, put there by {name}",
      "sign-by": "The top card must be {than} {card}, which {name} laid",
      "sign-free": "No constraint: any card may be played",
      "sum-bonus": "{name} has {count} bonus cards: {cards}",
      "sum-bonus-drawn": "{name} has drawn the bonus card for it",
      "sum-hand": "Your hand: {cards}",
      "sum-known": "You know of the hand of {name}: {cards}",
      "sum-last": "Last turns left: {count}",
      "sum-passed": "Passed since the last play: {names}",
      "sum-pile": "Pile: {count} cards, bottom card first: {cards}",
      "sum-seat": "{name} has {hand} cards in hand. {pile}",
      turned: "{card} face down",
      under: "under it",
      up: "points up",
      winner: "winner",
    },
    fr: {
      any: "au choix",
      "bonus-card": "une carte bonus de {name}, face cachée : {card}",
      "bonus-drawn": "bonus pioché",
      "bonus-points": "bonus",
      by: "par {name}",
      down: "vers le bas",
      "draw-name": "Pioche",
      "draw-pile": "La pioche : {count} cartes",
      empty: "vide",
      "face-down": "sur la pile de {name}, face cachée : {card}",
      free: "libre",
      "hand-points": "main",
      higher: "plus que",
      "in-hand": "carte {card}, {arrow}, dans votre main",
      known: "carte {card}, {arrow}, dans la main de {name}",
      "last-turns": "derniers tours : {count}",
      lower: "moins que",
      "on-pile": "carte {card}, {arrow}, sur la pile de {name}",
      "on-top": "dessus",
      passed: "passe",
      "pile-points": "pile",
      "prompt-fit": "Jouez une carte {than} {card}, ou un groupe avec une telle carte dessus.",
      "prompt-free": "Jouez une carte, ou un groupe qui a les dizaines ou les unités en commun.",
      "prompt-keep": "Aucune carte {than} {card}, et plus de pioche : gardez la main.",
      "prompt-more": "{card} sera dessus. Jouez, ou ajoutez une carte.",
      "prompt-one": "Jouez une carte de votre main.",
      "prompt-pass": "Aucune carte {than} {card} : gardez la main, ou choisissez une carte à échanger.",
      "prompt-ready": "{card} sera dessus. Jouer ?",
      "prompt-swap": "{card} va sous la pioche, et vous en piochez une autre.",
      "prompt-top": "Choisissez maintenant une carte qui peut être sur le dessus.",
      queue: "Sous la pioche, la prochaine d'abord : {cards}",
      queued: "une carte de {name}",
      "queued-card": "{card}, placée par {name}",
      "sign-by": "La carte du dessus doit valoir {than} {card}, posée par {name}",
      "sign-free": "Pas de contrainte : toute carte peut être jouée",
      "sum-bonus": "{name} a {count} cartes bonus : {cards}",
      "sum-bonus-drawn": "{name} a pioché la carte bonus pour elle",
      "sum-hand": "Votre main : {cards}",
      "sum-known": "Vous connaissez de la main de {name} : {cards}",
      "sum-last": "Derniers tours restants : {count}",
      "sum-passed": "Ont passé depuis la dernière carte posée : {names}",
      "sum-pile": "Pile : {count} cartes, celle du dessous d'abord : {cards}",
      "sum-seat": "{name} a {hand} cartes en main. {pile}",
      turned: "{card} face cachée",
      under: "dessous",
      up: "vers le haut",
      winner: "gagne",
    },
  },
  draw,
  picks: ({ discat }) => {
    if (discat?.play) {
      return { keys: (discat.play.cards ?? []).map(keyOf) };
    }
    return { keys: discat?.exchange ? [keyOf(discat.exchange.card ?? 0)] : [] };
  },
  confirms: true,
  attempt: (keys, { view }) => {
    const cards = keys.map(cardOf);
    return view.phase === "DISCAT_PHASE_PASS" ? { exchange: { card: cards.at(-1) } } : { play: { cards } };
  },
  prompt,
  summary,
  breakdown: (_, detail, { t }) => [
    [t("pile-points"), detail.pilePoints ?? 0],
    [t("bonus-points"), detail.bonusPoints ?? 0],
    [t("hand-points"), detail.handPoints ?? 0],
  ],
  isMoment: ({ discat }) =>
    discat?.kind === "DISCAT_EVENT_KIND_LAST_TURNS_BEGUN" || discat?.kind === "DISCAT_EVENT_KIND_GAME_ENDED",
};

/** @param {Context} context */
function prompt(context) {
  const { view, actions, picked, candidates, t, nameOf } = context;
  const { card = 0, higher = false } = view.constraint ?? {};
  const than = { than: t(higher ? "higher" : "lower"), card: nameOf("card", card) };
  if (view.phase === "DISCAT_PHASE_PASS") {
    const [first] = picked;
    if (first !== undefined) {
      return t("prompt-swap", { card: nameOf("card", cardOf(first)) });
    }
    return t(actions.some(({ discat }) => discat?.exchange) ? "prompt-pass" : "prompt-keep", than);
  }
  if (picked.length > 0) {
    const top = topOf(context);
    if (top === undefined) {
      return t("prompt-top");
    }
    return t(candidates.size > 0 ? "prompt-more" : "prompt-ready", { card: nameOf("card", top) });
  }
  if (view.constraint) {
    return t("prompt-fit", than);
  }
  const isSingle = actions.every(({ discat }) => discat?.play?.cards?.length === 1);
  return t(isSingle ? "prompt-one" : "prompt-free");
}

/** @param {Context} context */
function summary({ view, players, me, t, seatName, nameOf }) {
  const { constraint: now, queue = [], seats = [], lastTurns = 0, drawPileSize = 0 } = view;
  const arrowOf = (/** @type {number} */ card) => t((view.upArrows ?? []).includes(card) ? "up" : "down");
  const listed = (/** @type {readonly number[]} */ cards) =>
    cards.map((card) => `${nameOf("card", card)} (${arrowOf(card)})`).join(", ");
  /** @type {string[]} */
  const lines = [];
  if (now) {
    const { card = 0, higher = false, creator = 0, bonusDrawn = false } = now;
    const name = seatName(creator);
    lines.push(t("sign-by", { than: t(higher ? "higher" : "lower"), card: nameOf("card", card), name }));
    if (bonusDrawn) {
      lines.push(t("sum-bonus-drawn", { name }));
    }
  } else {
    lines.push(t("sign-free"));
  }
  const passed = [...passedSeats(view)];
  if (passed.length > 0) {
    lines.push(t("sum-passed", { names: passed.map(seatName).join(", ") }));
  }
  if (lastTurns > 0) {
    lines.push(t("sum-last", { count: lastTurns }));
  }
  if (me !== undefined) {
    lines.push(t("sum-hand", { cards: listed(seats[me]?.knownCards ?? []) }));
  }
  lines.push(t("draw-pile", { count: drawPileSize }));
  if (queue.length > 0) {
    const cards = queue.map(({ seat = 0, card }) =>
      card === undefined
        ? t("queued", { name: seatName(seat) })
        : t("queued-card", { card: nameOf("card", card), name: seatName(seat) }),
    );
    lines.push(t("queue", { cards: cards.join(", ") }));
  }
  for (let seat = 0; seat < players; seat++) {
    const { handSize = 0, knownCards = [], pile = [], bonusPile = [] } = seats[seat] ?? {};
    const name = seatName(seat);
    const cards = pile.map(({ card = 0, faceDown }) =>
      faceDown ? t("turned", { card: nameOf("card", card) }) : `${nameOf("card", card)} (${arrowOf(card)})`,
    );
    const said = t("sum-pile", { count: pile.length, cards: cards.join(", ") });
    lines.push(t("sum-seat", { name, hand: handSize, pile: said }));
    if (bonusPile.length > 0) {
      lines.push(t("sum-bonus", { name, count: bonusPile.length, cards: listed(bonusPile) }));
    }
    if (seat !== me && knownCards.length > 0) {
      lines.push(t("sum-known", { name, cards: listed(knownCards) }));
    }
  }
  return lines;
}
