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
  remember,
  rimOf,
} from "./layout.js";
import { boxText, cardTexts, partText, pileText, seatText } from "./text.js";
import { words } from "./words.js";

/** @type {import("../../game.js").Game} */
export const game = {
  words,

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
      return { keys: [formKey("start", chooseStart.card ?? 0, chooseStart.turned)] };
    }
    if (placeCarton) {
      const cell = cellKey(placeCarton.cell);
      return hasOneForm(context)
        ? { keys: [cell] }
        : { keys: [formKey("card", placeCarton.card ?? 0, placeCarton.turned), cell], ordered: true };
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
      return { placeCarton: { card: Number(number), turned: turned !== undefined, cell } };
    }
    if (view.toy !== undefined) {
      return shape === "cell" ? { toyAsCarton: { cell } } : { toyOnJoint: { joint: cell } };
    }
    if (view.startingCarton !== undefined) {
      return { placeCarton: { card: view.startingCarton, cell } };
    }
    return shape === "joint" ? { layCat: { joint: cell } } : undefined;
  },

  prompt({ picked: [first], t }) {
    if (first === undefined) {
      return undefined;
    }
    return t(first === "cat" ? "play-sleep" : first === "princess" ? "play-princess" : "play-cell");
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
      lines.push(t("toy-drawn", { name: seatName(view.activeSeat), card }));
    }
    for (let seat = 0; seat < context.players; seat++) {
      lines.push(seatText(context, seat));
    }
    const hand = me === undefined ? [] : (view.seats?.[me]?.handCards ?? []);
    if (hand.length > 0) {
      const cards = hand.map((/** @type {number} */ kind) => nameOf("card", kind)).join(", ");
      lines.push(t("own-hand", { cards }));
    }
    for (const { laid } of view.table ?? []) {
      lines.push(...cardTexts(context, laid));
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
      [context.t("bonuses"), sum((box) => box.bySeat?.[seat]?.bonusPoints ?? 0)],
      [context.t("negative"), detail.negativePoints ?? 0],
    ];
  },

  isMoment(event) {
    const kind = /** @type {any} */ (event).chatCartonne?.kind ?? "";
    return kind.endsWith("FINAL_PHASE_BEGUN") || kind.endsWith("GAME_ENDED");
  },
};
