// The layout of Chat perché's table, and the places of each cat and bird.

import { deckLines, deckRows, round } from "./parts.js";
import { Limb } from "./tree.js";

/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheViewJson} View */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPerchePiecesJson} Pieces */
/** @typedef {import("../../game.js").Context<View>} Context */
/**
 * A space of the tree on the drawing; (x, y): where paws stand.
 * @typedef {{x: number, y: number, onTrunk: boolean, isLeft: boolean}} Spot
 */

/** Drawings of this width have the decks beside the tree. */
const WIDE = 820;
/** Drawings of this width have room for the decks below the tree. */
export const MEDIUM = 600;

/** The tree as the pieces tell it. @param {Pieces} details */
function treeOf(details) {
  const trunkSpaces = (details.spaces ?? [])
    .filter(({ kind }) => kind === "CHAT_PERCHE_SPACE_KIND_TRUNK")
    .sort((a, b) => (a.place ?? 0) - (b.place ?? 0))
    .map(({ space }) => space ?? 0);
  const branches = (details.branches ?? []).map(({ side, trunkSpace, spaces }) => ({
    isLeft: side === "CHAT_PERCHE_SIDE_LEFT",
    level: trunkSpaces.indexOf(trunkSpace ?? 0),
    spaces: spaces ?? [],
  }));
  return { trunkSpaces, branches, longest: Math.max(...branches.map(({ spaces }) => spaces.length)) };
}

/** Measure where all lies. @param {Context} context */
export function layOut(context) {
  const { width, view } = context;
  const details = /** @type {Pieces} */ (context.details);
  const tree = treeOf(details);
  const isWide = width >= WIDE;
  const isMedium = !isWide && width >= MEDIUM;
  const rows = (view.seats ?? []).map(({ drawPileCards }) =>
    deckRows(details.cards ?? [], view.deck ?? [], drawPileCards ?? []),
  );
  const gap = isWide ? 16 : 8;
  const panelWidth = isWide ? 196 : (width - 3 * gap) / 2;
  const lines = Math.max(...rows.map((row) => deckLines(row, panelWidth).lines));
  const hasTokens = (view.seats ?? []).some(({ unplacedTokens }) => (unplacedTokens ?? 0) > 0);
  const panelHeight = 40 + lines * (isWide ? 32 : 24);
  const height = Math.max(480, context.height - (isMedium ? panelHeight + 2 * gap : 0));

  const pitch = Math.min(
    66,
    ((isWide ? width - 2 * (panelWidth + 1.5 * gap) : width) - 8) / (2 * tree.longest + 1.1),
  );
  const rise = pitch * 0.8;
  const waitingSize = pitch < 44 ? 32 : Math.min(46, pitch * 0.85);
  const rugHeight = Math.round(waitingSize * 1.85);
  const startHeight = 40 + rugHeight + 10;
  const tokensHeight = hasTokens ? 58 : 0;
  const trackHeight = pitch < 44 ? 44 : 54;
  const birdSize = pitch < 44 ? 26 : 36;
  const levels = tree.trunkSpaces.length;
  const above = birdSize + 12 + pitch * 0.75 + rise;
  const free = height - above - startHeight - tokensHeight - trackHeight;
  const step = Math.max(54, Math.min(124, free / (levels - 0.4)));
  const catSize = Math.min(pitch * 1.12, step * 0.68);
  const low = above + step * (levels - 1);
  const horizon = low + step * 0.6;
  const bottom = horizon + startHeight + tokensHeight + trackHeight;
  const centre = width / 2;

  // The higher a branch, the steeper.
  const limbs = tree.trunkSpaces.map(
    (_, level) => new Limb(pitch, (rise * (level + 0.4)) / levels, tree.longest),
  );
  const limbOf = (/** @type {number} */ level) => /** @type {Limb} */ (limbs[level]);
  /** @type {Map<number, Spot>} */
  const spots = new Map();
  const levelY = (/** @type {number} */ level) => low - level * step;
  tree.trunkSpaces.forEach((space, level) =>
    spots.set(space, { x: centre, y: levelY(level) + pitch * 0.16, onTrunk: true, isLeft: true }),
  );
  for (const { isLeft, level, spaces } of tree.branches) {
    spaces.forEach((space, index) => {
      const limb = limbOf(level);
      const out = limb.outward(index + 1);
      const x = centre + (isLeft ? -out : out);
      spots.set(space, { x: round(x), y: round(levelY(level) + limb.top(out)), onTrunk: false, isLeft });
    });
  }
  const cardWidth = Math.min(startHeight / 1.5, isWide ? 100 : 92);
  const side = Math.min(width / 2 - gap - cardWidth / 2 - 8, waitingSize * 7.6);
  return {
    details,
    tree,
    isWide,
    width,
    centre,
    limbOf,
    pitch,
    step,
    catSize,
    low,
    horizon,
    bottom,
    spots,
    levelY,
    rows,
    gap,
    panelWidth,
    panelHeight,
    startHeight,
    tokensHeight,
    trackHeight,
    rugHeight,
    waitingSize,
    birdSize,
    cardWidth,
    side,
    hasTokens,
    trackX: trackHeight,
    trackLength: width - trackHeight - 88,
    reach: { width: pitch, height: Math.min(step * 0.9, pitch * 1.3) },
    height: isWide ? bottom : bottom + panelHeight + 2 * gap,
    panelAt: (/** @type {number} */ seat) => ({
      x: seat === 0 ? gap : width - gap - panelWidth,
      y: isWide ? Math.max(birdSize + 22, (horizon - panelHeight) / 2) : bottom + gap,
    }),
    /** The middle of a seat's rug. */
    startAt: (/** @type {number} */ seat) => ({
      x: seat === 0 ? centre - cardWidth / 2 - 8 - side / 2 : centre + cardWidth / 2 + 8 + side / 2,
      y: horizon + 44 + rugHeight / 2,
    }),
  };
}

