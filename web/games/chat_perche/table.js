// The tree of Chat perché with its branches, tokens and birds, and the dogs below.

import { round } from "../../art/shapes.js";
import { drawnBy } from "../../art/table_pieces.js";
import { write } from "../../art/text.js";
import { LAYERS } from "./layout.js";
import {
  branch,
  crown,
  freeToken,
  landscape,
  pack,
  perchedBird,
  solidityToken,
  standing,
  stump,
  track,
  trunk,
  wire,
} from "./parts.js";
import { animalMark, branchKey, spaceKey } from "./picks.js";
import { branchLabel } from "./text.js";
import { isPlacing, loadOf, takenSpaces, whereabouts } from "./view.js";

/** @typedef {import("../../game.js").Item} Item */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Part} Part */
/** @typedef {import("./view.js").Context} Context */

/**
 * Return the items of the tree and of everything on it except cats, and of the dogs.
 * @type {Part}
 */
export function tableItems(context, layout) {
  return [
    ...woodItems(context, layout),
    ...branchItems(context, layout),
    ...spaceItems(context, layout),
    ...tokenItems(context, layout),
    ...birdItems(context, layout),
    ...dogItems(context, layout),
  ];
}

/** @type {Part} */
function woodItems({ t }, { tree, pitch, step, centre, low, horizon, startHeight, width, landHeight }) {
  const foot = horizon + startHeight * 0.62 - low;
  const top = (tree.trunkSpaces.length - 1) * step + pitch * 0.5;
  return [
    {
      key: "land",
      x: 0,
      y: 0,
      layer: LAYERS.land,
      ...drawnBy(landscape, width, round(landHeight), round(horizon)),
    },
    {
      key: "trunk",
      x: centre,
      y: low + foot,
      layer: LAYERS.trunk,
      ...drawnBy(trunk, pitch, top + foot, foot - pitch * 0.3),
      label: t("trunk-name"),
    },
    { key: "crown", x: centre, y: low - top - pitch * 0.1, layer: LAYERS.trunk, ...drawnBy(crown, pitch) },
  ];
}

/** @type {Part} */
function branchItems(context, layout) {
  const { view } = context;
  const isBroken = (/** @type {number} */ number) => view.branches?.[number]?.broken ?? false;
  const fallen = layout.tree.branches.flatMap((_, number) => (isBroken(number) ? [number] : []));
  return layout.tree.branches.flatMap(({ isLeft, level }, number) => {
    const limb = layout.limbOf(level);
    const look = { isPicked: isPlacing(view), isBroken: isBroken(number), isLeft };
    const place = { x: layout.centre, y: layout.levelY(level), layer: LAYERS.wood };
    const whole = {
      key: branchKey(number),
      ...place,
      ...drawnBy(branch, limb, number, look),
      ...(look.isPicked && { pick: branchKey(number) }),
    };
    const label = branchLabel(number, context);
    if (!look.isBroken) {
      return [{ ...whole, label }];
    }
    return [
      { key: `stump:${number}`, ...place, ...drawnBy(stump, limb, isLeft), label },
      { ...whole, ...fallenPlace(layout, fallen.indexOf(number), { isLeft, level }) },
    ];
  });
}

/**
 * Return the position on the ground of a branch that has broken.
 * @param {Layout} layout
 * @param {number} nth the number of branches that broke before it in the list of branches
 * @param {{isLeft: boolean, level: number}} branch
 */
function fallenPlace({ centre, horizon }, nth, { isLeft, level }) {
  const away = centre * (0.2 + ((nth * 0.37) % 0.5));
  return {
    x: round(isLeft ? centre - away : centre + away),
    y: round(horizon + 1 + (nth % 3) * 4),
    scale: 0.5,
    turn: (isLeft ? -1 : 1) * (level + (nth % 3) * 3),
  };
}

