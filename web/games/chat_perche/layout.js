// The layout of Chat perché's table.

import { path, round } from "../../art/shapes.js";

/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheCardInfoJson} CardInfo */
/** @typedef {import("./view.js").Context} Context */
/** @typedef {import("../../game.js").Part<Context, Layout>} Part */
/** @typedef {import("./view.js").Details} Details */
/** @typedef {ReturnType<typeof layoutOf>} Layout */
/** @typedef {ReturnType<typeof treeOf>} Tree */
/**
 * The position of a space of the tree.
 * @typedef {object} Spot
 * @property {number} x the middle of the animal's paws, in pixels
 * @property {number} y the bottom of the animal's paws, in pixels
 * @property {boolean} onTrunk
 * @property {boolean} isLeft
 */
/**
 * The cards of one kind in a deck.
 * @typedef {object} DeckRow
 * @property {CardInfo} card
 * @property {{value: number, isLeft: boolean}[]} chips one for each copy; `isLeft` is true if the copy is still in the
 *   deck
 */

/** The layers of the drawing, from the lowest to the highest. */
export const LAYERS = { land: 0, wood: 1, trunk: 2, spaces: 3, tokens: 4, animals: 5, card: 6 };
/** The drawing's smallest width, in pixels, with the decks next to the tree. */
const WIDE = 820;
/** The drawing's smallest width, in pixels, at which the tree leaves room for the decks below it. */
export const MEDIUM = 600;

/**
 * Compute the positions and sizes of everything in the drawing, in pixels.
 * @param {Context} context
 */
