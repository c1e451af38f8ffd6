"""The exceptions, timeouts and retries of the clients."""

import pickle
import socket
import threading

import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from tools.cutting_proxy import cutting_proxy
from tools.over import over_names

from chatiere import engine
from chatiere.clients import CHANNEL_OPTIONS, AsyncClient, ChatiereError, Client, TransportError
from chatiere.clients.calls import errors
from chatiere.v1.game_pb2 import Action, State

from .conftest import Ask, MakeFake

GAMES = [game.name for game in engine.games()]


def fewest(name: str) -> int:
    return engine.game(name).min_players


def error_of(ask: Ask, *arguments: object, **options: object) -> ChatiereError:
    with pytest.raises(ChatiereError) as raised:
        ask(*arguments, **options)
    return raised.value


def test_an_unknown_game_is_refused_with_the_known_ones(ask: Ask) -> None:
    error = error_of(ask, "new_game", "tarock", 3)
    assert type(error) is ChatiereError
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_GAME")
    assert error.metadata["games"] == ", ".join(GAMES)
    assert [violation.field for violation in error.violations] == ["game"]
    assert "tarock" in error.message
    assert str(error) == f"UNKNOWN_GAME: {error.message}"


def test_a_call_cancelled_while_its_status_arrives_is_cancelled() -> None:
    details = status_pb2.Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]).SerializeToString()
    metadata = grpc.aio.Metadata(("grpc-status-details-bin", details))
    call = grpc.aio.AioRpcError(grpc.StatusCode.CANCELLED, grpc.aio.Metadata(), metadata, "Locally cancelled")
    error = errors.error_of(call)
    assert type(error) is TransportError
    assert (error.code, error.message) == (grpc.StatusCode.CANCELLED, "Locally cancelled")


@over_names
def test_too_many_players_are_refused_with_the_limit(ask: Ask, name: str) -> None:
    error = error_of(ask, "new_game", name, 99)
    assert error.reason == "INVALID_PLAYERS"
    assert error.metadata["max_players"] == str(engine.game(name).max_players)
    assert [violation.field for violation in error.violations] == ["players"]


@over_names
def test_an_illegal_action_names_actor_move_and_rule(ask: Ask, name: str) -> None:
    position = engine.game(name).new_game(fewest(name), seed=1)
    state = ask("new_game", name, fewest(name), seed=1).state
    while len(position.legal_actions()) == engine.game(name).num_distinct_actions:
        state = ask("apply", state, position.legal_actions()[0]).state
        position.apply(position.legal_actions()[0])
    illegal = min(set(range(engine.game(name).num_distinct_actions)) - set(position.legal_actions()))
    error = error_of(ask, "apply", state, illegal)
    assert error.reason == "ILLEGAL_ACTION"
    assert error.metadata["actor"] == str(position.current_player())
    assert error.metadata["move"] == str(illegal)
    assert error.metadata["rule"].startswith(f"{name}.md: ")
    assert error.violations