/** @type {Part} */
function spaceItems({ view, candidates, nameOf, t }, { pitch, reach, spots, tree }) {
  const places = isPlacing(view);
  const taken = new Set(takenSpaces(view));
  const broken = new Set(
    tree.branches.flatMap(({ spaces }, number) => (view.branches?.[number]?.broken ? spaces : [])),
  );
  return [...spots]
    .filter(([space]) => !broken.has(space))
    .map(([space, { x, y, onTrunk }]) => {
      const key = spaceKey(space);
      const look = { onTrunk, isTarget: candidates.has(key), isFree: !taken.has(space), isIdle: places };
      return {
        key,
        x,
        y,
        layer: LAYERS.spaces,
        ...drawnBy(standing, pitch, reach, look),
        ...(!places && look.isFree && { pick: key, label: t("space", { space: nameOf("space", space) }) }),
      };
    });
}

/**
 * Return the tokens at the branches, and the places of missing tokens.
 * @type {Part}
 */
function tokenItems({ view }, layout) {
  const { tree, pitch, centre, width, tokensY } = layout;
  const size = Math.round(Math.max(24, Math.min(32, layout.step * 0.42)));
  const out = pitch * 0.62 + size * 0.3;
  return tree.branches.flatMap(({ isLeft, level, spaces }, number) => {
    const { tokenOwner, solidity, broken, greatestLoad = 0 } = view.branches?.[number] ?? {};
    const place = {
      x: round(centre + (isLeft ? -out : out)),
      y: round(layout.levelY(level) + pitch * 0.16 + size * 0.4),
      layer: LAYERS.tokens,
    };
    if (tokenOwner === undefined) {
      const free = { key: `free:${number}`, ...place, ...drawnBy(freeToken, size) };
      return isPlacing(view) ? [free] : [];
    }
    const isHidden = solidity === undefined;
    const said = !isHidden ? String(solidity) : greatestLoad > 0 ? `≥${greatestLoad}` : "?";
    const isFull = !isHidden && !broken && solidity < spaces.length && loadOf(view, spaces) >= solidity;
    const look = { isHidden, isFull, isBroken: broken ?? false, isIdle: true };
    return [
      {
        key: `token:${number}`,
        ...place,
        ...drawnBy(solidityToken, tokenOwner, said, size, look),
        from: { x: tokenOwner === 0 ? width * 0.25 : width * 0.75, y: tokensY },
      },
    ];
  });
}

/** @type {Part} */
function birdItems(context, { spots, catSize, birdSize }) {
  const { nameOf, t } = context;
  const { birds } = whereabouts(context);
  const waiting = birds.flatMap((place, number) => (spots.has(place) ? [] : [number]));
  const length = 28 + waiting.length * birdSize * 0.82;
  /** @type {Item} */
  const line = { key: "wire", x: 0, y: birdSize + 6, layer: LAYERS.wood, ...drawnBy(wire, length) };
  const items = birds.map((place, number) => {
    const spot = spots.get(place);
    const size = spot ? Math.min(catSize * 0.8, 44) : birdSize;
    const rank = waiting.indexOf(number);
    return {
      key: `bird:${number}`,
      ...(spot ? { x: spot.x, y: spot.y } : { x: 22 + rank * birdSize * 0.82, y: birdSize + 6 }),
      layer: LAYERS.animals,
      ...drawnBy(perchedBird, size, spot?.isLeft ?? false),
      ...(spot && {
        label: t("bird", { space: nameOf("space", place) }),
        pick: spaceKey(place),
        mark: animalMark(place),
      }),
    };
  });
  return waiting.length > 0 ? [...items, line] : items;
}

/** @type {Part} */
function dogItems({ view, t }, { trackX, trackLength, trackHeight, bottom, width }) {
  const { dogSteps: dogs = 0, dogTrack = 0 } = view;
  const y = bottom - trackHeight / 2;
  const step = trackLength / Math.max(1, dogTrack);
  return [
    { key: "track", x: trackX, y, layer: LAYERS.spaces, ...drawnBy(track, step, dogTrack, dogs) },
    {
      key: "dogs",
      x: round(trackX + step * dogs),
      y: y - 4,
      layer: LAYERS.animals,
      ...drawnBy(pack, trackHeight * 0.8),
      label: t("dogs", { dogs, track: dogTrack }),
    },
    {
      key: "dogs:count",
      x: width - 12,
      y,
      layer: LAYERS.spaces,
      ...drawnBy(write, `${dogs} / ${dogTrack}`, 0, 0, 14, { anchor: "end" }),
    },
  ];
}