/**
 * Say which pieces are where, so that each stays itself: `moves` are from and to, as events tell of them.
 * @param {readonly number[]} before @param {readonly number[]} now @param {readonly [number, number][]} moves
 */
function follow(before, now, moves) {
  /** @type {(number | undefined)[]} */
  const places = before.length === now.length ? [...before] : now.map(() => undefined);
  for (const [from, to] of moves) {
    const index = places.lastIndexOf(from);
    if (index >= 0) {
      places[index] = to;
    }
  }
  const left = [...now];
  const kept = places.map((place) => {
    const index = place === undefined ? -1 : left.indexOf(place);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  });
  return kept.map((place) => place ?? /** @type {number} */ (left.shift()));
}

/** Beside the tree, as a place of a bird. */
const BESIDE = -1;

/**
 * Return where each cat and each bird is, by number.
 * @param {Context} context
 * @returns {{cats: number[][], birds: number[]}}
 */
export function whereabouts({ view, update, details, ui }) {
  if (ui["seen"] !== update) {
    const start = details.startSpace;
    const events = (update.events ?? []).flatMap(({ chatPerche }) => (chatPerche ? [chatPerche] : []));
    const before = ui["whereabouts"] ?? { cats: [], birds: [] };
    const cats = (view.seats ?? []).map(({ cats = [], catsAtStart = 0 }, seat) => {
      /** @type {[number, number][]} */
      const moves = events.flatMap(({ kind, catOwner, seat: whose, fromSpace, toSpace, space }) =>
        kind === "CHAT_PERCHE_EVENT_KIND_CAT_MOVED" && (catOwner ?? 0) === seat
          ? [[fromSpace ?? 0, toSpace ?? 0]]
          : kind === "CHAT_PERCHE_EVENT_KIND_CAT_FELL" && (whose ?? 0) === seat
            ? [[space ?? 0, start]]
            : [],
      );
      return follow(before.cats[seat] ?? [], [...cats, ...Array(catsAtStart).fill(start)], moves);
    });
    /** @type {[number, number][]} */
    const flights = events.flatMap(({ kind, space }) =>
      kind === "CHAT_PERCHE_EVENT_KIND_BIRD_PLACED"
        ? [[BESIDE, space ?? 0]]
        : kind === "CHAT_PERCHE_EVENT_KIND_BIRD_LEFT"
          ? [[space ?? 0, BESIDE]]
          : [],
    );
    const birds = follow(
      before.birds,
      [...(view.birds ?? []), ...Array(view.birdsBeside ?? 0).fill(BESIDE)],
      flights,
    );
    ui["whereabouts"] = { cats, birds };
    ui["seen"] = update;
  }
  return ui["whereabouts"];
}