export function layoutOf(context) {
  const { width, details } = context;
  const tree = treeOf(details);
  const decks = decksOf(context);
  const { isWide, gap, panelWidth, panelHeight } = decks;
  const heights = heightsOf(context, tree, decks);
  const { pitch, step, horizon, bottom, startHeight, rugHeight, waitingSize, trackHeight, birdSize } =
    heights;
  const centre = width / 2;
  const branches = limbsOf(tree, heights, centre);
  const cardWidth = Math.min(startHeight / 1.5, isWide ? 100 : 92);
  const side = Math.min(width / 2 - gap - cardWidth / 2 - 8, waitingSize * 7.6);
  const landHeight = isWide ? bottom : bottom + panelHeight + 2 * gap;
  return {
    ...decks,
    ...heights,
    ...branches,
    tree,
    width,
    centre,
    cardWidth,
    side,
    /** The middle of the unplaced tokens. */
    tokensY: horizon + startHeight + heights.tokensHeight / 2,
    trackX: trackHeight,
    trackLength: width - trackHeight - 88,
    reach: { width: pitch, height: Math.min(step * 0.9, pitch * 1.3) },
    landHeight,
    height: Math.ceil(landHeight),
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
 * Return the tree that the pieces describe.
 * @param {Details} details
 */
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

/**
 * Return the sizes of the panels that show the decks.
 * @param {Context} context
 */
function decksOf({ width, view, details }) {
  const isWide = width >= WIDE;
  const rows = (view.seats ?? []).map(({ drawPileCards }) =>
    deckRows(details.cards ?? [], view.deck ?? [], drawPileCards ?? []),
  );
  const gap = isWide ? 16 : 8;
  const panelWidth = isWide ? 196 : (width - 3 * gap) / 2;
  const lines = Math.max(...rows.map((row) => deckLines(row, panelWidth).lines));
  return { isWide, rows, gap, panelWidth, panelHeight: 40 + lines * (isWide ? 32 : 24) };
}

/**
 * Return heights and sizes, from the birds above the tree to the dogs below it.
 * @param {Context} context
 * @param {Tree} tree
 * @param {ReturnType<typeof decksOf>} decks
 * @returns the sizes in pixels: `pitch` is the width of a space, `step` the height between two branches, `low` the y of
 *   the lowest branch
 */
function heightsOf({ width, height: room, view }, tree, { isWide, gap, panelWidth, panelHeight }) {
  const isMedium = !isWide && width >= MEDIUM;
  const height = Math.max(480, room - (isMedium ? panelHeight + 2 * gap : 0));
  const free = (isWide ? width - 2 * (panelWidth + 1.5 * gap) : width) - 8;
  const pitch = Math.min(66, free / (2 * tree.longest + 1.1));
  const rise = pitch * 0.8;
  const waitingSize = pitch < 44 ? 32 : Math.min(46, pitch * 0.85);
  const rugHeight = Math.round(waitingSize * 1.85);
  const startHeight = 40 + rugHeight + 10;
  const hasTokens = (view.seats ?? []).some(({ unplacedTokens = 0 }) => unplacedTokens > 0);
  const tokensHeight = hasTokens ? 58 : 0;
  const trackHeight = pitch < 44 ? 44 : 54;
  const birdSize = pitch < 44 ? 26 : 36;
  const levels = tree.trunkSpaces.length;
  const above = birdSize + 12 + pitch * 0.75 + rise;
  const left = height - above - startHeight - tokensHeight - trackHeight;
  const step = Math.max(54, Math.min(124, left / (levels - 0.4)));
  const low = above + step * (levels - 1);
  const horizon = low + step * 0.6;
  return {
    pitch,
    rise,
    waitingSize,
    rugHeight,
    startHeight,
    tokensHeight,
    trackHeight,
    birdSize,
    step,
    catSize: Math.min(pitch * 1.12, step * 0.68),
    low,
    horizon,
    bottom: horizon + startHeight + tokensHeight + trackHeight,
  };
}

/**
 * Return functions for the branches' shapes and heights, and the position of each space. Higher branches are steeper.
 * @param {Tree} tree
 * @param {ReturnType<typeof heightsOf>} heights
 * @param {number} centre the x of the trunk
 */
function limbsOf(tree, { pitch, rise, step, low }, centre) {
  const levels = tree.trunkSpaces.length;
  const limbs = tree.trunkSpaces.map(
    (_, level) => new Limb(pitch, (rise * (level + 0.4)) / levels, tree.longest),
  );
  const limbOf = (/** @type {number} */ level) => /** @type {Limb} */ (limbs[level]);
  const levelY = (/** @type {number} */ level) => low - level * step;
  /** @type {Map<number, Spot>} */
  const spots = new Map();
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
  return { limbOf, levelY, spots };
}

/** The shape of a branch. All of its measures follow from the pitch of its spaces. */
export class Limb {
  /**
   * @param {number} pitch the width of a space, in pixels
   * @param {number} rise the height of the tip above the trunk's end, in pixels
   * @param {number} spaces the number of spaces on the longest branch
   */
  constructor(pitch, rise, spaces) {
    this.pitch = pitch;
    this.rise = rise;
    this.length = pitch * (spaces + 0.42);
  }

  /**
   * Return the distance of a space from the trunk.
   * @param {number} place the space's number on the branch, from 1
   */
  outward(place) {
    return this.pitch * (place + 0.02);
  }

  /**
   * Return the y of the middle of the wood.
   * @param {number} x the distance from the trunk
   */
  middle(x) {
    const t = x / this.length;
    return 2 * t * (1 - t) * (0.06 * this.pitch - 0.2 * this.rise) - t * t * this.rise;
  }

  /**
   * Return half of the wood's thickness.
   * @param {number} x the distance from the trunk
   */
  half(x) {
    const t = x / this.length;
    return (
      this.pitch * (0.25 * (1 - t) ** 3 + 0.4 * t * (1 - t) ** 2 + 0.25 * t * t * (1 - t) + 0.035 * t ** 3)
    );
  }

  /**
   * Return the y of the upper edge.
   * @param {number} x the distance from the trunk
   */
  top(x) {
    return this.middle(x) - this.half(x);
  }

  /**
   * Return the outline of the branch as a path.
   * @param {number} end the distance from the trunk at which it ends
   * @param {string} tip the path from the upper edge to the lower edge at the end
   */
  outline(end, tip) {
    const steps = Array.from({ length: 9 }, (_, index) => (index * end) / 8);
    const upper = steps.map((x) => path`${x} ${this.top(x)}`);
    const lower = steps.map((x) => path`${x} ${this.middle(x) + this.half(x)}`).reverse();
    return `M${upper.join("L")}${tip}L${lower.join("L")}Z`;
  }
}

/** The size of a deck's icons, in pixels. */
export const ICON = 24;

/**
 * Return the sizes of the small cards in a deck's panel.
 * @param {number} width the width of the panel
 */
export function chipsOf(width) {
  return { width: width < 180 ? 13.6 : 16, height: 20, gap: width < 180 ? 1.4 : 2 };
}

/**
 * Group the cards of a deck into rows, and mark the copies that are still in the deck. The cards of a row have the same
 * kind and concern the same seat's cats.
 * @param {readonly CardInfo[]} cards
 * @param {readonly number[]} copies the copies of each card in a full deck
 * @param {readonly number[]} left the cards still in the deck
 * @returns {DeckRow[]}
 */
function deckRows(cards, copies, left) {
  /** @type {Map<string, DeckRow>} */
  const rows = new Map();
  for (const card of cards) {
    const number = card.card ?? 0;
    const stay = left.filter((card) => card === number).length;
    const key = `${card.kind} ${card.ownCats}`;
    for (let copy = 0; copy < (copies[number] ?? 0); copy++) {
      const row = rows.get(key) ?? { card, chips: [] };
      row.chips.push({ value: card.value ?? 0, isLeft: copy < stay });
      rows.set(key, row);
    }
  }
  return [...rows.values()];
}

/**
 * Arrange the rows of a deck in a panel.
 * @param {readonly DeckRow[]} rows
 * @param {number} width the width of the panel, in pixels
 * @returns `most` is the number of chips in a line, `firsts` each row's column and first line, `lines` the number of
 *   lines
 */
export function deckLines(rows, width) {
  const chips = chipsOf(width);
  const columns = width >= 310 ? 2 : 1;
  const most = Math.max(1, Math.floor((width / columns - ICON - 14) / (chips.width + chips.gap)));
  const lines = Array(columns).fill(0);
  const firsts = rows.map((row, index) => {
    const column = Math.floor((index * columns) / rows.length);
    const first = lines[column];
    lines[column] += Math.ceil(row.chips.length / most);
    return { column, first };
  });
  return { most, columns, firsts, lines: Math.max(...lines) };
}
