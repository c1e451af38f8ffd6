// The types that the games' drawings share with the table's view, and the loader of games.

import { inJson } from "./shared/field_names.js";

/** @import * as api from "#api/chatiere/v1/game_pb.js" */

/** @typedef {api.ActionJson} Action */
/** @typedef {api.EventJson} Event */
/** @typedef {api.GameInfoJson} GameInfo */
/** @typedef {api.ViewerUpdateJson} ViewerUpdate */
/**
 * The name of a game's field in messages.
 * @typedef {keyof api.PiecesJson} Field
 */
/**
 * A game's view in JSON: fields that are 0, false or empty are absent.
 * @template {Field} F
 * @typedef {NonNullable<api.ViewJson[F]>} View
 */
/**
 * The facts printed on a game's pieces.
 * @template {Field} F
 * @typedef {NonNullable<api.PiecesJson[F]>} Details
 */
/**
 * The parts of a seat's points.
 * @template {Field} F
 * @typedef {NonNullable<NonNullable<api.ScoreDetailJson[F]>["seats"]>[number]} SeatScore
 */

/**
 * Something on the table, such as a card, a space or a cat. An item with the same key in two drawings is the same thing
 * and moves gradually to its new place. Coordinates are CSS pixels from the upper left corner of the drawing, or of the
 * board if `board` is true.
 * @typedef {object} Item
 * @property {string} key identifies the item in the drawing
 * @property {number} x the position of the item's origin
 * @property {number} y
 * @property {number} [turn] the rotation, in degrees clockwise
 * @property {number} [scale] 1 by default
 * @property {number} [layer] 0 by default; items of higher layers, and later items of the same layer, are on top
 * @property {string} stamp describes the item's look. The item is drawn again when the stamp changes
 * @property {() => SVGElement} draw draws the item around its origin
 * @property {string} [label] the text for screen readers; absent for ornaments
 * @property {string} [pick] the key that a click on the item picks; several items may have the same key; absent if the
 *   item cannot be picked
 * @property {string} [mark] the name by which `touched` refers to the item; by default its key
 * @property {{x: number, y: number, turn?: number, scale?: number}} [from] the position from which a new item arrives;
 *   if it is absent, the item fades in
 * @property {{x: number, y: number, turn?: number, scale?: number}} [to] the position to which the item moves when it
 *   disappears; if it is absent, the item fades out
 * @property {boolean} [board] true if the item lies on the board, which players can zoom and pan
 */

/**
 * A rectangle in pixels.
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/**
 * A drawing of a table. Sizes are in CSS pixels.
 * @typedef {object} Drawing
 * @property {number} width
 * @property {number} height
 * @property {Item[]} items
 * @property {Box} [board] the part of the drawing that shows the board; absent if there is no board
 * @property {Box} [extent] the part of the board to show, in the board's coordinates
 */

/**
 * The keys to pick for an action.
 * @typedef {object} Picks
 * @property {string[]} keys the keys; empty if the action is a button
 * @property {boolean} [ordered] true if the keys must be picked in this order. Otherwise, they can be picked in any
 *   order, and of several actions with the same keys, the action whose last key was picked last is chosen.
 */

/**
 * The input of a drawing. F is the game, Ui the state that its drawing keeps.
 * @template {Field} [F=Field]
 * @template {object} [Ui=object]
 * @typedef {object} Context
 * @property {View<F>} view the viewer's view of the game
 * @property {ViewerUpdate} update the whole update of the viewer
 * @property {Details<F>} details the facts printed on the pieces
 * @property {number} players the number of players
 * @property {number | undefined} me the viewer's seat, or undefined for a spectator
 * @property {number | undefined} turn the deciding seat, or undefined when the game is over
 * @property {readonly Action[]} actions the viewer's legal actions that can be picked now; often empty
 * @property {number} width the width that the drawing has to fill, in pixels; at least 320
 * @property {number} height the height that is visible without scrolling, in pixels. A drawing should not be much
 *   higher
 * @property {readonly string[]} picked the keys picked so far
 * @property {ReadonlySet<string>} candidates the keys that can be picked next
 * @property {Ui} ui the state that the game's drawing keeps, such as a card that is turned over
 * @property {() => void} redraw draws the table again, after a change to `ui`
 * @property {(kind: string, number: number) => string} nameOf returns the name of a piece in the player's language
 * @property {(seat: number) => string} seatName returns the name of a seat's player
 * @property {Translate} t returns text from the catalogue in the game's folder
 */

