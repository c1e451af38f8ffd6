"""The responses of GameService in every game: descriptions, beginnings, moves, positions, scores, views, worlds."""

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format
from google.protobuf.message import Message

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.core.observation import ObservationLayout
from chatiere.engine.core.observation_parts import ObservationKind
from chatiere.engine.wire import Reader
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_pb2, game_service_pb2, table_service_pb2

from .support import ALL_DOORS, new_game, play_on, refusal

DOORS = ALL_DOORS

EVERYTHING = game_pb2.Include(legal_actions=True, score=True, viewers=[1, 0], spectator=True)
ACTIONS = game_pb2.Include(legal_actions=True)
MAX_U64 = 2**64 - 1


def in_process(state: game_pb2.State) -> engine.Position:
    """Return a state as the engine's position."""
    name = state.WhichOneof("game")
    assert name is not None
    stream = (state.stream.seed, state.stream.game_number, state.stream.drawn) if state.HasField("stream") else None
    body = engine.codec(name).read_state(Reader(getattr(state, name)), state.rules_version)
    return engine.game(name).position(body, stream, state.ply)


WHOLE = game_service_pb2.ListGamesRequest(pieces=True, observation=True, phrases=True)
# The fields of each part of a GameInfo.
PARTS = {
    "pieces": ("pieces", "piece_details", "piece_fields"),
    "observation": ("observation",),
    "phrases": ("phrases",),
}


def without(info: game_pb2.GameInfo, parts: Iterable[str]) -> game_pb2.GameInfo:
    """Return a copy of a description without some parts."""
    copy = game_pb2.GameInfo.FromString(info.SerializeToString())
    for part in parts:
        for field in PARTS[part]:
            copy.ClearField(field)
    return copy


def test_list_games_has_the_requested_parts(stub: Any) -> None:
    whole = stub.ListGames(WHOLE).games
    for count in range(len(PARTS) + 1):
        for parts in itertools.combinations(PARTS, count):
            wanted: dict[str, Any] = dict.fromkeys(parts, True)
            request = game_service_pb2.ListGamesRequest(**wanted)
            # The response is built only once, so the second call gets the same bytes.
            responses = [stub.ListGames(request).SerializeToString() for _ in range(2)]
            assert responses[0] == responses[1]
            infos = game_service_pb2.ListGamesResponse.FromString(responses[0]).games
            assert list(infos) == [without(info, PARTS.keys() - set(parts)) for info in whole]
            for info in infos:
                assert bool(info.pieces) == ("pieces" in parts)
                assert bool(info.observation) == ("observation" in parts)
                assert info.observation_length
                assert info.packed_size


def test_list_games_by_name(stub: Any) -> None:
    known = {info.name: info for info in stub.ListGames(WHOLE).games}
    for names in (["discat"], ["momistigri", "discat"], ["discat", "discat"], sorted(known), [*known, *known]):
        request = game_service_pb2.ListGamesRequest(games=names, pieces=True, observation=True, phrases=True)
        assert list(stub.ListGames(request).games) == [known[name] for name in sorted(set(names))]


def test_which_methods_allow_get_and_which_are_idempotent() -> None:
    levels = {
        method.name: method.GetOptions().idempotency_level
        for service in (game_service_pb2, batch_service_pb2, bot_service_pb2, table_service_pb2)
        for each in service.DESCRIPTOR.services_by_name.values()
        for method in each.methods
    }
    # The request message of a GET appears in URLs and logs, and caches keep the response.
    for_get = {"ListGames", "ListBots", "GetRules"}
    kinds = descriptor_pb2.MethodOptions
    streams = {"Play": kinds.IDEMPOTENCY_UNKNOWN}
    assert levels == {
        name: kinds.NO_SIDE_EFFECTS if name in for_get else streams.get(name, kinds.IDEMPOTENT) for name in levels
    }


