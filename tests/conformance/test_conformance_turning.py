"""Every game is the same from every seat: if all players move around the table, each has the same game as before.

Each game has a twin in which every seat is some number of places further to the left. The twin begins with the
corresponding first seat, and then has the same ids and outcomes. games/<game>/turning.py has the differences between
seats in the rules. In all games, `first_seat` is the number of a seat, both as an option and as a chance outcome
(docs/rules/README.md).
"""

import importlib
import random
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from games.building import event_of, label_of, message, phase, score_of, state_of, view_of
from games.turning import Seats

from chatiere import engine
from chatiere.engine import Event, EventLog, Game, Position
from chatiere.engine.wire import Reader, fill

from .support import Table, liked_move, may_see_whole, moves_of, random_likings, random_options

# The number of positions for each number of players.
POSITIONS = 3000
# The minimum number of games for each number of places by which the table is turned.
GAMES = 3


class SeenEvent(NamedTuple):
    """An event as a viewer receives it."""

    kind: str
    message: Any
    label: str


class Turned(NamedTuple):
    """A position, and the same position with every seat `by` places further to the left."""

    position: Position
    twin: Position
    by: int

    @property
    def seats(self) -> list[tuple[int, int]]:
        """Each seat, with its number in the twin."""
        return [(seat, self.place_of(seat)) for seat in range(self.position.num_players())]

    def place_of(self, seat: int) -> int:
        """Return a seat's number in the twin."""
        return (seat + self.by) % self.position.num_players()

    def message(self, filled: Any) -> Any:
        """Return the form that a message about the position should have in the twin."""
        return seats_of(self.position.game).turned(filled, self.by, self.position.num_players())

    def words(self, text: str) -> str:
        """Return the form that a label should have in the twin."""
        return seats_of(self.position.game).turned_words(text, self.by, self.position.num_players())

    def event(self, event: SeenEvent) -> SeenEvent:
        """Return the form that an event should have in the twin."""
        return SeenEvent(event.kind, self.message(event.message), self.words(event.label))

    def move(self, move: int) -> int:
        """Return the twin's equivalent of a move."""
        return self.place_of(move) if phase(self.position) == "FIRST_SEAT" else move

    def child(self, move: int) -> "Turned":
        """Return the position and its twin after a move."""
        return Turned(self.position.child(move), self.twin.child(self.move(move)), self.by)


def seats_of(game: Game) -> Seats:
    """Return the fields and words of a game that identify seats by number."""
    seats: Seats = importlib.import_module(f"games.{game.name}.turning").SEATS
    return seats


def begin_turned(game: Game, players: int, choices: random.Random, by: int, *, sampled: bool) -> Turned:
    """Start a game with random options. If sampled, set the first seat, because the stream would draw its number."""
    options = random_options(game, players, choices)
    if sampled:
        options["first_seat"] = choices.randrange(players)
    twin = {**options, "first_seat": (options["first_seat"] + by) % players} if "first_seat" in options else options
    seed = choices.getrandbits(64) if sampled else None
    return Turned(game.new_game(players, options, seed=seed), game.new_game(players, twin, seed=seed), by)


def turned_game(game: Game, players: int, choices: random.Random, by: int, *, sampled: bool) -> Iterator[Turned]:
    """Play a random game along with its twin."""
    turned = begin_turned(game, players, choices, by, sampled=sampled)
    likings = random_likings(game, choices)
    yield turned
    while not turned.position.is_terminal():
        turned = turned.child(liked_move(turned.position, likings, choices))
        yield turned


def turned_games(table: Table, *, sampled: bool = False) -> Iterator[Turned]:
    """Play random games, turned by every number of places."""
    game, players = table
    for by in range(1, players):
        choices = random.Random(f"turned {game.name} {players} {by}")
        games = seen = 0
        while games < GAMES or seen * (players - 1) < POSITIONS:
            for turned in turned_game(game, players, choices, by, sampled=sampled):
                yield turned
                seen += 1
            games += 1


