"""Positions of Chatpentiers for tests: games played with given cards, and states given in full.

Cards have short names, such as "r10" for red 10. The letters are y for grey, g for green, r for red, n for brown and b
for blue.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatiere import engine
from chatiere.engine import Event, EventLog, Position
from chatiere.engine.wire import fill
from chatiere.v1.chatpentiers_pb2 import (
    ChatpentiersAction,
    ChatpentiersSeatScore,
    ChatpentiersState,
    ChatpentiersView,
)

from .. import building
from ..building import event_of, view_of

GAME = engine.game("chatpentiers")
CODEC = engine.codec("chatpentiers")
LETTERS = "ygrnb"
DEALT = {3: 11, 4: 14, 5: 12}
TAKEN = {3: 3, 4: 3, 5: 4}


def card(name: str) -> int:
    """Return the number of a card."""
    return 12 * LETTERS.index(name[0]) + int(name[1:]) - 1


def cards(names: str) -> list[int]:
    """Return the numbers of cards separated by spaces."""
    return [card(name) for name in names.split()]


def name_of(number: int) -> str:
    """Return the name of a card number."""
    return f"{LETTERS[number // 12]}{number % 12 + 1}"


def names(numbers: Iterable[int]) -> str:
    """Return the names of card numbers, ascending and separated by spaces."""
    return " ".join(name_of(number) for number in sorted(numbers))


def take_id(name: str, zone: int) -> int:
    """Return the dense id of taking a card into a zone."""
    return 60 + 5 * card(name) + zone


def score_of(position: Position, seat: int) -> ChatpentiersSeatScore:
    """Return a seat's breakdown."""
    score: ChatpentiersSeatScore = building.score_of(position).seats[seat]
    return score


def plain_event(event: Event, whole: bool = True) -> tuple[Any, ...]:
    """Return an event as its kind and its message's fields, in order. Cards are listed one by one."""
    kind, message = event_of(GAME, event, whole)
    found: list[Any] = [kind]
    for field, value in message.ListFields()[1:]:
        if field.name == "cards":
            found += value
        else:
            found.append(value if isinstance(value, int) else list(value))
    return tuple(found)


class Table(building.Table):
    """A game with explicit chance, played by naming cards. `events` are the events of the last move."""

    def __init__(self, *hands: str, undealt: str = "", first_seat: int = 0, **options: Any) -> None:
        """Deal hands that start with the given cards and are filled up with the largest free numbers.

        `undealt` names cards that are not dealt.
        """
        players = len(hands)
        self.events = EventLog()
        self.position = GAME.new_game(players, {"first_seat": first_seat, **options})
        wanted = [cards(hand) for hand in hands]
        spoken_for = {number for hand in wanted for number in hand} | set(cards(undealt))
        rest = [outcome for outcome, _ in self.position.chance_outcomes() if outcome not in spoken_for]
        for number in range(DEALT[players]):
            for distance in range(players):
                hand = wanted[(first_seat + distance) % players]
                self.chance(hand[number] if number < len(hand) else rest.pop())

    def chance(self, *outcomes: int) -> "Table":
        """Resolve chance events to these outcomes, one event each."""
        for outcome in outcomes:
            assert self.actor == -1
            self.apply(outcome)
        return self

    def turn(self, name: str) -> "Table":
        """Turn up the extra card."""
        return self.chance(card(name))

    def play(self, *played: str) -> "Table":
        """Let the seats play these cards in turn."""
        for name in played:
            self.apply(card(name))
        return self

    def take(self, name: str, zone: int) -> "Table":
        """Let the seat to act take a card into a zone."""
        return self.apply(take_id(name, zone))

    def take_any(self) -> "Table":
        """Let the seats take the remaining cards of the trick arbitrarily."""
        while self.phase == "TAKE":
            self.apply(self.position.legal_actions()[0])
        return self

    @property
    def view(self) -> ChatpentiersView:
        """The spectator's view."""
        view: ChatpentiersView = view_of(self.position, None)
        return view

    @property
    def ranking(self) -> list[int]:
        """The seats in rank order."""
        return list(self.view.ranking)

    def playable(self) -> str:
        """The cards that the seat to act can play."""
        return names(move for move in self.position.legal_actions() if move < 60)

    def takes(self) -> dict[str, list[int]]:
        """Return the cards that the seat to act can take, each with its possible zones."""
        takes: dict[str, list[int]] = {}
        for action in self.position.legal_actions():
            message = ChatpentiersAction()
            fill(message, CODEC.put_action, self.position, action)
            takes.setdefault(name_of(message.take_card.card), []).append(message.take_card.zone)
        return takes

    def board(self, seat: int) -> dict[int, str]:
        """Return the cards in each zone of a seat."""
        return {zone.zone: names(zone.cards) for zone in self.view.seats[seat].zones}

    def plain_events(self) -> list[tuple[Any, ...]]:
        """Return the events of the last move."""
        return [plain_event(event) for event in self.events]


