// A live table of Discat for two players. Opening the page creates a room, and the link to the room becomes the page's
// address. The first person who opens the link gets the other seat. Later visitors watch. Reloading the page keeps the
// seat.

import {
  Acknowledgement,
  type Action,
  Chatiere,
  hashText,
  headerOf,
  LocalStorageStore,
  newRoomId,
  type Room,
  type SealedSeat,
  seatOf,
  TransportError,
} from "@chatiere/client";

/** The invitation to take the other seat. Each room has one invitation. */
const INVITATION = "0000000000000001";

const chatiere = new Chatiere("http://127.0.0.1:8080");
const [name, people, news, hand, choice, log] = ["name", "people", "news", "hand", "choice", "log"].map(
  (id) => document.getElementById(id)!,
) as [HTMLInputElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];

function element(tag: string, textContent: string): HTMLElement {
  return Object.assign(document.createElement(tag), { textContent });
}

/** Follow the room in the address, or a new room, and show its contents after each change. */
async function play(): Promise<void> {
  const isNew = location.hash === "";
  // Browsers do not send the part after the # to a server.
  const id = isNew ? newRoomId() : location.hash.slice(1);
  location.hash = id;
  // Stores the seat's secret, and whether this person created the room.
  const store = new LocalStorageStore(id);
  const isHost = store.keep("role", isNew ? "host" : "guest") === "host";
  const seat = await chatiere.takeSeat(store);
  const room = await chatiere.enter(id, seat);
  name.onchange = () => void room.postName(name.value).catch(tell);
  name.disabled = false;
  if (!isHost) {
    await room.postReply(INVITATION);
  }
  // `follow` reconnects automatically and catches up, or restores the room if the service was restarted without it.
  for await (const _ of room.follow()) {
    await (isHost ? deal(room, seat) : Promise.resolve()).then(() => show(room, seat)).catch(tell);
  }
}

/** Start the game when a person has accepted the invitation. */
async function deal(room: Room, seat: SealedSeat): Promise<void> {
  const guest = room.contents.replies.get(INVITATION)?.[0];
  if (guest === undefined || room.contents.newest() !== undefined) {
    return;
  }
  const seats = [seat.seat, seatOf({ hash: guest })];
  const { table } = await seat.newTable({ game: "discat", seats, acknowledgement: Acknowledgement.NONE });
  await room.postTable(table);
}

/** Show the people in the room, and the newest table from this person's view: a player's own hand, or no hand. */
async function show(room: Room, seat: SealedSeat): Promise<void> {
  const { contents } = room;
  const here = contents.people.map((person) => contents.names.get(person) ?? "somebody");
  people.textContent = `Here: ${here.join(", ")}`;
  const table = contents.newest();
  if (table === undefined) {
    return;
  }
  const players = headerOf(table).seats.map(hashText);
  const isPlayer = players.includes(contents.person);
  const update = isPlayer ? await seat.look(table) : (await chatiere.tables.look({ table })).update!;
  const { view, events, legalActions, score } = update;
  const { end, turn } = view!;
  const nameOf = (number: number) => contents.names.get(players[number]!) ?? `seat ${number}`;
  const totals = score!.totals.map(({ total }, number) => `${nameOf(number)} ${total ?? "?"}`).join(", ");
  const winners = score!.winners.map(nameOf).join(" and ");
  news.textContent = `${totals}: ${end ? `won by ${winners}` : `waiting for ${nameOf(turn!.seat!)}`}`;
  if (view!.game.case === "discat" && update.seat !== undefined) {
    hand.textContent = `Your cards: ${view!.game.value.seats[update.seat]!.handCards.join(" ")}`;
  }
  if (log.dataset.ply !== String(view!.ply)) {
    log.dataset.ply = String(view!.ply);
    log.append(...events.map(({ label }) => element("li", label)));
    offer(room, seat, table, legalActions);
  }
}

/** Show buttons for the legal actions. Only the player whose turn it is has any. */
function offer(room: Room, seat: SealedSeat, table: Uint8Array, actions: readonly Action[]): void {
  const decide = async (action: Action) => room.postTable((await seat.move(table, action)).table);
  const buttons = actions.map((action) => {
    // The same move gives the same table, so the player can click again if the call failed.
    return Object.assign(element("button", action.label), { onclick: () => void decide(action).catch(tell) });
  });
  choice.replaceChildren(...buttons);
}

/** Show an error. If the service did not respond, the room's next change shows the table again. */
function tell(error: Error): void {
  news.textContent = error instanceof TransportError ? "Not connected: trying again" : error.message;
}

play().catch((error: Error) => (news.textContent = error.message));