def thinned(turned: Iterator[Turned], step: int) -> Iterator[Turned]:
    """Yield every `step`th pair, except while chance chooses the first seat: messages then name seat 0 as active."""
    return (one for number, one in enumerate(turned) if number % step == 0 and phase(one.position) != "FIRST_SEAT")


def test_each_seat_has_the_same_numbers(table: Table) -> None:
    """Compare actors, observations, legal ids, outcomes and scores."""
    for turned in turned_games(table):
        assert_same_numbers(turned)


def test_each_seat_has_the_same_numbers_with_sampled_chance(table: Table) -> None:
    for turned in turned_games(table, sampled=True):
        assert_same_numbers(turned)
        assert turned.twin.random_stream() == turned.position.random_stream()


def assert_same_numbers(turned: Turned) -> None:
    position, twin, _ = turned
    actor = position.current_player()
    assert twin.current_player() == (turned.place_of(actor) if actor >= 0 else actor)
    assert twin.legal_actions() == position.legal_actions()
    assert twin.chance_outcomes() == position.chance_outcomes()
    ranks, twin_ranks = position.ranks() or [], twin.ranks() or []
    assert len(twin_ranks) == len(ranks)
    for seat, place in turned.seats:
        assert twin.observation(place) == position.observation(seat), f"seat {seat} and seat {place}"
        assert twin.totals()[place] == position.totals()[seat]
        assert twin.returns()[place] == position.returns()[seat]
        assert not ranks or twin_ranks[place] == ranks[seat]


def test_states_views_and_scores_name_the_same_seats(table: Table) -> None:
    for turned in thinned(turned_games(table), 31):
        position, twin, _ = turned
        assert state_of(twin) == turned.message(state_of(position))
        assert score_of(twin) == turned.message(score_of(position))
        for seat, place in [*turned.seats, (None, None)]:
            assert view_of(twin, place) == turned.message(view_of(position, seat))


def test_typed_actions_and_labels_name_the_same_seats(table: Table) -> None:
    game, _ = table
    codec = engine.codec(game.name)
    for turned in thinned(turned_games(table), 11):
        position, twin, _ = turned
        for action in position.legal_actions():
            typed = message(game, "Action")
            fill(typed, codec.put_action, position, action)
            assert codec.read_action(Reader(turned.message(typed)), twin) == action
            assert twin.action_label(action) == turned.words(position.action_label(action))


def test_events_show_the_same_seats_the_same(table: Table) -> None:
    game, _ = table
    for turned in thinned(turned_games(table), 11):
        moves = moves_of(turned.position)
        for move in moves[:: max(1, len(moves) // 3)]:
            events = EventLog()
            twin_events = EventLog()
            turned.position.clone().apply(move, events)
            turned.twin.clone().apply(turned.move(move), twin_events)
            for seat, place in [*turned.seats, (None, None)]:
                expected = [turned.event(event) for event in seen_events(game, events, seat)]
                assert seen_events(game, twin_events, place) == in_seat_order(game, expected)


def seen_events(game: Game, events: Sequence[Event], seat: int | None) -> list[SeenEvent]:
    """Return events as a seat, or a spectator, receives them."""
    whole = [may_see_whole(event, seat) for event in events]
    return [
        SeenEvent(*event_of(game, event, known), label_of(game, event, known))
        for event, known in zip(events, whole, strict=True)
    ]


def in_seat_order(game: Game, events: list[SeenEvent]) -> list[SeenEvent]:
    """Sort the events that the rules report for each seat in seat order, because the twin has another seat order."""
    of_every_seat = seats_of(game).in_seat_order
    ordered: list[SeenEvent] = []
    for by_seat, group in groupby(events, lambda event: event.kind in of_every_seat):
        run = list(group)
        ordered += sorted(run, key=lambda event: event.message.seat) if by_seat else run
    return ordered
