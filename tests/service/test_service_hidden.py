"""Hidden information stays hidden in every game."""

import random
from typing import Any

from games.phrases import rebuilt
from google.protobuf import json_format

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.wire import fill, written_text
from chatiere.v1 import game_pb2, game_service_pb2

from .support import ALL_DOORS, LogLines, new_game, play_on, refusal

DOORS = ALL_DOORS

SEED = 17_171_717_171_717_171_717
GAME_NUMBER = 15_151_515_151_515_151_515


def everybody(players: int) -> game_pb2.Include:
    return game_pb2.Include(legal_actions=True, viewers=range(players), spectator=True)


def test_a_seat_has_the_same_view_in_states_that_it_cannot_distinguish(stub: Any, game: Game) -> None:
    different = 0
    for players in range(game.min_players, game.max_players + 1):
        first = new_game(stub, game.name, players, seed=players)
        for number, position in enumerate(play_on(stub, first, random.Random(players), everybody(players))):
            seat = number % players
            request = game_service_pb2.ResampleRequest(state=position.state, seat=seat, seed=number)
            drawn = stub.Resample(request).state
            different += getattr(drawn, game.name) != getattr(position.state, game.name)
            requests = [game_service_pb2.GetViewRequest(state=each, seat=seat) for each in (position.state, drawn)]
            views = [stub.GetView(request).SerializeToString(deterministic=True) for request in requests]
            assert views[0] == views[1]
            if position.turn.kind == game_pb2.TURN_KIND_DECISION and position.turn.seat == seat:
                listed = [
                    stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=state))
                    for state in (position.state, drawn)
                ]
                assert listed[0] == listed[1]
    assert different


def test_a_seat_gets_the_same_update_in_states_that_it_cannot_distinguish(stub: Any, game: Game) -> None:
    """Compare the view, legal actions and score, for the seat and for a spectator. A spectator knows less."""
    different = 0
    for players in range(game.min_players, game.max_players + 1):
        first = new_game(stub, game.name, players, seed=players)
        for number, position in enumerate(play_on(stub, first, random.Random(players), everybody(players))):
            seat = number % players
            request = game_service_pb2.ResampleRequest(state=position.state, seat=seat, seed=number)
            drawn = stub.Resample(request).state
            different += getattr(drawn, game.name) != getattr(position.state, game.name)
            include = game_pb2.Include(viewers=[seat], spectator=True)
            real, other = (
                stub.GetPosition(game_service_pb2.GetPositionRequest(state=state, include=include)).position
                for state in (position.state, drawn)
            )
            assert updates(real) == updates(other)
    assert different


def updates(position: game_pb2.Position) -> list[bytes]:
    return [update.SerializeToString(deterministic=True) for update in position.updates]


def test_a_refusal_is_the_same_in_states_that_the_actor_cannot_distinguish(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.max_players, seed=2)
    seat = position.turn.seat
    drawn = stub.Resample(game_service_pb2.ResampleRequest(state=position.state, seat=seat, seed=1)).state
    legal = {action.id for action in position.legal_actions}
    for action in range(game.num_distinct_actions):
        if action not in legal:
            refused = [
                refusal(stub.Apply, game_service_pb2.ApplyRequest(state=state, action=game_pb2.Action(id=action)))
                for state in (position.state, drawn)
            ]
            assert refused[0] == refused[1]


def test_viewers_get_values_only_of_events_that_they_may_see(stub: Any, game: Game) -> None:
    """Other viewers get the event without its values."""
    players = min(game.min_players + 1, game.max_players)
    codec = engine.codec(game.name)
    hidden = 0
    for seed in range(3):
        position = new_game(stub, game.name, players, seed=seed, include=everybody(players))
        happened = engine.EventLog()
        twin = game.new_game(players, seed=seed, events=happened)
        choices = random.Random(seed)
        while True:
            for update in position.updates:
                seat = update.seat if update.HasField("seat") else None
                for shown, host, event in zip(update.events, position.events, happened, strict=True):
                    assert (shown.seen_whole_by, shown.everybody) == (host.seen_whole_by, host.everybody)
                    if event.seen_by is None or seat in event.seen_by:
                        assert shown == host
                    else:
                        hidden += 1
                        blank = game_pb2.Event(seen_whole_by=host.seen_whole_by)
                        # The event has the same number of other values.
                        other = event._replace(values=(0,) * len(event.values))
                        fill(getattr(blank, game.name), codec.put_event, other, False)
                        blank.label = written_text(codec.put_event_label, other, False)
                        assert rebuilt(game.name, shown.phrase, "en") == blank.label
                        blank.phrase.CopyFrom(shown.phrase)
                        assert shown == blank
            if position.turn.kind == game_pb2.TURN_KIND_OVER:
                break
            action = choices.choice(position.legal_actions)
            request = game_service_pb2.ApplyRequest(state=position.state, action=action, include=everybody(players))
            position = stub.Apply(request).position
            happened = engine.EventLog()
            twin.apply(action.id, happened)
    assert hidden


def test_only_the_host_gets_the_random_stream(stub: Any, game: Game) -> None:
    players = game.min_players
    include = everybody(players)
    include.score = True
    first = new_game(stub, game.name, players, seed=SEED, game_number=GAME_NUMBER, include=include)
    for position in [first, *play_on(stub, first, random.Random(1), include)]:
        assert str(SEED) in json_format.MessageToJson(position.state)
        shown = [position.score, *position.events, *position.updates, *position.legal_actions]
        for message in shown:
            text = json_format.MessageToJson(message)
            assert str(SEED) not in text
            assert str(GAME_NUMBER) not in text


def test_logs_contain_no_contents_of_games(stub: Any, game: Game) -> None:
    with LogLines() as log:
        first = new_game(stub, game.name, game.min_players, seed=SEED, game_number=GAME_NUMBER)
        moves = sum(1 for _ in play_on(stub, first, random.Random(1), game_pb2.Include(legal_actions=True)))
        broken = game_pb2.State()
        broken.CopyFrom(first.state)
        broken.rules_version += 1
        refusal(stub.GetScore, game_service_pb2.GetScoreRequest(state=broken))
        request = game_service_pb2.ResampleRequest(state=first.state, seat=0, seed=SEED, game_number=GAME_NUMBER)
        stub.Resample(request)
    assert len(log.lines) == 1 + moves + 1 + 1
    for line in log.lines:
        # A line has only method, status, reason, duration, peer, request and client.
        words = line.split()
        assert [words[place] for place in (4, 5, 7, 9)] == ["ms", "from", "request", "client"]
        assert len(words) == 11
        assert str(SEED) not in line
        assert str(GAME_NUMBER) not in line
