// Chat perché, drawn: a tree, its branches with their tokens, cats, birds, the dogs below and both decks.

import { MEDIUM, layOut, whereabouts } from "./layout.js";
import { deckPanel, pack, plate, round, rug, tally, text, track, turnedUp, wire } from "./parts.js";
import {
  branch,
  climber,
  crown,
  freeToken,
  landscape,
  perchedBird,
  solidityToken,
  standing,
  stump,
  trunk,
  waiting,
} from "./tree.js";
import { words } from "./words.js";

/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheViewJson} View */
/** @typedef {import("#api/chatiere/v1/chat_perche_pb.js").ChatPercheActionJson} PercheAction */
/** @typedef {import("../../game.js").Context<View>} Context @typedef {import("../../game.js").Item} Item */
/** @typedef {ReturnType<typeof layOut>} Layout */

const LAYERS = { land: 0, wood: 1, trunk: 2, spaces: 3, tokens: 4, animals: 5, card: 6 };

/** How many animals are on a branch. @param {View} view @param {readonly number[]} spaces */
function loadOf(view, spaces) {
  const animals = [...(view.birds ?? []), ...(view.seats ?? []).flatMap(({ cats }) => cats ?? [])];
  return animals.filter((space) => spaces.includes(space)).length;
}

/** @param {number} space */
function spaceKey(space) {
  return `space:${space}`;
}

/** The key of where a move begins. @param {number} space @param {Context} context */
function fromKey(space, { details, view }) {
  return space === details.startSpace ? `start:${view.catOwner ?? 0}` : spaceKey(space);
}

/** The colour that says what can be done with something. @param {string} key @param {Context} context */
function ringOf(key, { picked, candidates }) {
  return picked.includes(key) ? "var(--picked)" : candidates.has(key) ? "var(--pickable)" : undefined;
}

/** @param {number} branch @param {Context} context */
function branchLabel(branch, { view, details, nameOf, seatName, t }) {
  const { tokenOwner, solidity, broken, greatestLoad } = view.branches?.[branch] ?? {};
  const name = tokenOwner === undefined ? "" : seatName(tokenOwner);
  const now = loadOf(view, details.branches[branch]?.spaces ?? []);
  const values = {
    branch: nameOf("branch", branch),
    name,
    now,
    solidity: solidity ?? "",
    load: greatestLoad ?? 0,
  };
  const kind =
    tokenOwner === undefined ? "free" : broken ? "broken" : solidity === undefined ? "hidden" : "known";
  return t(`branch-${kind}`, values);
}

/** @param {Context} context @param {Layout} layout @returns {Item[]} */
function wood(context, layout) {
  const { view } = context;
  const { tree, pitch, centre, low, horizon, startHeight, bottom, width, height } = layout;
  const isPlacing = view.phase === "CHAT_PERCHE_PHASE_PLACE_TOKEN";
  const foot = horizon + startHeight * 0.62 - low;
  const top = (tree.trunkSpaces.length - 1) * layout.step + pitch * 0.5;
  const size = [round(pitch), round(layout.step)].join();
  /** @type {Item[]} */
  const items = [
    {
      key: "land",
      x: 0,
      y: 0,
      layer: LAYERS.land,
      stamp: `${width} ${round(height)} ${round(horizon)}`,
      draw: () => landscape(width, round(height), round(horizon)),
    },
    {
      key: "trunk",
      x: centre,
      y: low + foot,
      layer: LAYERS.trunk,
      stamp: `${size} ${round(foot)}`,
      draw: () => trunk(pitch, top + foot, foot - pitch * 0.3),
    },
    {
      key: "crown",
      x: centre,
      y: low - top - pitch * 0.1,
      layer: LAYERS.trunk,
      stamp: size,
      draw: () => crown(pitch),
    },
  ];
  let fallen = 0;
  tree.branches.forEach(({ isLeft, level }, number) => {
    const { broken } = view.branches?.[number] ?? {};
    const y = layout.levelY(level);
    const key = `branch:${number}`;
    const limb = layout.limbOf(level);
    const look = { isPicked: isPlacing, isBroken: broken ?? false };
    /** @type {Item} */
    const item = {
      key,
      x: centre,
      y,
      layer: LAYERS.wood,
      stamp: `${size} ${JSON.stringify(look)}`,
      draw: () => mirroredIf(isLeft, branch(limb, number, look)),
      label: branchLabel(number, context),
    };
    if (isPlacing) {
      item.pick = key;
    }
    if (broken) {
      const away = centre * (0.2 + ((fallen * 0.37) % 0.5));
      Object.assign(item, {
        x: round(isLeft ? centre - away : centre + away),
        y: round(horizon + 1 + (fallen % 3) * 4),
        scale: 0.5,
        turn: (isLeft ? -1 : 1) * (level + (fallen % 3) * 3),
      });
      delete item.label;
      fallen++;
      items.push({
        key: `stump:${number}`,
        x: centre,
        y,
        layer: LAYERS.wood,
        stamp: size,
        draw: () => mirroredIf(isLeft, stump(limb)),
        label: branchLabel(number, context),
      });
    }
    items.push(item);
  });
  items.push({
    key: "track",
    x: layout.trackX,
    y: bottom - layout.trackHeight / 2,
    layer: LAYERS.spaces,
    stamp: `${width} ${view.dogSteps ?? 0} ${view.dogTrack}`,
    draw: () =>
      track(layout.trackLength / Math.max(1, view.dogTrack ?? 0), view.dogTrack ?? 0, view.dogSteps ?? 0),
  });
  return items;
}