def test_list_games_describes_every_game(stub: Any) -> None:
    infos = stub.ListGames(WHOLE).games
    assert [info.name for info in infos] == sorted(game.name for game in engine.games())
    for info, game in zip(infos, engine.games(), strict=True):
        assert (info.min_players, info.max_players) == (game.min_players, game.max_players)
        assert (info.rules_version, info.packed_version) == (game.rules_version, game.packed_version)
        assert list(info.rules_versions) == list(game.rules_versions)
        assert info.packed_size == game.packed_size
        assert info.title
        assert info.outcomes_description
        assert "first_seat" in [option.name for option in info.options]
        assert all(option.title and option.description and option.default_description for option in info.options)
        # The kinds cover the dense ids, and the parts cover the observation, without gaps.
        next_id = 0
        for kind in info.action_kinds:
            assert kind.first_id == next_id
            next_id = kind.last_id + 1
        assert next_id == info.num_actions
        next_offset = 0
        for part in info.observation:
            assert part.offset == next_offset
            size = 1
            for length in part.shape:
                size *= length
            next_offset += size
        assert next_offset == info.observation_length
        assert all(piece.name for piece in info.pieces)


def test_list_games_describes_the_pieces_and_the_fields_that_refer_to_them(stub: Any) -> None:
    for info in stub.ListGames(game_service_pb2.ListGamesRequest(pieces=True, phrases=True)).games:
        assert info.piece_details.WhichOneof("game") == info.name
        assert getattr(info.piece_details, info.name).cards
        kinds = {piece.kind for piece in info.pieces}
        pieces: Any = game_pb2.Pieces.DESCRIPTOR.fields_by_name[info.name].message_type
        piece_kinds = {field.field: field.kind for field in info.piece_fields}
        assert len(piece_kinds) == len(info.piece_fields)
        named = {argument.kind for phrase in info.phrases for argument in phrase.arguments}
        assert set(piece_kinds.values()) | named - {""} == kinds | {"seat"}
        files = (pieces.file, game_pb2.Pieces.DESCRIPTOR.file)
        messages = {message.name: message for file in files for message in file.message_types_by_name.values()}
        for path in piece_kinds:
            message, _, name = path.partition(".")
            assert name in messages[message].fields_by_name
    (discat,) = [
        info for info in stub.ListGames(game_service_pb2.ListGamesRequest(pieces=True)).games if info.name == "discat"
    ]
    piece_kinds = {field.field: field.kind for field in discat.piece_fields}
    assert piece_kinds["DiscatPlay.cards"] == piece_kinds["DiscatEvent.cards"] == "card"
    assert piece_kinds["DiscatEvent.seat"] == piece_kinds["Turn.seat"] == piece_kinds["Score.winners"] == "seat"
    assert "DiscatEvent.draws" not in piece_kinds
    assert {option.name: option.piece_kind for option in discat.options} == {"first_seat": "seat", "up_arrows": "card"}


def test_list_games_describes_limits_and_the_winner(stub: Any) -> None:
    for info in stub.ListGames(game_service_pb2.ListGamesRequest()).games:
        game = engine.game(info.name)
        assert (info.zero_sum, info.lowest_total_wins) == (game.zero_sum, game.lowest_total_wins)
        assert [each.players for each in info.by_players] == list(range(game.min_players, game.max_players + 1))
        for each in info.by_players:
            for message, limits in (
                (each.limits, game.limits(each.players)),
                (each.limits_of_any_options, game.limits_of_any_options(each.players)),
            ):
                assert {field.name: value for field, value in message.ListFields()} == limits._asdict()


def test_list_games_suffices_to_read_an_observation(stub: Any) -> None:
    kinds = {value.number: value.name for value in game_pb2.DESCRIPTOR.enum_types_by_name["ObservationKind"].values}
    assert {kind.value: f"OBSERVATION_KIND_{kind.name}" for kind in ObservationKind}.items() <= kinds.items()
    for info in stub.ListGames(WHOLE).games:
        game = engine.game(info.name)
        layout, known = ObservationLayout(info), ObservationLayout(game.description)
        assert (layout.length, layout.num_features) == (info.observation_length, known.num_features)
        position = game.new_game(game.max_players, seed=3)
        for seat in range(game.max_players):
            planes = layout.planes(position.observation(seat))
            expected = known.planes(position.observation(seat))
            assert list(planes) == list(expected)
            assert all((planes[name] == expected[name]).all() for name in planes)


def test_every_game_has_its_field_in_every_oneof() -> None:
    envelopes: list[type[Message]] = [
        game_pb2.State,
        game_pb2.Options,
        game_pb2.Action,
        game_pb2.View,
        game_pb2.Event,
        game_pb2.ScoreDetail,
    ]
    for envelope in envelopes:
        fields = [field.name for field in envelope.DESCRIPTOR.oneofs_by_name["game"].fields]
        assert sorted(fields) == [each.name for each in engine.games()]


