// Chat Cartonne on the screen: boxes of cardboard that grow on a board, and the cats in them.

import { boardOf } from "./board.js";
import { plateOf, startsOf, trayOf } from "./hand.js";
import {
  boardPoints,
  boxesOf,
  cellKey,
  extentOf,
  formKey,
  hasOneForm,
  jointKey,
  layoutOf,
  partOf,
  phaseOf,
  remember,
  rimOf,
} from "./layout.js";
import { boxText, cardTexts, partText, pileText, seatText } from "./text.js";

/** @type {import("../../game.js").Game} */
export const game = {
  words: {
    en: {
      balls: "balls: {count}",
      fish: "fish: {count}",
      mice: "mice: {count}",
      sprayers: "sprayers: {count}",
      asleep: "{name}'s cat, asleep, {cell}",
      awake: "{name}'s cat, awake, {cell}",
      box: "{kind} of {count} cells around {cell}: {toys}; {cats}; {worth}",
      "box-closed": "Closed box",
      "box-majority": "majority: {names}, {points} points each",
      "box-nobody": "nobody has the majority",
      "box-open": "Open box",
      bonus: "bonus of {name}: {points}",
      boxes: "Boxes",
      bonuses: "Company",
      cats: "{name}: {awake} awake, {woken} woken, {asleep} asleep",
      "cat-card": "A cat of yours to lay asleep; {count} left",
      "cats-left": "{name} has {count} cats left to lay",
      "cell-empty": "{cell}, empty",
      drawn: "drew {list}",
      final: "Final phase: nobody draws any longer",
      "final-short": "Final phase",
      first: "{name} begins",
      hand: "{name}: {count} cards in hand",
      "hand-card": "{card}, in your hand",
      holds: "holds a carton",
      "holds-not": "holds no carton",
      lies: "{card}, at {cell}",
      negative: "Negative",
      "no-cats": "no cats",
      "no-toys": "no toys",
      "own-hand": "Your hand: {cards}",
      part: "part {part}: {left} cards",
      "part-own": "you have drawn its Princess",
      pile: "The pile: {count} cards",
      "pile-button": "Draw: the pile has {count} cards",
      "play-cat": "You may lay a cat beside your carton",
      "play-cell": "Choose a place for the carton",
      "play-draw": "Draw a card, or lay a cat asleep",
      "play-draw-only": "Draw a card",
      "play-final": "Play a carton, or lay a cat asleep",
      "play-hand": "Play a card of your hand",
      "play-pass": "You have nothing to play",
      "play-princess": "Choose the cat that the Princess replaces",
      "play-sleep": "Choose a place for the sleeping cat",
      "play-sleep-only": "Lay a cat asleep",
      "play-start": "Choose the starting carton",
      "play-start-cell": "Place your starting carton",
      "play-toy": "Lay the toys on a joint",
      "play-toy-cell": "Lay the toys in a cell",
      "princess-at": "The Princess, {cell}",
      princesses: "{count} Princesses played",
      shown: "a card that is not: {cards}",
      start: "Begin with {card}",
      "toy-drawn": "{name} has drawn {card}",
      toys: "{card} on the joint, {cell}",
      turn: "Turn it: {card}",
      unseen: "Cards that you have not seen: {cards}; Princesses: {count}",
      woken: "{name}'s cat, woken, {cell}",
    },
    fr: {
      balls: "balles : {count}",
      fish: "poissons : {count}",
      mice: "souris : {count}",
      sprayers: "vaporisateurs : {count}",
      asleep: "chat de {name}, endormi, {cell}",
      awake: "chat de {name}, éveillé, {cell}",
      box: "{kind} de {count} cases autour de {cell} : {toys} ; {cats} ; {worth}",
      "box-closed": "Boîte fermée",
      "box-majority": "majorité : {names}, {points} points chacun",
      "box-nobody": "personne n’a la majorité",
      "box-open": "Boîte ouverte",
      bonus: "bonus de {name} : {points}",
      boxes: "Boîtes",
      bonuses: "Compagnie",
      cats: "{name} : éveillés {awake}, réveillés {woken}, endormis {asleep}",
      "cat-card": "Un de vos chats, à poser endormi ; {count} en réserve",
      "cats-left": "{name} a {count} chats en réserve",
      "cell-empty": "{cell}, libre",
      drawn: "a pioché {list}",
      final: "Phase finale : on ne pioche plus",
      "final-short": "Phase finale",
      first: "{name} commence",
      hand: "{name} : {count} cartes en main",
      "hand-card": "{card}, dans votre main",
      holds: "a encore un carton",
      "holds-not": "n’a plus de carton",
      lies: "{card}, en {cell}",
      negative: "Négatifs",
      "no-cats": "aucun chat",
      "no-toys": "aucun jouet",
      "own-hand": "Votre main : {cards}",
      part: "partie {part} : {left} cartes",
      "part-own": "vous avez pioché sa Princesse",
      pile: "La pioche : {count} cartes",
      "pile-button": "Piocher : il reste {count} cartes",
      "play-cat": "Vous pouvez poser un chat à côté du carton",
      "play-cell": "Choisissez la place du carton",
      "play-draw": "Piochez une carte ou posez un chat endormi",
      "play-draw-only": "Piochez une carte",
      "play-final": "Jouez un carton ou posez un chat endormi",
      "play-hand": "Jouez une carte de votre main",
      "play-pass": "Vous n’avez rien à jouer",
      "play-princess": "Choisissez le chat que la Princesse remplace",
      "play-sleep": "Choisissez la place du chat endormi",
      "play-sleep-only": "Posez un chat endormi",
      "play-start": "Choisissez le carton de départ",
      "play-start-cell": "Placez votre carton de départ",
      "play-toy": "Posez les jouets à la jointure de deux cartons",
      "play-toy-cell": "Posez les jouets sur une case",
      "princess-at": "La Princesse, {cell}",
      princesses: "{count} Princesses jouées",
      shown: "une carte qui n’est pas : {cards}",
      start: "Commencer par {card}",
      "toy-drawn": "{name} a pioché {card}",
      toys: "{card} à la jointure, {cell}",
      turn: "La tourner : {card}",
      unseen: "Cartes que vous n’avez pas vues : {cards} ; Princesses : {count}",
      woken: "chat de {name}, réveillé, {cell}",
    },
  },

  draw(context) {
    remember(context);
    const layout = layoutOf(context);
    const extent = extentOf(context, layout);
    const toBoard = boardPoints(layout, extent);
    const items = [
      ...boardOf(context, layout, extent, toBoard),
      ...startsOf(context, layout),
      ...layout.others.flatMap((place) => plateOf(context, layout, place)),
      ...trayOf(context, layout),
    ];
    return { width: layout.width, height: layout.height, items, board: layout.board, extent };
  },

  picks(action, context) {
    const part = partOf(action);
    const {
      chooseStart,
      placeCarton,
      sleep,
      layCat,
      princessOnJoint: onJoint,
      princessInCell: inCell,
    } = part;
    if (part.draw) {
      return { keys: ["pile"] };
    }
    if (chooseStart) {
      return { keys: [formKey("start", chooseStart.kind ?? 0, chooseStart.turned)] };
    }
    if (placeCarton) {
      const cell = cellKey(placeCarton.cell);
      return hasOneForm(context)
        ? { keys: [cell] }
        : { keys: [formKey("card", placeCarton.kind ?? 0, placeCarton.turned), cell], ordered: true };
    }
    if (sleep) {
      return { keys: ["cat", cellKey(sleep.cell)], ordered: true };
    }
    if (onJoint || inCell) {
      return { keys: ["princess", onJoint ? jointKey(onJoint.joint) : cellKey(inCell.cell)], ordered: true };
    }
    if (layCat || part.toyOnJoint) {
      return { keys: [jointKey((layCat ?? part.toyOnJoint).joint)] };
    }
    return { keys: part.toyAsCarton ? [cellKey(part.toyAsCarton.cell)] : [] };
  },

  attempt(keys, context) {
    const last = keys.at(-1) ?? "";
    const [shape = "", at] = last.split(":");
    const isPlace = shape === "cell" || shape === "joint";
    const [what, number, turned] = (isPlace ? (keys[0] ?? "") : last).split(":");
    const cell = isPlace ? Number(at) : ([...rimOf(context)][0] ?? 0);
    const { view } = context;
    if (what === "pile") {
      return { draw: {} };
    }
    if (what === "cat") {
      return { sleep: { cell } };
    }
    if (what === "princess") {
      return shape === "cell" ? { princessInCell: { cell } } : { princessOnJoint: { joint: cell } };
    }
    if (what === "card") {
      return { placeCarton: { kind: Number(number), turned: turned !== undefined, cell } };
    }
    if (view.toy !== undefined) {
      return shape === "cell" ? { toyAsCarton: { cell } } : { toyOnJoint: { joint: cell } };
    }
    if (view.startingCarton !== undefined) {
      return { placeCarton: { kind: view.startingCarton, cell } };
    }
    return shape === "joint" ? { layCat: { joint: cell } } : undefined;
  },

  prompt({ view, actions, picked, t }) {
    const has = (/** @type {string[]} */ ...names) =>
      actions.some((action) => names.some((name) => partOf(action)[name]));
    const [first = ""] = picked;
    const phase = phaseOf(view);
    if (first !== "") {
      return t(first === "cat" ? "play-sleep" : first === "princess" ? "play-princess" : "play-cell");
    }
    if (has("passTurn")) {
      return t("play-pass");
    }
    switch (phase) {
      case "CHOOSE_START":
        return t("play-start");
      case "PLACE_START":
        return t("play-start-cell");
      case "TOY":
        return t(has("toyAsCarton") ? "play-toy-cell" : "play-toy");
      case "CAT":
        return t("play-cat");
      case "TURN":
        if (has("draw")) {
          return t(has("sleep") ? "play-draw" : "play-draw-only");
        }
        return t(!has("sleep") ? "play-hand" : has("placeCarton") ? "play-final" : "play-sleep-only");
      default:
        return t("play-hand");
    }
  },

  summary(context) {
    const { view, me, t, seatName, nameOf } = context;
    const lines = [];
    if (view.firstSeat !== undefined) {
      lines.push(t("first", { name: seatName(view.firstSeat) }));
    }
    if (view.finalPhase) {
      lines.push(t("final"));
    }
    lines.push(
      [
        pileText(context),
        ...(view.parts ?? []).map((/** @type {any} */ _, /** @type {number} */ part) =>
          partText(context, part),
        ),
      ].join("; "),
    );
    if (view.toy !== undefined || view.startingCarton !== undefined) {
      const card = nameOf("card", view.toy ?? view.startingCarton);
      lines.push(t("toy-drawn", { name: seatName(view.activeSeat ?? 0), card }));
    }
    for (let seat = 0; seat < context.players; seat++) {
      lines.push(seatText(context, seat));
    }
    const hand = me === undefined ? [] : (view.seats?.[me]?.knownCards ?? []);
    if (hand.length > 0) {
      const cards = hand.map((/** @type {number} */ kind) => nameOf("card", kind)).join(", ");
      lines.push(t("own-hand", { cards }));
    }
    for (const { card } of view.table ?? []) {
      lines.push(...cardTexts(context, card));
    }
    lines.push(...boxesOf(context).map((box) => boxText(context, box)));
    const unseen = view.unseenCards ?? [];
    if (unseen.length > 0) {
      const cards = unseen.map((/** @type {number} */ kind) => nameOf("card", kind)).join(", ");
      lines.push(t("unseen", { cards, count: view.unseenPrincesses ?? 0 }));
    }
    return lines;
  },

  breakdown(seat, detail, context) {
    const boxes = boxesOf(context);
    const sum = (/** @type {(box: any) => number} */ of) => boxes.reduce((total, box) => total + of(box), 0);
    return [
      [context.t("boxes"), sum((box) => ((box.majority ?? []).includes(seat) ? (box.points ?? 0) : 0))],
      [context.t("bonuses"), sum((box) => box.bonus?.[seat] ?? 0)],
      [context.t("negative"), detail.negativePoints ?? 0],
    ];
  },

  isMoment(event) {
    const kind = /** @type {any} */ (event).chatCartonne?.kind ?? "";
    return kind.endsWith("FINAL_PHASE_BEGUN") || kind.endsWith("GAME_ENDED");
  },
};