/** @param {boolean} isFlipped @param {SVGElement} element */
function mirroredIf(isFlipped, element) {
  if (isFlipped) {
    element.setAttribute("transform", "scale(-1 1)");
  }
  return element;
}

/** @param {Context} context @param {Layout} layout @returns {Item[]} */
function tokens({ view, me, t }, layout) {
  const { tree, pitch, centre, width, horizon, startHeight } = layout;
  const size = Math.round(Math.max(24, Math.min(32, layout.step * 0.42)));
  const isPlacing = view.phase === "CHAT_PERCHE_PHASE_PLACE_TOKEN";
  const handY = horizon + startHeight + layout.tokensHeight / 2;
  /** @type {Item[]} */
  const items = [];
  tree.branches.forEach(({ isLeft, level, spaces }, number) => {
    const { tokenOwner, solidity, broken, greatestLoad = 0 } = view.branches?.[number] ?? {};
    const out = pitch * 0.62 + size * 0.3;
    const place = {
      x: round(centre + (isLeft ? -out : out)),
      y: round(layout.levelY(level) + pitch * 0.16 + size * 0.4),
    };
    if (tokenOwner === undefined) {
      if (isPlacing) {
        items.push({
          key: `free:${number}`,
          ...place,
          layer: LAYERS.tokens,
          stamp: `${size}`,
          draw: () => freeToken(size),
        });
      }
      return;
    }
    const isHidden = solidity === undefined;
    const said = !isHidden ? String(solidity) : greatestLoad > 0 ? `≥${greatestLoad}` : "?";
    const isFull = !isHidden && !broken && solidity < spaces.length && loadOf(view, spaces) >= solidity;
    const look = { isHidden, isFull, isBroken: broken ?? false };
    items.push({
      key: `token:${number}`,
      ...place,
      layer: LAYERS.tokens,
      stamp: `${tokenOwner} ${said} ${size} ${JSON.stringify(look)}`,
      draw: () => {
        const token = solidityToken(tokenOwner, said, size, look);
        token.setAttribute("pointer-events", "none");
        return token;
      },
      from: { x: tokenOwner === 0 ? width * 0.25 : width * 0.75, y: handY },
    });
  });
  (view.seats ?? []).forEach(({ unplacedTokens = 0, unplacedSolidity = [] }, seat) => {
    const isMine = seat === me && unplacedSolidity.length > 0;
    const share = me === undefined ? 0.5 : seat === me ? 0.66 : 0.34;
    const room = width * share - 16;
    const most = Math.max(unplacedTokens, (view.solidity ?? []).length, 1);
    const tokenSize = !isMine ? 34 : width < MEDIUM ? 41 : 44;
    const gap = Math.min(tokenSize + 8, (room - tokenSize) / Math.max(1, most - 1));
    const middle = seat === 0 ? 8 + room / 2 : width - 8 - room / 2;
    for (let index = 0; index < unplacedTokens; index++) {
      const value = unplacedSolidity[index];
      const copy = unplacedSolidity.slice(0, index).filter((each) => each === value).length;
      const said = value === undefined ? "?" : String(value);
      items.push({
        key: `hand:${seat}:${value ?? index}:${value === undefined ? "" : copy}`,
        x: round(middle + (index - (unplacedTokens - 1) / 2) * gap),
        y: handY,
        layer: LAYERS.tokens,
        stamp: `${seat} ${said} ${tokenSize}`,
        draw: () => solidityToken(seat, said, tokenSize, { isHidden: value === undefined }),
        ...(value === undefined ? {} : { pick: `value:${value}`, label: t("token", { value }) }),
      });
    }
  });
  return items;
}