/**
 * Return text in the player's language, with values inserted.
 * @typedef {(key: string, values?: Record<string, string | number>) => string} Translate
 */

/**
 * A part of a drawing: returns its items. C is the context, L the layout.
 * @template C
 * @template L
 * @typedef {(context: C, layout: L) => Item[]} Part
 */

/**
 * The drawing and the picks of a game. All facts about the rules come from the service. Each game has a folder with the
 * same files:
 * - `game.js` combines the other files,
 * - `view.js` reads a view,
 * - `picks.js` has the keys of items and the actions that they stand for,
 * - `layout.js` has the positions and sizes,
 * - `table.js` has the items in the middle of the table,
 * - `seats.js` has the players' items,
 * - `parts.js` draws single items,
 * - `text.js` describes the table in words,
 * - `captions.js` explains each item.
 * @template {Field} [F=Field]
 * @template {object} [Ui=object]
 * @typedef {object} Game
 * @property {(context: Context<F, Ui>) => Drawing} draw
 * @property {(action: Action, context: Context<F, Ui>) => Picks | undefined} picks returns how an action is picked;
 *   undefined if it cannot be picked now
 * @property {boolean} [confirms] true if a complete pick waits for a button, because more items could be picked
 * @property {(keys: readonly string[], context: Context<F, Ui>) => api.ActionJson[F]} attempt returns the game's part
 *   of the action (such as `{play: {cards: [4]}}`) that a player tries by picking these keys, so that the service can
 *   explain why it is illegal, or undefined if there is no such action
 * @property {(event: Event) => string[]} touched returns the marks of the items that an event has put on the table
 * @property {(context: Context<F, Ui>) => string | undefined} prompt returns the next step of the deciding seat as a
 *   short sentence, once something is picked; undefined to show the service's text
 * @property {(item: Item, context: Context<F, Ui>) => string | undefined} does explains the purpose of an item in
 *   sentences, or undefined if the item's label is enough
 * @property {(context: Context<F, Ui>) => string[]} summary describes the table in a few sentences, for screen readers
 * @property {(seat: number, score: SeatScore<F>, context: Context<F, Ui>) => [string, number][]} breakdown returns the
 *   parts of a seat's total, with their names
 * @property {(event: Event) => boolean} isMoment returns true for events that deserve a pause, such as the end of a
 *   round
 * @property {(piece: api.PieceInfoJson, details: Details<F>, t: Translate) => string | undefined} [nameOf] returns the
 *   players' name for a piece; if the function is absent or returns undefined, the service's name is used
 */

/**
 * Return the function that draws a game's table from a layout and parts.
 * @template {{width: number}} C
 * @template {Omit<Drawing, "width" | "items"> & {width?: number}} L
 * @param {(context: C) => L} layoutOf
 * @param {readonly Part<C, L>[]} parts from the lowest to the highest
 * @returns {(context: C) => Drawing}
 */
export function drawerOf(layoutOf, parts) {
  return (context) => {
    const layout = layoutOf(context);
    const { width = context.width, height, board, extent } = layout;
    const items = parts.flatMap((itemsOf) => itemsOf(context, layout));
    return { width, height, items, ...(board && { board }), ...(extent && { extent }) };
  };
}

/** The games that this page can draw. */
export const GAMES = /** @type {const} */ ([
  "chatpentiers",
  "momistigri",
  "discat",
  "chat_cartonne",
  "chat_perche",
]);

/**
 * Load a game's drawing.
 * @param {string} name the service's name of the game
 * @returns {Promise<Game>}
 */
export async function loadGame(name) {
  return (await import(`./games/${name}/game.js`)).game;
}

/**
 * Return the name of a game's field in messages, for example chatPerche for chat_perche.
 * @param {string} name
 */
export function fieldOf(name) {
  return /** @type {Field} */ (inJson(name));
}