def late_state(
    hands: Sequence[str],
    boards: Sequence[Mapping[int, str]],
    *,
    discards: str = "",
    undealt: str = "",
    plays: Sequence[tuple[int, str]] = (),
    extra: str | None = None,
    leader: int = 0,
    active: int = 0,
    phase: str = "PLAY",
    voids: Mapping[int, str] | None = None,
    game_round: int = 1,
    round_points: Sequence[Sequence[int]] = ((),) * 5,
    **options: Any,
) -> ChatpentiersState:
    """Return a state with the given cards in all places. `voids` maps seats to letters of colours."""
    state = ChatpentiersState(
        phase=f"CHATPENTIERS_PHASE_{phase}",
        first_seat=0,
        round=game_round,
        leader=leader,
        active_seat=active,
        discards=sorted(cards(discards)),
        draw_pile_cards=sorted(cards(undealt)),
    )
    state.options.SetInParent()
    fill(state.options, CODEC.put_options, options)
    if extra is not None:
        state.extra_card = card(extra)
    for seat, name in plays:
        state.plays.add(seat=seat, card=card(name))
    for seat, hand in enumerate(hands):
        held = state.seats.add(hand_cards=sorted(cards(hand)), round_points=round_points[seat])
        for zone, below in sorted(boards[seat].items()):
            held.zones.add(zone=zone, cards=sorted(cards(below)))
        held.shown_voids.extend(LETTERS.index(letter) for letter in (voids or {}).get(seat, ""))
    return state


def final_state(
    players: int,
    counts: Sequence[Mapping[int, tuple[str, int]]],
    *,
    round_points: Sequence[Sequence[int]] | None = None,
    **options: Any,
) -> ChatpentiersState:
    """Return the end of a game.

    For each seat except the last, `counts` maps zones to a colour's letter and a number of cards. The last seat has all
    remaining taken cards. They exceed the last seat's limits, so it scores 0 in the last round.
    """
    removed = options.get("removed_colour", 3) if players == 3 else None
    left = {
        letter: [f"{letter}{value}" for value in range(12, 0, -1)]
        for colour, letter in enumerate(LETTERS)
        if colour != removed
    }
    boards = [
        {zone: " ".join(left[letter].pop() for _ in range(count)) for zone, (letter, count) in zones.items()}
        for zones in counts
    ]
    due = DEALT[players] * TAKEN[players] - sum(count for zones in counts for _, count in zones.values())
    last: dict[int, str] = {}
    for zone, letter in enumerate(left):
        taken = [left[letter].pop() for _ in range(min(due, len(left[letter])))]
        due -= len(taken)
        if taken:
            last[zone] = " ".join(taken)
    rest = [name for names_left in left.values() for name in names_left]
    return late_state(
        [""] * players,
        [*boards, last],
        discards=" ".join(rest[: DEALT[players]]),
        undealt=" ".join(rest[DEALT[players] :]),
        phase="OVER",
        game_round=3,
        round_points=round_points or ((0, 0),) * players,
        **options,
    )