/** @param {Context} context @param {Layout} layout @returns {Item[]} */
function spaces({ view, candidates, nameOf, t }, layout) {
  const { pitch, reach, spots } = layout;
  const isPlacing = view.phase === "CHAT_PERCHE_PHASE_PLACE_TOKEN";
  const taken = new Set([...(view.birds ?? []), ...(view.seats ?? []).flatMap(({ cats }) => cats ?? [])]);
  const broken = new Set(
    layout.tree.branches.flatMap(({ spaces: all }, number) => (view.branches?.[number]?.broken ? all : [])),
  );
  return [...spots]
    .filter(([space]) => !broken.has(space))
    .map(([space, { x, y, onTrunk }]) => {
      const key = spaceKey(space);
      const look = { onTrunk, isTarget: candidates.has(key), isFree: !taken.has(space) };
      return {
        key,
        x,
        y,
        layer: LAYERS.spaces,
        stamp: `${round(pitch)} ${reach.height} ${JSON.stringify(look)} ${isPlacing}`,
        draw: () => {
          const element = standing(pitch, reach, look);
          element.setAttribute("pointer-events", isPlacing ? "none" : "auto");
          return element;
        },
        ...(isPlacing || !look.isFree
          ? {}
          : { pick: key, label: t("space", { space: nameOf("space", space) }) }),
      };
    });
}