def test_new_game_samples_chance_up_to_the_first_decision(stub: Any, game: Game) -> None:
    for players in range(game.min_players, game.max_players + 1):
        position = new_game(stub, game.name, players, seed=7, game_number=9)
        assert position.turn.kind == game_pb2.TURN_KIND_DECISION
        assert position.turn.seat < players
        assert position.state.rules_version == game.rules_version
        assert (position.state.stream.seed, position.state.stream.game_number) == (7, 9)
        assert position.state.stream.drawn > 0
        assert position.events
        assert in_process(position.state) == game.new_game(players, seed=7, game_number=9)


def test_new_game_with_explicit_chance_stops_at_the_first_chance_event(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, explicit_chance=True)
    assert position.turn == game_pb2.Turn(kind=game_pb2.TURN_KIND_CHANCE)
    assert not position.state.HasField("stream")
    assert not position.events
    assert not position.legal_actions
    assert [each.outcome for each in position.chance_outcomes] == list(range(game.min_players))
    assert all(each.label for each in position.chance_outcomes)


def test_new_game_without_a_seed_takes_a_random_one(stub: Any, game: Game) -> None:
    seeds = {new_game(stub, game.name, game.min_players).state.stream.seed for _ in range(4)}
    assert len(seeds) == 4


def test_new_game_takes_the_seed_0_and_the_largest(stub: Any, game: Game) -> None:
    for seed in 0, MAX_U64:
        position = new_game(stub, game.name, game.min_players, seed=seed, game_number=seed)
        assert position.state.stream.seed == position.state.stream.game_number == seed
        assert in_process(position.state) == game.new_game(game.min_players, seed=seed, game_number=seed)


def test_new_game_derives_the_game_from_its_options(stub: Any, game: Game) -> None:
    request = game_service_pb2.NewGameRequest(players=game.min_players, explicit_chance=True)
    getattr(request.options, game.name).first_seat = 1
    unnamed = stub.NewGame(request)
    request.game = game.name
    assert stub.NewGame(request) == unnamed
    assert in_process(unnamed.position.state) == game.new_game(game.min_players, {"first_seat": 1})
    assert getattr(unnamed.position.state, game.name).options.first_seat == 1


def test_same_seed_and_moves_same_game(stub: Any, game: Game) -> None:
    def play(seed: int) -> list[bytes]:
        first = new_game(stub, game.name, game.max_players, seed=seed)
        positions = [first, *play_on(stub, first, random.Random(4), ACTIONS)]
        return [position.SerializeToString(deterministic=True) for position in positions]

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_parts_are_included_only_on_request(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, seed=1, include=game_pb2.Include())
    action = stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=position.state)).legal_actions[0]
    moved = stub.Apply(game_service_pb2.ApplyRequest(state=position.state, action=action)).position
    for answer in position, moved:
        assert answer.HasField("turn")
        assert answer.events
        assert not answer.legal_actions
        assert not answer.chance_outcomes
        assert not answer.HasField("score")
        assert not answer.updates


@pytest.mark.parametrize("explicit", [False, True], ids=["sampled", "explicit"])
def test_a_game_through_calls_is_the_engine_s(stub: Any, game: Game, explicit: bool) -> None:
    """Compare each response of a whole game with the engine, and each included part with the method for it."""
    players = min(game.min_players + 1, game.max_players)
    chance: dict[str, Any] = {"explicit_chance": True} if explicit else {"seed": 5}
    first = new_game(stub, game.name, players, include=EVERYTHING, **chance)
    twin = game.new_game(players, seed=None if explicit else 5)
    choices, twin_choices = random.Random(3), random.Random(3)
    positions = [first, *play_on(stub, first, choices, EVERYTHING)]
    assert any(position.turn.kind == game_pb2.TURN_KIND_CHANCE for position in positions) == explicit
    for i, position in enumerate(positions):
        assert in_process(position.state) == twin
        check_turn(position.turn, twin)
        check_moves(position.legal_actions, position.chance_outcomes, twin)
        check_score(position.score, twin)
        state = position.state
        assert stub.GetScore(game_service_pb2.GetScoreRequest(state=state)).score == position.score
        listed = stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=state))
        assert listed.turn == position.turn
        assert listed.legal_actions == position.legal_actions
        assert listed.chance_outcomes == position.chance_outcomes
        check_get_position(stub, position)
        for update, seat in zip(position.updates, (1, 0, None), strict=True):
            check_update(update, position)
            assert (update.seat if update.HasField("seat") else None) == seat
            assert stub.GetView(game_service_pb2.GetViewRequest(state=state, seat=seat)).view == update.view
            assert update.view.turn == position.turn
            assert update.view.rules_version == game.rules_version
            assert len(update.events) == len(position.events)
        if i + 1 < len(positions):
            moves = twin.legal_actions() or [outcome for outcome, _ in twin.chance_outcomes()]
            happened = engine.EventLog()
            twin.apply(twin_choices.choice(moves), happened)
            check_events(positions[i + 1].events, happened)


