"""Discat through the service: the paths of fields in error, and hidden cards."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from service.support import Refused, new_game, play_on, refusal, running

from chatiere.v1 import discat_pb2, game_pb2, game_service_pb2

RULES = "discat.md: "
# The kinds of events in which a seat puts a card under the draw pile, or may draw one from there.
HANDLED = {
    discat_pb2.DISCAT_EVENT_KIND_CARD_EXCHANGED,
    discat_pb2.DISCAT_EVENT_KIND_BONUS_CARD_DRAWN,
    discat_pb2.DISCAT_EVENT_KIND_EXCHANGE_DRAWN,
    discat_pb2.DISCAT_EVENT_KIND_CARD_REFILLED,
}


@pytest.fixture(scope="module")
def stub() -> Iterator[Any]:
    with running() as server:
        yield server.stub


@pytest.fixture
def position(stub: Any) -> game_pb2.Position:
    """Return a position of four players in which seat 2 has to play the first card."""
    request = game_service_pb2.NewGameRequest(
        game="discat",
        players=4,
        seed=1,
        options=game_pb2.Options(discat=discat_pb2.DiscatOptions(first_seat=2)),
        include=game_pb2.Include(legal_actions=True),
    )
    first: game_pb2.Position = stub.NewGame(request).position
    assert first.turn.seat == 2
    return first


def refused_option(stub: Any, options: discat_pb2.DiscatOptions) -> Refused:
    request = game_service_pb2.NewGameRequest(players=4, options=game_pb2.Options(discat=options))
    refused = refusal(stub.NewGame, request)
    assert refused.reason == "INVALID_OPTION"
    return refused


def test_the_refusal_of_an_option_names_its_path(stub: Any) -> None:
    seat = refused_option(stub, discat_pb2.DiscatOptions(first_seat=4))
    assert seat.field == "options.discat.first_seat"
    assert "from 0 to 3" in seat.message
    for cards, place in ([1, 91], 1), ([0], 0), ([7, 9, 7], 2), ([2**32 - 1], 0):
        arrows = discat_pb2.DiscatOptions(up_arrows=discat_pb2.DiscatCards(cards=cards))
        assert refused_option(stub, arrows).field == f"options.discat.up_arrows.cards[{place}]"


def test_up_arrows_are_returned_unchanged(stub: Any) -> None:
    for cards in [], [1, 50, 90], list(range(1, 91)):
        options = discat_pb2.DiscatOptions(up_arrows=discat_pb2.DiscatCards(cards=reversed(cards)))
        request = game_service_pb2.NewGameRequest(
            players=6, options=game_pb2.Options(discat=options), include=game_pb2.Include(spectator=True)
        )
        answer = stub.NewGame(request).position
        for kept in answer.state.discat.options, answer.updates[0].view.discat.options:
            assert kept.HasField("up_arrows")
            assert list(kept.up_arrows.cards) == cards


BROKEN_STATES: dict[str, tuple[Callable[[discat_pb2.DiscatState], object], str]] = {
    "phase-99": (lambda state: setattr(state, "phase", 99), "phase"),
    "phase-0": (lambda state: state.ClearField("phase"), "phase"),
    "phase-negative": (lambda state: setattr(state, "phase", -1), "phase"),
    "phase-over": (lambda state: setattr(state, "phase", discat_pb2.DISCAT_PHASE_OVER), "phase"),
    "seven-seats": (lambda state: state.seats.extend([discat_pb2.DiscatSeat()] * 3), "seats"),
    "no-seats": (lambda state: state.ClearField("seats"), "seats"),
    "card-0": (lambda state: state.seats[2].hand_cards.__setitem__(3, 0), "seats[2].hand_cards[3]"),
    "card-91": (lambda state: state.seats[2].hand_cards.__setitem__(3, 91), "seats[2].hand_cards[3]"),
    "seven-cards": (lambda state: state.seats[2].hand_cards.extend([1, 2]), "seats[2].hand_cards"),
    "first-seat-4": (lambda state: setattr(state, "first_seat", 4), "first_seat"),
    "first-seat-of-other-options": (lambda state: setattr(state, "first_seat", 1), "first_seat"),
    "active-seat-4": (lambda state: setattr(state, "active_seat", 4), "active_seat"),
    "active-seat-2^32": (lambda state: setattr(state, "active_seat", 2**32 - 1), "active_seat"),
    "last-turns-4": (lambda state: setattr(state, "last_turns_left", 4), "last_turns_left"),
    "card-missing": (lambda state: state.draw_pile_cards.pop(), "draw_pile_cards"),
    "card-twice": (lambda state: state.draw_pile_cards.append(state.draw_pile_cards[0]), "draw_pile_cards[50]"),
    "card-out-of-use": (lambda state: state.draw_pile_cards.append(71), "draw_pile_cards"),
    "queue-card-0": (lambda state: state.queue_cards.append(0), "queue_cards[0]"),
    "turn-of-nobody": (lambda state: state.turns.add(seat=9), "turns[0].seat"),
    "turn-of-no-kind": (lambda state: state.turns.add(seat=2), "turns[0]"),
    "play-of-nothing": (lambda state: state.turns.add(seat=2).played.SetInParent(), "turns[0].played.cards"),
    "play-of-card-91": (lambda state: state.turns.add(seat=2).played.cards.append(91), "turns[0].played.cards[0]"),
    "pass-before-a-play": (lambda state: state.turns.add(seat=2).passed.SetInParent(), "turns[0]"),
    "options": (lambda state: setattr(state.options, "first_seat", 6), "options.first_seat"),
    "option-cards": (lambda state: state.options.up_arrows.cards.append(0), "options.up_arrows.cards[0]"),
}


@pytest.mark.parametrize("case", BROKEN_STATES)
def test_the_refusal_of_a_state_names_the_path_of_the_fault(stub: Any, position: game_pb2.Position, case: str) -> None:
    break_it, field = BROKEN_STATES[case]
    break_it(position.state.discat)
    refused = refusal(stub.GetScore, game_service_pb2.GetScoreRequest(state=position.state))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.reason == "INVALID_STATE"
    assert refused.field == f"state.discat.{field}"
    assert refused.metadata["game"] == "discat"
    assert refused.metadata["rule"].startswith(RULES)


def play_cards(*cards: int) -> game_pb2.Action:
    return game_pb2.Action(discat=discat_pb2.DiscatAction(play=discat_pb2.DiscatPlay(cards=cards)))


def test_the_refusal_of_an_action_names_the_path_of_the_fault(stub: Any, position: game_pb2.Position) -> None:
    hand = list(position.state.discat.seats[2].hand_cards)
    elsewhere = position.state.discat.seats[0].hand_cards[0]
    exchange = game_pb2.Action(discat=discat_pb2.DiscatAction(exchange=discat_pb2.DiscatExchange(card=0)))
    keep = game_pb2.Action(discat=discat_pb2.DiscatAction(keep=discat_pb2.DiscatKeep()))
    cases = [
        (play_cards(hand[0], 91), "INVALID_ACTION", "play.cards[1]", None),
        (play_cards(), "INVALID_ACTION", "play.cards", None),
        (play_cards(hand[0], hand[0]), "INVALID_ACTION", "play.cards", None),
        (play_cards(*range(1, 8)), "INVALID_ACTION", "play.cards", None),
        (exchange, "INVALID_ACTION", "exchange.card", None),
        (play_cards(hand[0], elsewhere), "ILLEGAL_ACTION", "play.cards[1]", "Actions"),
        (play_cards(hand[0], hand[1]), "ILLEGAL_ACTION", "play.cards", "Components and setup"),
        (keep, "ILLEGAL_ACTION", "keep", "A turn"),
    ]
    for action, reason, field, rule in cases:
        refused = refusal(stub.Apply, game_service_pb2.ApplyRequest(state=position.state, action=action))
        assert refused.reason == reason
        assert refused.field == ("action.discat." + field).rstrip(".")
        if rule:
            assert refused.metadata["actor"] == "2"
            assert refused.metadata["rule"] == RULES + rule


def test_a_dealt_card_does_not_affect_other_viewers(stub: Any) -> None:
    """The bytes for the other seats and for spectators do not depend on the card."""
    include = game_pb2.Include(viewers=[1, 2], spectator=True)
    options = game_pb2.Options(discat=discat_pb2.DiscatOptions(first_seat=0))
    start = new_game(stub, "discat", 3, options=options, explicit_chance=True)
    seen = set()
    for each in start.chance_outcomes:
        request = game_service_pb2.ApplyRequest(state=start.state, outcome=each.outcome, include=include)
        position = stub.Apply(request).position
        assert list(position.state.discat.seats[0].hand_cards) == [each.outcome + 1]
        seen.add(tuple(update.SerializeToString(deterministic=True) for update in position.updates))
    assert len(start.chance_outcomes) == 60
    assert len(seen) == 1


def test_updates_do_not_contain_hidden_cards(stub: Any) -> None:
    """In whole games, updates mention cards that are hidden from the viewer only as unseen."""
    for players in 2, 4, 6:
        include = game_pb2.Include(legal_actions=True, viewers=range(players), spectator=True)
        first = new_game(stub, "discat", players, seed=players, include=include)
        hidden_draws = redrawn_shown = 0
        # The cards that each seat has put under the draw pile. A spectator has an empty set.
        exchanged: dict[int | None, set[int]] = defaultdict(set)
        # These cards, and the cards that each seat has drawn.
        handled: dict[int | None, set[int]] = defaultdict(set)
        for position in [first, *play_on(stub, first, random.Random(players), include)]:
            state = position.state.discat
            for event in position.events:
                if event.discat.kind == discat_pb2.DISCAT_EVENT_KIND_CARD_EXCHANGED:
                    exchanged[event.discat.seat].update(event.discat.cards)
                if event.discat.kind in HANDLED:
                    handled[event.discat.seat].update(event.discat.cards)
            for update in position.updates:
                seat = update.seat if update.HasField("seat") else None
                secret = set(state.draw_pile_cards)
                for other, whole in enumerate(state.seats):
                    known = set(update.view.discat.seats[other].hand_cards)
                    assert known <= set(whole.hand_cards)
                    assert other == seat or known <= exchanged[seat]
                    secret |= set(whole.hand_cards) - known
                queued = [each.card for each in update.view.discat.queue if each.HasField("card")]
                assert set(queued) <= set(state.queue_cards)
                secret |= set(state.queue_cards) - set(queued)
                for shown, card in zip(update.view.discat.redrawn, state.redrawn_cards, strict=True):
                    if shown.HasField("card"):
                        assert shown.card == card
                        assert card in handled[seat]
                        redrawn_shown += 1
                assert set(update.view.discat.unseen_cards) == secret
                assert not cards_named(update.view) & secret
                for event in update.events:
                    if not event.everybody and seat not in event.seen_whole_by:
                        hidden_draws += 1
                        assert not event.discat.cards
                        assert re.findall(r"\d+", event.label) == [str(event.discat.seat)]
        assert hidden_draws
        assert redrawn_shown


def cards_named(view: game_pb2.View) -> set[int]:
    """Return all cards in a view, except those in `unseen_cards`, `options`, `up_arrows` and `redrawn`."""
    rest = json_format.MessageToDict(view)["discat"]
    rest.pop("unseenCards", None)
    rest.pop("options")
    rest.pop("upArrows")
    rest.pop("redrawn", None)
    named: set[int] = set()

    def walk(node: Any, name: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, key)
        elif isinstance(node, list):
            for value in node:
                walk(value, name)
        elif name in ("card", "cards", "handCards", "bonusPile"):
            named.add(node)

    walk(rest, "")
    return named


def test_a_worked_case_through_the_service(stub: Any) -> None:
    """Play 28, 38, 58 with 18 on top under "lower than 22" (rules: "Worked cases")."""
    state = game_pb2.State(
        rules_version=1,
        discat=discat_pb2.DiscatState(
            seats=[
                discat_pb2.DiscatSeat(hand_cards=[1, 2, 3, 4, 5]),
                discat_pb2.DiscatSeat(hand_cards=[18, 28, 38, 50, 58]),
                discat_pb2.DiscatSeat(hand_cards=[6, 7, 8, 9, 10]),
            ],
            phase=discat_pb2.DISCAT_PHASE_PLAY,
            first_seat=0,
            active_seat=1,
            turns=[discat_pb2.DiscatTurn(seat=0, played=discat_pb2.DiscatPlay(cards=[22]))],
        ),
    )
    used = {22} | {card for seat in state.discat.seats for card in seat.hand_cards}
    state.discat.options.SetInParent()
    state.discat.draw_pile_cards.extend(card for card in range(1, 61) if card not in used)
    request = game_service_pb2.ApplyRequest(
        state=state, action=play_cards(58, 28, 38, 18), include=game_pb2.Include(spectator=True, score=True)
    )
    position = stub.Apply(request).position
    played, bonus = position.events
    assert list(played.discat.cards) == [28, 38, 58, 18]
    assert played.label == "seat 1 plays 28, 38, and 58 with 18 on top"
    assert (bonus.discat.kind, list(bonus.discat.cards)) == (discat_pb2.DISCAT_EVENT_KIND_CARD_TO_BONUS_PILE, [28])
    assert position.turn.kind == game_pb2.TURN_KIND_CHANCE
    view = position.updates[0].view.discat
    assert [each.card for each in view.seats[1].pile] == [38, 58, 18]
    assert list(view.seats[1].bonus_pile) == [28]
    assert (view.constraint.card, view.constraint.higher, view.constraint.creator) == (18, False, 1)
    assert list(position.score.totals) == [-4, 6, -5]
    assert position.score.detail.discat.seats[1] == discat_pb2.DiscatSeatScore(
        pile_points=3, bonus_points=4, hand_points=-1
    )