/** @param {Context} context @param {Layout} layout @returns {Item[]} */
function animals(context, layout) {
  const { view, details, nameOf, seatName, t } = context;
  const { spots, catSize, waitingSize, birdSize, reach, rugHeight, side } = layout;
  const { cats, birds } = whereabouts(context);
  /** @type {Item[]} */
  const items = [];
  cats.forEach((places, seat) => {
    const start = layout.startAt(seat);
    const count = places.filter((place) => place === details.startSpace).length;
    const rugWidth = round(side);
    const rugRing = ringOf(`start:${seat}`, context);
    items.push({
      key: `start:${seat}`,
      ...start,
      layer: LAYERS.spaces,
      stamp: `${rugWidth} ${rugHeight} ${rugRing}`,
      draw: () => rug(seat, rugWidth, rugHeight, rugRing),
      pick: `start:${seat}`,
      label: t("start", { name: seatName(seat), count }),
    });
    const columns = Math.ceil(places.length / 2);
    const gap = Math.min(waitingSize * 1.2, (side - waitingSize) / (columns - 0.5));
    let rank = 0;
    places.forEach((place, number) => {
      const key = `cat:${seat}:${number}`;
      const spot = spots.get(place);
      if (!spot) {
        const column = rank % columns;
        const isBack = count > columns && rank < columns;
        rank++;
        items.push({
          key,
          x: round(
            start.x + (column - (columns - 1) / 2 + (isBack ? 0.25 : -0.25)) * gap * (seat === 0 ? -1 : 1),
          ),
          y: round(start.y + (isBack ? 0.1 : 0.45) * rugHeight),
          layer: LAYERS.animals,
          stamp: `waits ${round(waitingSize)}`,
          draw: () => waiting(seat, waitingSize),
        });
        return;
      }
      const badge =
        (view.barred ?? []).includes(place) && (view.catOwner ?? 0) === seat
          ? "barred"
          : view.moved === place && view.catOwner === seat
            ? "moved"
            : undefined;
      const label = t("cat", { colour: nameOf("colour", seat), space: nameOf("space", place) });
      const size = spot.onTrunk ? catSize * 0.94 : catSize;
      const ring = ringOf(spaceKey(place), context);
      items.push({
        key,
        x: spot.x,
        y: spot.y,
        layer: LAYERS.animals,
        stamp: `${round(size)} ${spot.onTrunk} ${spot.isLeft} ${ring} ${badge} ${reach.height}`,
        draw: () => climber(seat, size, { ...spot, ring, badge, reach }),
        pick: spaceKey(place),
        label: badge ? `${label}, ${t(badge)}` : label,
      });
    });
  });
  let rank = 0;
  birds.forEach((place, number) => {
    const spot = spots.get(place);
    const size = spot ? Math.min(catSize * 0.8, 44) : birdSize;
    items.push({
      key: `bird:${number}`,
      ...(spot ? { x: spot.x, y: spot.y } : { x: 22 + rank++ * birdSize * 0.82, y: birdSize + 6 }),
      layer: LAYERS.animals,
      stamp: `${round(size)} ${spot?.isLeft}`,
      draw: () => perchedBird(size, spot?.isLeft ?? false),
      ...(spot ? { label: t("bird", { space: nameOf("space", place) }), pick: spaceKey(place) } : {}),
    });
  });
  if (rank > 0) {
    const length = 28 + rank * birdSize * 0.82;
    items.push({
      key: "wire",
      x: 0,
      y: birdSize + 6,
      layer: LAYERS.wood,
      stamp: `${round(length)}`,
      draw: () => wire(length),
    });
  }
  const dogsX = layout.trackX + (layout.trackLength * (view.dogSteps ?? 0)) / Math.max(1, view.dogTrack ?? 0);
  const dogSize = layout.trackHeight * 0.8;
  const dogsLabel = t("dogs", { dogs: view.dogSteps ?? 0, track: view.dogTrack ?? 0 });
  const count = `${view.dogSteps ?? 0} / ${view.dogTrack ?? 0}`;
  const trackY = layout.bottom - layout.trackHeight / 2;
  items.push(
    {
      key: "dogs",
      x: round(dogsX),
      y: trackY - 4,
      layer: LAYERS.animals,
      stamp: `${dogSize}`,
      draw: () => pack(dogSize),
      label: dogsLabel,
    },
    {
      key: "dogs:count",
      x: layout.width - 12,
      y: trackY,
      layer: LAYERS.spaces,
      stamp: count,
      draw: () => text(count, 0, 0, { size: 14, anchor: "end", weight: 700 }),
    },
  );
  return items;
}

