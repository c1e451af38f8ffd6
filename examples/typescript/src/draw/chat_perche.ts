import {
  type ChatPercheBranchInfo,
  type ChatPerchePieces,
  ChatPercheSide,
  ChatPercheSpaceKind,
  type ChatPercheView,
} from "../../generated/chatiere/v1/chat_perche_pb.js";
import { at } from "../given.js";
import type { Pieces } from "../pieces.js";
import { spread } from "./cards.js";

/** Draw the tree from top to bottom, the seats' cats and tokens, the dogs and the birds. */
export function drawChatPerche(view: ChatPercheView, pieces: Pieces, details: ChatPerchePieces): string[] {
  const seats = view.seats.map(({ catsAtStart, unplacedSolidity, unplacedTokens }, seat) => {
    const cats = `${pieces.name("colour", at(details.colours, seat))}, ${catsAtStart} of ${details.catsPerSeat} at the start`;
    return `seat ${seat}: ${cats} | tokens ${spread(unplacedSolidity.map(String), unplacedTokens - unplacedSolidity.length)}`;
  });
  const steps = view.stepsLeft > 0 ? `, ${view.stepsLeft} steps left` : "";
  return [
    ...drawTree(view, details),
    ...seats,
    `dogs ${view.dogSteps} of ${view.dogTrack} | birds beside the board ${view.birdsBeside} of ${details.totalBirds}`,
    ...(view.card === undefined ? [] : [`card: ${pieces.name("card", view.card)}${steps}`]),
  ];
}

/** Draw cats as seat numbers, birds as *, broken branches as x, and each token next to its branch, with its owner. */
function drawTree(view: ChatPercheView, details: ChatPerchePieces): string[] {
  const animals = new Map(view.birds.map((space) => [space, "*"]));
  view.seats.forEach(({ cats }, seat) => cats.forEach((space) => animals.set(space, String(seat))));
  const animal = (space: number) => animals.get(space) ?? ".";
  const outward = ({ branch, spaces }: ChatPercheBranchInfo): string[] => {
    const { tokenOwner: owner, solidity, broken } = at(view.branches, branch);
    const token = owner === undefined ? " - " : `${owner}:${solidity ?? "?"}`;
    return [...spaces.map((space) => (broken ? "x" : animal(space))), token];
  };
  const trunk = details.spaces.filter(({ kind }) => kind === ChatPercheSpaceKind.TRUNK);
  const fromTheTop = trunk.sort((one, other) => (other.place ?? 0) - (one.place ?? 0));
  return fromTheTop.map(({ space }) => {
    const branches = (wanted: ChatPercheSide) =>
      details.branches.filter(({ side, trunkSpace }) => side === wanted && trunkSpace === space).flatMap(outward);
    const left = branches(ChatPercheSide.LEFT).reverse().join(" ");
    return `${left} |${animal(space)}| ${branches(ChatPercheSide.RIGHT).join(" ")}`;
  });
}