def check_get_position(stub: Any, position: game_pb2.Position) -> None:
    """Check that GetPosition returns the same as the response to the move, without the events."""
    expected = game_pb2.Position.FromString(position.SerializeToString())
    del expected.events[:]
    for update in expected.updates:
        del update.events[:]
    request = game_service_pb2.GetPositionRequest(state=position.state, include=EVERYTHING)
    assert stub.GetPosition(request).position == expected
    bare = stub.GetPosition(game_service_pb2.GetPositionRequest(state=position.state)).position
    for field in ("legal_actions", "chance_outcomes", "score", "updates"):
        expected.ClearField(field)
    assert bare == expected


def check_update(update: game_pb2.ViewerUpdate, position: game_pb2.Position) -> None:
    """Check that a viewer gets its own legal actions and the visible part of the score, as in the position."""
    decides = update.HasField("seat") and position.turn.HasField("seat") and update.seat == position.turn.seat
    assert list(update.legal_actions) == (list(position.legal_actions) if decides else [])
    known = [each.HasField("total") for each in update.score.totals]
    for total, each in zip(position.score.totals, update.score.totals, strict=True):
        assert each.total == (total if each.HasField("total") else 0)
    assert all(known) or not position.score.final
    for field in ("final", "winners", "ranks", "returns"):
        assert getattr(update.score, field) == getattr(position.score, field)
    if all(known):
        assert update.score.detail == position.score.detail


def test_a_viewers_score_has_the_fields_of_a_score() -> None:
    # The same code writes both messages.
    score, viewers = (
        {field.name: (field.number, field.type, field.is_repeated, field.message_type) for field in kind.fields}
        for kind in (game_pb2.Score.DESCRIPTOR, game_pb2.ViewerScore.DESCRIPTOR)
    )
    assert {name: properties for name, properties in score.items() if name != "totals"} == {
        name: properties for name, properties in viewers.items() if name != "totals"
    }


def check_turn(turn: game_pb2.Turn, twin: engine.Position) -> None:
    player = twin.current_player()
    kind = {-1: game_pb2.TURN_KIND_CHANCE, -4: game_pb2.TURN_KIND_OVER}.get(player, game_pb2.TURN_KIND_DECISION)
    assert turn.kind == kind
    assert turn.HasField("seat") == (player >= 0)
    assert turn.seat == max(player, 0)


def check_moves(actions: Any, outcomes: Any, twin: engine.Position) -> None:
    assert [action.id for action in actions] == twin.legal_actions()
    assert [(each.outcome, each.weight) for each in outcomes] == twin.chance_outcomes()
    assert all(action.label == twin.action_label(action.id) for action in actions)
    assert all(each.label == twin.outcome_label(each.outcome) for each in outcomes)
    assert all(action.WhichOneof("game") == twin.game.name for action in actions)


def check_score(score: game_pb2.Score, twin: engine.Position) -> None:
    assert list(score.totals) == twin.totals()
    assert score.final == twin.is_terminal()
    assert list(score.winners) == (twin.winners() or [])
    assert list(score.ranks) == (twin.ranks() or [])
    assert list(score.returns) == (twin.returns() if score.final else [])
    assert score.detail.WhichOneof("game") == twin.game.name