/** @param {Context} context @param {Layout} layout @returns {Item[]} */
function seats(context, layout) {
  const { view, turn, nameOf, seatName, t } = context;
  const { details, tree, side, panelWidth, panelHeight, isWide } = layout;
  /** @type {Item[]} */
  const items = [];
  (view.seats ?? []).forEach(({ cats = [], catsAtStart = 0, drawPileCards = [] }, seat) => {
    const start = layout.startAt(seat);
    const width = Math.min(side, 210);
    const onTrunk = cats.filter((space) => tree.trunkSpaces.includes(space)).length;
    const more = t("seat-line", { trunk: onTrunk, limit: details.trunkLimit ?? 0 });
    const name = seatName(seat);
    items.push({
      key: `plate:${seat}`,
      x: round(seat === 0 ? start.x - side / 2 : start.x + side / 2 - width),
      y: round(layout.horizon + 22),
      layer: LAYERS.tokens,
      stamp: `${name} ${more} ${round(width)} ${turn === seat}`,
      draw: () => plate(seat, name, more, round(width), turn === seat),
    });
    items.push({
      key: `tally:${seat}`,
      x: round(start.x + (side / 2 - 6) * (seat === 0 ? -1 : 1)),
      y: round(start.y - layout.rugHeight / 2 + 4),
      layer: LAYERS.card,
      stamp: `${catsAtStart}`,
      draw: () => tally(catsAtStart),
    });
    const title = t("deck", { left: drawPileCards.length, all: details.deckSize ?? 0 });
    items.push({
      key: `deck:${seat}`,
      ...layout.panelAt(seat),
      layer: LAYERS.spaces,
      stamp: `${title} ${round(panelWidth)} ${panelHeight} ${drawPileCards} ${isWide}`,
      draw: () => deckPanel(seat, title, layout.rows[seat] ?? [], round(panelWidth), panelHeight),
      label: deckSaid(seat, context),
    });
  });
  const { card, activeSeat, stepsLeft: steps = 0 } = view;
  const info = card === undefined ? undefined : details.cards?.[card];
  if (card !== undefined && activeSeat !== undefined && info) {
    const value = info.value ?? 0;
    const said = value === 0 ? "" : steps === value ? String(steps) : t("steps-of", { steps, value });
    const turned = (view.seats ?? []).map(({ discards }) => JSON.stringify(discards ?? [])).join();
    const panel = layout.panelAt(activeSeat);
    const pile = { x: panel.x + panelWidth / 2, y: panel.y + 30, scale: 0.4 };
    const values = { name: seatName(activeSeat), card: nameOf("card", card), steps };
    items.push({
      key: `card:${turned}`,
      x: layout.centre,
      y: round(layout.horizon + layout.startHeight * 0.5 - 2),
      layer: LAYERS.card,
      stamp: `${card} ${activeSeat} ${said} ${round(layout.cardWidth)}`,
      draw: () => turnedUp(info, activeSeat, layout.cardWidth, said),
      from: pile,
      to: pile,
      label: t(steps > 0 ? "card-steps" : "card", values),
    });
  }
  return items;
}

/** @param {number} seat @param {Context} context */
function deckSaid(seat, { view, nameOf, seatName, t }) {
  const said = (/** @type {readonly number[]} */ cards) =>
    [...new Set(cards)]
      .map((card) => `${nameOf("card", card)} × ${cards.filter((each) => each === card).length}`)
      .join(", ") || t("none");
  const { drawPileCards = [], discards = [] } = view.seats?.[seat] ?? {};
  return t("deck-of", { name: seatName(seat), cards: said(drawPileCards), discards: said(discards) });
}

/** @param {Context} context @returns {import("../../game.js").Drawing} */
function draw(context) {
  const layout = layOut(context);
  const items = [wood, spaces, tokens, seats, animals].flatMap((part) => part(context, layout));
  return { width: context.width, height: Math.ceil(layout.height), items };
}

/**
 * @param {import("../../game.js").Action} action @param {Context} context
 * @returns {import("../../game.js").Picks | undefined}
 */
function picks({ chatPerche = {} }, context) {
  const { placeToken, move, fall, placeBird } = chatPerche;
  if (placeToken) {
    return { keys: [`value:${placeToken.solidity ?? 0}`, `branch:${placeToken.branch ?? 0}`] };
  }
  if (move) {
    return { keys: [fromKey(move.fromSpace ?? 0, context), spaceKey(move.toSpace ?? 0)], ordered: true };
  }
  const target = fall ?? placeBird;
  return { keys: target ? [spaceKey(target.space ?? 0)] : [] };
}