@over_names
def test_an_id_out_of_the_game_s_range_is_refused_by_its_field(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    error = error_of(ask, "apply", state, engine.game(name).num_distinct_actions)
    assert error.reason == "INVALID_ACTION"
    assert [violation.field for violation in error.violations] == ["action.id"]
    assert error.violations[0].description in error.message


@over_names
def test_an_action_that_differs_from_its_id_is_refused(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    first, second = ask("list_legal_actions", state).legal_actions[:2]
    wrong = Action()
    wrong.CopyFrom(first)
    wrong.id = second.id
    error = error_of(ask, "apply", state, wrong)
    assert (error.reason, error.metadata["typed_id"]) == ("ACTION_MISMATCH", str(first.id))


def test_a_state_without_a_game_is_refused_by_its_field(ask: Ask) -> None:
    methods = ("list_legal_actions", "get_position", "get_score", "get_view")
    for method, *arguments in (*((method,) for method in methods), ("resample", 0)):
        error = error_of(ask, method, State(), *arguments)
        assert type(error) is ChatiereError
        assert [violation.field.split(".")[0] for violation in error.violations] == ["state"]


def test_errors_can_be_pickled(ask: Ask) -> None:
    error = error_of(ask, "new_game", "tarock", 3)
    again = pickle.loads(pickle.dumps(error))
    assert vars(again) == vars(error)
    assert type(again) is ChatiereError


def test_a_call_to_a_port_without_a_server_is_unavailable(ask_at: Ask) -> None:
    with socket.socket() as held:
        # The socket is bound, so that no other process can use the port, but it does not listen.
        held.bind(("127.0.0.1", 0))
        error = error_of(ask_at, f"127.0.0.1:{held.getsockname()[1]}", "list_games")
    assert type(error) is TransportError
    assert (error.code, error.reason, error.metadata, error.violations) == (grpc.StatusCode.UNAVAILABLE, "", {}, ())
    assert str(error).startswith("UNAVAILABLE: ")


def test_unavailable_is_retried(ask_at: Ask, make_fake: MakeFake) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        if call < 4:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")

    servicer, address = make_fake(answer)
    assert ask_at(address, "list_games") == []
    assert servicer.calls == 4


def test_retries_of_unavailable_are_limited(ask_at: Ask, make_fake: MakeFake) -> None:
    servicer, address = make_fake(lambda call, context: context.abort(grpc.StatusCode.UNAVAILABLE, "never"))
    # Time spent on establishing the connection to a distant service does not count as an attempt.
    with cutting_proxy(address, 0, delay=0.3) as (_, distant):
        error = error_of(ask_at, distant, "list_games")
    assert type(error) is TransportError
    assert (error.code, error.message) == (grpc.StatusCode.UNAVAILABLE, "never")
    assert servicer.calls == 5


def test_a_call_is_not_retried_once_its_response_has_begun(ask_at: Ask, make_fake: MakeFake) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        context.send_initial_metadata(())
        context.abort(grpc.StatusCode.UNAVAILABLE, "broken")

    servicer, address = make_fake(answer)
    error = error_of(ask_at, address, "list_games")
    assert (type(error), error.code, servicer.calls) == (TransportError, grpc.StatusCode.UNAVAILABLE, 1)


@pytest.mark.parametrize("code", [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL])
def test_other_codes_are_not_retried(ask_at: Ask, make_fake: MakeFake, code: grpc.StatusCode) -> None:
    servicer, address = make_fake(lambda call, context: context.abort(code, "no"))
    error = error_of(ask_at, address, "list_games")
    assert (error.code, error.message) == (code, "no")
    assert servicer.calls == 1


def test_a_given_channel_retries_by_its_options(make_fake: MakeFake) -> None:
    servicer, address = make_fake(lambda call, context: context.abort(grpc.StatusCode.UNAVAILABLE, "never"))
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel, pytest.raises(TransportError):
        Client(channel).list_games()
    assert servicer.calls == 5
    with grpc.insecure_channel(address) as channel, pytest.raises(TransportError):
        Client(channel).list_games()
    assert servicer.calls == 6


def test_a_call_has_a_deadline_by_default(ask_at: Ask, make_fake: MakeFake) -> None:
    remaining = []
    _, address = make_fake(lambda call, context: remaining.append(context.time_remaining()))
    ask_at(address, "list_games")
    ask_at(address, "list_games", timeout=1000)
    # The times are in seconds, and are rounded up on the wire.
    assert remaining[0] < 20 < remaining[1] < 2000


def test_a_call_ends_at_its_deadline(ask_at: Ask, make_fake: MakeFake) -> None:
    gone = threading.Event()

    def wait(call: int, context: grpc.ServicerContext) -> None:
        context.add_callback(gone.set)
        gone.wait()

    _, address = make_fake(wait)
    error = error_of(ask_at, address, "list_games", timeout=0.2)
    assert type(error) is TransportError
    assert error.code == grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_client_gives_its_calls_its_deadline(make_fake: MakeFake) -> None:
    remaining = []
    _, address = make_fake(lambda call, context: remaining.append(context.time_remaining()))
    with Client(address, timeout=500) as client:
        client.list_games()
    assert 20 < remaining[0] < 1000


def test_the_details_of_a_status_are_read_if_they_are_chatiere_s(ask_at: Ask, make_fake: MakeFake) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        details = []
        for domain in ("example.com", "chatiere")[:call]:
            details.append(any_pb2.Any())
            details[-1].Pack(error_details_pb2.ErrorInfo(reason="INTERNAL", domain=domain))
        status = status_pb2.Status(code=grpc.StatusCode.INTERNAL.value[0], message="broken", details=details)
        context.abort_with_status(rpc_status.to_status(status))

    _, address = make_fake(answer)
    error = error_of(ask_at, address, "list_games")
    assert (type(error), error.reason) == (TransportError, "")
    error = error_of(ask_at, address, "list_games")
    assert (type(error), error.reason) == (ChatiereError, "INTERNAL")


def test_a_call_of_a_missing_method_is_unimplemented(ask_at: Ask, make_fake: MakeFake) -> None:
    _, address = make_fake(lambda call, context: None)
    error = error_of(ask_at, address, "new_game", GAMES[0], 2)
    assert type(error) is TransportError
    assert error.code == grpc.StatusCode.UNIMPLEMENTED


async def test_labels_and_errors_in_the_language_of_the_client(address: str) -> None:
    rules = {"fr": "au premier tour de la partie, on joue une seule carte", None: ""}
    for language, words in rules.items():
        with Client(address, language=language) as client:
            state = client.new_game("discat", 2, seed=1).state
            label = client.list_legal_actions(state).legal_actions[0].label
            with pytest.raises(ChatiereError) as raised:
                client.apply(state, 1)
        async with AsyncClient(address, language=language) as aio:
            assert (await aio.list_legal_actions(state)).legal_actions[0].label == label
            with pytest.raises(ChatiereError) as raised_later:
                await aio.apply(state, 1)
        assert label.startswith("play " if language is None else "jouer ")
        assert raised.value.localized == raised_later.value.localized == words
        assert pickle.loads(pickle.dumps(raised.value)).localized == words


def test_an_invalid_language_is_refused(address: str) -> None:
    with Client(address, language="xx-") as client:
        error = error_of(lambda method: getattr(client, method)(), "list_games")
    assert (error.reason, error.metadata["metadata"]) == ("INVALID_LANGUAGE", "accept-language")