def check_events(events: Any, happened: Sequence[engine.Event]) -> None:
    assert [list(event.seen_whole_by) for event in events] == [sorted(event.seen_by or ()) for event in happened]
    assert [event.everybody for event in events] == [event.seen_by is None for event in happened]
    assert all(event.label for event in events)


def test_an_action_is_accepted_typed_by_id_or_both(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, seed=8)
    for action in position.legal_actions:
        typed = game_pb2.Action()
        typed.CopyFrom(action)
        typed.ClearField("id")
        typed.label = "labels are not read"
        by_id = game_pb2.Action(id=action.id)
        answers = [
            stub.Apply(game_service_pb2.ApplyRequest(state=position.state, action=each))
            for each in (action, typed, by_id)
        ]
        assert answers[0] == answers[1] == answers[2]


def test_repeated_calls_on_a_sampled_state_have_the_same_outcome(stub: Any, game: Game) -> None:
    """A caller cannot get another outcome by repeating a move on the same state."""
    position = new_game(stub, game.name, game.min_players)
    request = game_service_pb2.ApplyRequest(state=position.state, action=position.legal_actions[0])
    assert stub.Apply(request) == stub.Apply(request)


def test_resample_continues_with_the_stream_of_the_request(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, seed=8)
    request = game_service_pb2.ResampleRequest(state=position.state, seat=1, seed=3, game_number=4)
    drawn = stub.Resample(request).state
    assert (drawn.stream.seed, drawn.stream.game_number) == (3, 4)
    assert in_process(drawn) == in_process(position.state).resample(1, 3, 4)
    assert stub.Resample(request).state == drawn
    assert drawn != position.state


def test_resample_without_a_seed_takes_a_random_one(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, seed=8)
    request = game_service_pb2.ResampleRequest(state=position.state, seat=1)
    assert len({stub.Resample(request).state.stream.seed for _ in range(4)}) == 4


def test_resample_leaves_explicit_chance_explicit(stub: Any, game: Game) -> None:
    position = new_game(stub, game.name, game.min_players, explicit_chance=True)
    drawn = stub.Resample(game_service_pb2.ResampleRequest(state=position.state, seat=0, seed=1)).state
    assert not drawn.HasField("stream")


def test_a_state_survives_json(stub: Any, game: Game) -> None:
    """JavaScript reads numbers above 2^53 exactly only as strings."""
    first = new_game(stub, game.name, game.min_players, seed=MAX_U64, game_number=2**53 + 1)
    *_, last = play_on(stub, first, random.Random(1), ACTIONS)
    for position in first, last:
        text = json_format.MessageToJson(position.state)
        assert '"seed": "18446744073709551615"' in text
        assert '"gameNumber": "9007199254740993"' in text
        state = json_format.Parse(text, game_pb2.State())
        assert state == position.state
        before = stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=position.state))
        assert stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=state)) == before


def test_responses_count_plies_and_report_the_end(stub: Any, game: Game) -> None:
    first = new_game(stub, game.name, game.min_players, seed=5)
    assert (first.ply, first.state.ply, first.HasField("end")) == (0, 0, False)
    for ply, position in enumerate(play_on(stub, first, random.Random(2), EVERYTHING), 1):
        over = position.turn.kind == game_pb2.TURN_KIND_OVER
        views = [update.view for update in position.updates]
        message: Any
        for message in (position, position.state, *views):
            assert message.ply == ply
        for message in (position, *views):
            assert message.HasField("end") == over
    reached = in_process(position.state)
    end = getattr(position.end, game.name)
    assert (end.kind, end.seat) == (reached.end(), reached.ended_by())
    assert end == getattr(position.state, game.name).end
    assert stub.GetView(game_service_pb2.GetViewRequest(state=position.state)).view.end == position.updates[-1].view.end


def test_an_impossible_ply_or_end_is_refused_by_its_field(stub: Any, game: Game) -> None:
    for field in "ply", f"{game.name}.end":
        state = new_game(stub, game.name, game.max_players, seed=5).state
        if field == "ply":
            state.ply = game.limits_of_any_options(game.max_players).max_game_length + 1
        else:
            getattr(state, game.name).end.kind = 1
        refused = refusal(stub.GetScore, game_service_pb2.GetScoreRequest(state=state))
        assert (refused.reason, refused.field) == ("INVALID_STATE", f"state.{field}")
        assert refused.metadata["game"] == game.name