/** @param {readonly string[]} keys @param {Context} context @returns {PercheAction | undefined} */
function attempt(keys, context) {
  const { view, details } = context;
  const numbers = keys.map((key) =>
    key.startsWith("start") ? details.startSpace : Number(key.split(":")[1]),
  );
  const [first = 0, last = first] = [numbers[0], numbers.at(-1)];
  switch (view.phase) {
    case "CHAT_PERCHE_PHASE_PLACE_TOKEN": {
      const value = keys.findLast((key) => key.startsWith("value"));
      const branch = keys.findLast((key) => key.startsWith("branch"));
      const own = view.seats?.[view.activeSeat ?? 0]?.unplacedSolidity?.[0];
      return branch === undefined
        ? undefined
        : {
            placeToken: {
              branch: Number(branch.split(":")[1]),
              solidity: value ? Number(value.split(":")[1]) : (own ?? 0),
            },
          };
    }
    case "CHAT_PERCHE_PHASE_MOVE":
    case "CHAT_PERCHE_PHASE_SECOND_MOVE": {
      if (keys[0]?.startsWith("start") && keys[0] !== fromKey(first, context)) {
        return undefined;
      }
      // A cat alone is tried with a step to where it could go if it could go at all.
      const away = details.spaces[first]?.neighbours?.[0] ?? 0;
      return { move: { fromSpace: first, toSpace: keys.length > 1 ? last : away } };
    }
    case "CHAT_PERCHE_PHASE_FALL":
      return { fall: { space: last } };
    case "CHAT_PERCHE_PHASE_PLACE_BIRD":
      return { placeBird: { space: last } };
    default:
      return undefined;
  }
}

/** @param {Context} context */
function prompt({ view, picked: [first], t }) {
  if (first === undefined) {
    return undefined;
  }
  switch (view.phase) {
    case "CHAT_PERCHE_PHASE_PLACE_TOKEN":
      return t(first.startsWith("value") ? "prompt-branch" : "prompt-which");
    case "CHAT_PERCHE_PHASE_MOVE":
    case "CHAT_PERCHE_PHASE_SECOND_MOVE":
      return t("prompt-target", { steps: view.stepsLeft ?? 0 });
    default:
      return undefined;
  }
}

/** @param {Context} context */
function summary(context) {
  const { view, me, nameOf, seatName, t } = context;
  const named = (/** @type {readonly number[] | undefined} */ all) =>
    (all ?? [])
      .map((space) => {
        const badge =
          view.moved === space ? "moved" : (view.barred ?? []).includes(space) ? "barred" : undefined;
        return badge ? `${nameOf("space", space)} (${t(badge)})` : nameOf("space", space);
      })
      .join(" · ") || t("none");
  const { card, activeSeat, stepsLeft: steps = 0 } = view;
  const lines = [t("dogs", { dogs: view.dogSteps ?? 0, track: view.dogTrack ?? 0 })];
  if (card !== undefined && activeSeat !== undefined) {
    lines.unshift(
      t(steps > 0 ? "card-steps" : "card", { name: seatName(activeSeat), card: nameOf("card", card), steps }),
    );
  }
  (view.seats ?? []).forEach(({ cats, catsAtStart = 0, unplacedTokens = 0, unplacedSolidity = [] }, seat) => {
    const values = {
      name: seatName(seat),
      colour: nameOf("colour", seat),
      spaces: named(cats),
      start: catsAtStart,
    };
    lines.push(t("seat-cats", values));
    if (seat === me && unplacedSolidity.length > 0) {
      lines.push(t("hand", { values: unplacedSolidity.join(", ") }));
    } else if (unplacedTokens > 0) {
      lines.push(t("hand-of", { name: seatName(seat), count: unplacedTokens }));
    }
  });
  lines.push(...(view.branches ?? []).map((_, number) => branchLabel(number, context)));
  lines.push(t("birds", { count: view.birdsBeside ?? 0, spaces: named(view.birds) }));
  lines.push(...(view.seats ?? []).map((_, seat) => deckSaid(seat, context)));
  return lines;
}

const MOMENTS = ["CHAT_PERCHE_EVENT_KIND_BRANCH_BROKE", "CHAT_PERCHE_EVENT_KIND_GAME_ENDED"];

/** @type {import("../../game.js").Game} */
export const game = {
  words,
  draw,
  picks,
  attempt,
  prompt,
  summary,
  breakdown: (_, detail, { t }) => [
    [t("trunk"), detail.trunkPoints ?? 0],
    [t("branches"), detail.branchPoints ?? 0],
  ],
  isMoment: ({ chatPerche }) => MOMENTS.includes(chatPerche?.kind ?? ""),
};
