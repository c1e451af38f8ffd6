// The types that the drawings of games and the table share, and the way to load a game.

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
 * A game's own view: what is 0, false or empty is absent.
 * @template {Field} F
 * @typedef {NonNullable<api.ViewJson[F]>} View
 */
/**
 * All that is printed on a game's pieces.
 * @template {Field} F
 * @typedef {NonNullable<api.PiecesJson[F]>} Details
 */
/**
 * What the points of a seat are made of.
 * @template {Field} F
 * @typedef {NonNullable<NonNullable<api.ScoreDetailJson[F]>["seats"]>[number]} SeatScore
 */

/**
 * Something on the table: a card, a space, a cat. From one drawing to the next the same key is the same thing: it glides to
 * its new place. Coordinates are CSS pixels from the upper left corner of the drawing (of the board for `board`).
 * @typedef {object} Item
 * @property {string} key  Which one it is; unique in a drawing.
 * @property {number} x  Where its origin is.
 * @property {number} y
 * @property {number} [turn]  Degrees, clockwise.
 * @property {number} [scale]
 * @property {number} [layer]  Higher ones lie above; absent: 0. Within a layer later ones lie above.
 * @property {string} stamp  What it looks like: it is drawn again when this changes.
 * @property {() => SVGElement} draw  Draws it around its origin.
 * @property {string} [label]  What it is, for those who can't see it. Absent: an ornament.
 * @property {string} [pick]  The key by which it is picked; several items may share one. Absent: it can't be picked.
 * @property {string} [mark]  What an event that put it there calls it; absent: its key.
 * @property {{x: number, y: number, turn?: number, scale?: number}} [from]  Where it comes from. Absent: it fades in.
 * @property {{x: number, y: number, turn?: number, scale?: number}} [to]  Where it goes to when it is no longer drawn.
 * @property {boolean} [board]  It lies on the board, which can be zoomed and panned.
 */

/**
 * A rectangle.
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/**
 * A drawing of a table. `board`: where in it the board is shown; `extent`: the part of the board that matters, in the
 * board's own coordinates. Both absent: no item has `board`.
 * @typedef {{width: number, height: number, items: Item[], board?: Box, extent?: Box}} Drawing
 */

/**
 * The keys of the items that make an action. `ordered`: in this order; otherwise in any, but where actions differ
 * in the last key alone, the one picked last counts. No keys: the action is a button.
 * @typedef {{keys: string[], ordered?: boolean}} Picks
 */

/**
 * All that a drawing is made of. F is the game, Ui what its drawing remembers from one time to the next.
 * @template {Field} [F=Field]
 * @template {object} [Ui=object]
 * @typedef {object} Context
 * @property {View<F>} view  The viewer's view of the game.
 * @property {ViewerUpdate} update  All that the viewer gets.
 * @property {Details<F>} details  What is printed on the pieces.
 * @property {number} players
 * @property {number | undefined} me  The viewer's seat; undefined for a spectator.
 * @property {number | undefined} turn  The seat to decide; undefined when the game is over.
 * @property {readonly Action[]} actions  The viewer's legal actions that can be picked now; often none.
 * @property {number} width  The pixels there are for the drawing: fill this width. 320 is the least.
 * @property {number} height  The pixels of height that can be seen without scrolling: a drawing should not be much higher.
 * @property {readonly string[]} picked  The keys picked so far.
 * @property {ReadonlySet<string>} candidates  The keys that can be picked next.
 * @property {Ui} ui  What the game's drawing remembers of its own, such as a card that is turned over.
 * @property {() => void} redraw  Draw again, after a change of `ui`.
 * @property {(kind: string, number: number) => string} nameOf  The name of a piece in the player's language.
 * @property {(seat: number) => string} seatName  The name of the player of a seat.
 * @property {Translate} t  A text of the game's `words`.
 */

/**
 * Write a text in the player's language, with values in its places.
 * @typedef {(key: string, values?: Record<string, string | number>) => string} Translate
 */

/**
 * The drawing and the picks of a game. All that it knows of the rules comes from the service. Each lies in a folder of its own, in the
 * same files: `game.js` puts it together, `view.js` has questions about a view, `picks.js` keys and what they stand for, `layout.js`
 * where what lies, `table.js` the things in the middle, `seats.js` those of the players, `parts.js` how a thing looks, `text.js` all
 * that is said, `captions.js` what each thing does.
 * @template {Field} [F=Field]
 * @template {object} [Ui=object]
 * @typedef {object} Game
 * @property {Record<string, Record<string, string | Readonly<Record<string, string>>>>} words  Texts that the service has not, by
 *   language and key; `{name}` stands for a value.
 * @property {(context: Context<F, Ui>) => Drawing} draw
 * @property {(action: Action, context: Context<F, Ui>) => Picks | undefined} picks  How an action is picked; undefined: not now.
 * @property {boolean} [confirms]  A complete pick waits for a button, as more could be picked.
 * @property {(keys: readonly string[], context: Context<F, Ui>) => api.ActionJson[F]} attempt  The game's own part of the action
 *   (such as `{play: {cards: [4]}}`) that somebody tries who picks these, so that the service says why it is illegal; undefined:
 *   none.
 * @property {(event: Event) => string[]} touched  The marks of the items that an event has put on the table.
 * @property {(context: Context<F, Ui>) => string | undefined} prompt  What the seat to decide has to do next, as a short
 *   sentence, once something is picked; undefined: what the service says.
 * @property {(item: Item, context: Context<F, Ui>) => string | undefined} does  What a thing of the drawing does or is for, as
 *   sentences; undefined: its label says it all.
 * @property {(context: Context<F, Ui>) => string[]} summary  The table in a few sentences, for those who can't see it.
 * @property {(seat: number, score: SeatScore<F>, context: Context<F, Ui>) => [string, number][]} breakdown  What the total of a
 *   seat is made of.
 * @property {(event: Event) => boolean} isMoment  Whether an event is worth a pause: the end of a round, for example.
 * @property {(piece: api.PieceInfoJson, details: Details<F>, t: Translate) => string | undefined} [nameOf]  What players call a
 *   piece; undefined, or absent: as the service does.
 */

/** The games that this page can draw, by name. */
export const GAMES = /** @type {const} */ ([
  "chatpentiers",
  "momistigri",
  "discat",
  "chat_cartonne",
  "chat_perche",
]);

/**
 * Load the drawing of a game.
 * @param {string} name
 * @returns {Promise<Game>}
 */
export async function loadGame(name) {
  return (await import(`./games/${name}/game.js`)).game;
}

/**
 * Return the name of a game's field in messages: chat_perche is chatPerche.
 * @param {string} name
 */
export function fieldOf(name) {
  return /** @type {Field} */ (name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
}
