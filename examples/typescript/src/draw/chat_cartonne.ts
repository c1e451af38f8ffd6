import type {
  ChatCartonneCardView,
  ChatCartonneOnJoint,
  ChatCartonnePieces,
  ChatCartonneView,
} from "../../generated/chatiere/v1/chat_cartonne_pb.js";
import { at, given } from "../given.js";
import type { Pieces } from "../pieces.js";
import { spread } from "./cards.js";

/** The symbols on a card. */
type Symbols = Pick<ChatCartonneCardView, "mice" | "balls" | "fish" | "sprayers">;
/** The three lines of a cell, of five characters each. */
type Cell = readonly [string, string, string];

const EMPTY: Cell = ["     ", "     ", "     "];

/** Draw hands, cats, the pile, and the part of the table that has cards. */
export function drawChatCartonne(view: ChatCartonneView, pieces: Pieces, details: ChatCartonnePieces): string[] {
  const seats = view.seats.map(({ handCards, handSize, supply }, seat) => {
    const cards = handCards.map((kind) => pieces.name("card", kind));
    return `seat ${seat}: ${spread(cards, handSize - handCards.length, ", ")} | cats left ${supply} of ${details.catsPerSeat}`;
  });
  const drawn = [view.startingCarton, view.toy].filter((kind) => kind !== undefined);
  return [
    ...seats,
    ...drawn.map((kind) => `to be placed: ${pieces.name("card", kind)}`),
    `pile ${view.drawPileSize}${view.finalPhase ? ", final phase" : ""}`,
    ...drawTable(view.table, details),
  ];
}

function drawTable(table: readonly ChatCartonneCardView[], details: ChatCartonnePieces): string[] {
  if (table.length === 0) {
    return [];
  }
  const cards = new Map(table.map((seen) => [given(seen.laid, "laid card").cell, seen]));
  const taken = details.cells.filter(({ cell }) => cards.has(cell));
  const [top, bottom] = range(taken.map(({ row }) => row));
  const [left, right] = range(taken.map(({ column }) => column));
  const lines: string[] = [];
  for (let row = top; row <= bottom; row++) {
    const places = details.cells.filter((each) => each.row === row && left <= each.column && each.column <= right);
    const cells = places.sort((one, other) => one.column - other.column).map(({ cell }) => cards.get(cell));
    const drawn = cells.map((seen) => (seen === undefined ? EMPTY : drawCell(seen, details)));
    lines.push(
      ...EMPTY.map((_, line) =>
        drawn
          .map((cell) => at(cell, line))
          .join("")
          .trimEnd(),
      ),
    );
  }
  return lines;
}

function range(numbers: readonly number[]): [number, number] {
  return [Math.min(...numbers), Math.max(...numbers)];
}

/** Draw a card: # is a wall, the middle shows its contents, and the right side what is at its eastern joint. */
function drawCell(seen: ChatCartonneCardView, details: ChatCartonnePieces): Cell {
  const { lies, onJoint, woken } = given(seen.laid, "laid card");
  const wall = (there: boolean) => `+${there ? "###" : "   "}+`;
  const cat = `${woken ? "w" : "z"}${lies.value}`;
  const inside = lies.case === "sleepingCat" ? cat : lies.case === "princess" ? "P" : symbols(seen);
  const joint = onJoint === undefined ? (seen.wallEast ? "#" : " ") : drawJoint(onJoint, details);
  return [wall(seen.wallNorth), `${seen.wallWest ? "#" : " "}${inside.padEnd(3)}${joint}`, wall(seen.wallSouth)];
}

/** Return the seat of an awake cat, P for the Princess, or a toy card's toys as capital letters. */
function drawJoint({ lies }: ChatCartonneOnJoint, details: ChatCartonnePieces): string {
  switch (lies.case) {
    case "cat":
      return String(lies.value);
    case "toy":
      return symbols(
        given(
          details.cards.find(({ card }) => card === lies.value),
          "toy card",
        ),
      )
        .charAt(0)
        .toUpperCase();
    case "princess":
      return "P";
    case undefined:
      throw new Error("the joint is empty");
  }
}

/** Return a letter for each mouse, ball and fish treat, and an exclamation mark for each sprayer. */
function symbols({ mice, balls, fish, sprayers }: Symbols): string {
  return "m".repeat(mice) + "b".repeat(balls) + "f".repeat(fish) + "!".repeat(sprayers);
}
