"""BotService in every game."""

from typing import Any

import grpc
import pytest

from chatiere import bots
from chatiere.bots.ladder import ladder
from chatiere.bots.tree import tree_bytes
from chatiere.engine import Game
from chatiere.service.base.settings import Settings
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import bot_service_pb2_grpc, game_pb2, game_service_pb2

from .process import wait_until
from .support import ALL_DOORS, PATIENCE, Door, Running, new_game, only_grpc, refusal, running

DOORS = ALL_DOORS

# A time limit, in seconds, that is longer than a test waits. It is also the maximum time that a bot may take.
LONG = 600


def bot_stub(channel: grpc.Channel) -> Any:
    return bot_service_pb2_grpc.BotServiceStub(channel)


@pytest.fixture
def suggest(server: Running) -> Any:
    return bot_stub(server.channel).Suggest


def begun(stub: Any, game: Game, *, explicit: bool = False) -> game_pb2.Position:
    include = game_pb2.Include(legal_actions=True)
    if not explicit:
        return new_game(stub, game.name, game.max_players, seed=5, include=include)
    position = new_game(stub, game.name, game.max_players, explicit_chance=True)
    while position.turn.kind == game_pb2.TURN_KIND_CHANCE:
        listed = stub.ListLegalActions(game_service_pb2.ListLegalActionsRequest(state=position.state))
        outcome = listed.chance_outcomes[0].outcome
        request = game_service_pb2.ApplyRequest(state=position.state, outcome=outcome, include=include)
        position = stub.Apply(request).position
    return position


def test_the_bots_are_the_library_s(server: Running, game: Game) -> None:
    found = bot_stub(server.channel).ListBots(pb.ListBotsRequest(game=game.name)).bots
    assert [bot.name for bot in found] == bots.names(game)
    most = {"playouts": Settings().max_playouts, "milliseconds": 1000 * Settings().max_deadline}
    for bot, info in zip(found, bots.infos(game), strict=True):
        assert (bot.name, bot.title, bot.description) == info[:3]
        assert bot.title
        assert bot.description
        parameters = [
            (each.name, each.lowest, each.highest, each.default_value if each.HasField("default_value") else None)
            for each in bot.parameters
        ]
        assert parameters == [
            (each.name, each.lowest, min(each.highest, most.get(each.bound, each.highest)), each.default)
            for each in info.parameters
        ]
        assert all(each.title and each.description for each in bot.parameters)
        # Only bots that search are slow, and only they have parameters.
        assert bot.HasField("typical_time") == bool(bot.parameters)
        if bot.parameters:
            assert 1e-3 < bot.typical_time.ToNanoseconds() / 1e9 < 1


def test_the_ladder_is_the_library_s(server: Running, game: Game) -> None:
    found = bot_stub(server.channel).ListBots(pb.ListBotsRequest(game=game.name)).ladder
    assert [
        (rung.name, rung.title, rung.bot, rung.strength, rung.typical_time.ToNanoseconds() / 1e9) for rung in found
    ] == [pytest.approx(tuple(rung[:5])) for rung in ladder(game)]
    numbers = range(game.min_players, game.max_players + 1)
    assert [[rung.bots_by_players.get(players, rung.bot) for players in numbers] for rung in found] == [
        [rung.bot_for(players) for players in numbers] for rung in ladder(game)
    ]
    french = (("accept-language", "fr"),)
    (kitten, *_) = bot_stub(server.channel).ListBots(pb.ListBotsRequest(game=game.name), metadata=french).ladder
    assert kitten.title == "Chaton"


def test_rungs_above_the_limit_are_left_out(door: Door, game: Game) -> None:
    numbers = range(game.min_players, game.max_players + 1)
    budgets = {
        rung.name: max(bots.get(rung.bot_for(players), game, players).budget for players in numbers)
        for rung in ladder(game)
    }
    most = max(budgets.values()) - 1
    with running(Settings(address="127.0.0.1:0", max_playouts=most), door) as server:
        found = bot_stub(server.channel).ListBots(pb.ListBotsRequest(game=game.name)).ladder
        assert [rung.name for rung in found] == [name for name, budget in budgets.items() if budget <= most]
        assert 0 < len(found) < len(budgets)


@pytest.mark.parametrize("explicit", [False, True])
def test_every_bot_suggests_a_legal_action(stub: Any, suggest: Any, game: Game, explicit: bool) -> None:
    position = begun(stub, game, explicit=explicit)
    for name in bots.names(game):
        request = pb.SuggestRequest(state=position.state, bot=name, seed=3)
        found = suggest(request)
        assert found.seat == position.turn.seat
        assert found.action in position.legal_actions
        assert suggest(request) == found
        if found.ratings:
            assert [rating.id for rating in found.ratings] == [action.id for action in position.legal_actions]
            assert sum(rating.share for rating in found.ratings) == pytest.approx(1)
            assert all(-1 <= rating.value <= game.max_players - 1 for rating in found.ratings)
    assert suggest(pb.SuggestRequest(state=position.state, bot="random")).action in position.legal_actions


def test_suggestions_do_not_depend_on_what_the_seat_cannot_know(stub: Any, suggest: Any, game: Game) -> None:
    position = begun(stub, game)
    resample = game_service_pb2.ResampleRequest(state=position.state, seat=position.turn.seat, seed=9)
    drawn = stub.Resample(resample).state
    assert drawn != position.state
    for bot in [*bots.names(game), "flat:playouts=50", "ismcts:simulations=50"]:
        found = [suggest(pb.SuggestRequest(state=state, bot=bot, seed=3)) for state in (position.state, drawn)]
        assert found[0] == found[1]


def test_unknown_bots_are_refused(server: Running, stub: Any, suggest: Any, game: Game) -> None:
    state = begun(stub, game).state
    for bot, reason, words in [
        ("", "MISSING_FIELD", "the request names no bot; known bots: random, "),
        ("nobody", "INVALID_BOT", "unknown bot 'nobody'"),
        ("tiger", "INVALID_BOT", "'tiger' is the name of a rung of ListBots.ladder: send the rung's bot, such as '"),
        ("flat:playouts=0", "INVALID_BOT", "playouts must be a whole number from 1 to 1000000"),
        ("flat:playouts=1000000000", "INVALID_BOT", "playouts must be a whole number from 1 to 1000000"),
        ("random:luck=1", "INVALID_BOT", "unknown parameter 'luck'"),
    ]:
        refused = refusal(suggest, pb.SuggestRequest(state=state, bot=bot))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
        assert words in refused.message
        assert refused.field == "bot"
    refused = refusal(bot_stub(server.channel).ListBots, pb.ListBotsRequest(game="chess"))
    assert refused.reason == "UNKNOWN_GAME"


def test_states_without_a_decision_are_refused(stub: Any, suggest: Any, game: Game) -> None:
    refused = refusal(suggest, pb.SuggestRequest(bot="random"))
    assert (refused.reason, refused.field) == ("MISSING_FIELD", "state")
    pending = new_game(stub, game.name, game.max_players, explicit_chance=True)
    if pending.turn.kind == game_pb2.TURN_KIND_CHANCE:
        refused = refusal(suggest, pb.SuggestRequest(state=pending.state, bot="random"))
        assert (refused.reason, refused.field) == ("CHANCE_PENDING", "state")


def test_a_budget_above_the_limit_is_refused(door: Door, game: Game) -> None:
    with running(Settings(address="127.0.0.1:0", max_playouts=10), door) as server:
        state, suggest = begun(server.stub, game).state, bot_stub(server.channel).Suggest
        assert suggest(pb.SuggestRequest(state=state, bot="flat:playouts=10")).ratings
        refused = refusal(suggest, pb.SuggestRequest(state=state, bot="flat:playouts=11"))
        assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", "bot")
        assert (refused.metadata["limit"], refused.metadata["asked"]) == ("10", "11")
        assert suggest(pb.SuggestRequest(state=state, bot="ismcts:milliseconds=1")).ratings


@pytest.mark.parametrize(
    ("bot", "limit", "asked"),
    [
        ("flat:playouts=1001", 1000, 1001),
        ("ismcts:simulations=1001", 1000, 1001),
        ("ismcts:milliseconds=2001", 2000, 2001),
    ],
)
def test_a_bot_that_needs_more_than_the_limit_is_refused_and_not_listed(
    door: Door, game: Game, bot: str, limit: int, asked: int
) -> None:
    settings = Settings(address="127.0.0.1:0", max_playouts=1000, default_deadline=1, max_deadline=2)
    with running(settings, door) as server:
        bots = bot_stub(server.channel)
        refused = refusal(bots.Suggest, pb.SuggestRequest(state=begun(server.stub, game).state, bot=bot))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "BATCH_TOO_LARGE")
        assert (refused.metadata["limit"], refused.metadata["asked"]) == (str(limit), str(asked))
        assert refused.retry_after is None
        name, _, rest = bot.partition(":")
        (listed,) = (each for each in bots.ListBots(pb.ListBotsRequest(game=game.name)).bots if each.name == name)
        highest = {each.name: each.highest for each in listed.parameters}
        assert highest[rest.partition("=")[0]] == limit


def test_the_processor_time_of_searches_has_a_separate_metric(server: Running, suggest: Any, game: Game) -> None:
    spent = server.sample("chatiere_search_seconds_total", game=game.name)
    state = begun(server.stub, game).state
    assert server.sample("chatiere_search_seconds_total", game=game.name) == spent
    suggest(pb.SuggestRequest(state=state, bot="ismcts:simulations=50"))
    assert server.sample("chatiere_search_seconds_total", game=game.name) > spent


@only_grpc
def test_a_suggestion_ends_when_its_client_leaves(door: Door, game: Game) -> None:
    """The only batch thread is free for the next suggestion as soon as this one has ended."""
    settings = Settings(address="127.0.0.1:0", batch_threads=1, default_deadline=LONG, max_deadline=LONG)
    with running(settings, door) as server:
        state, suggest = begun(server.stub, game).state, bot_stub(server.channel).Suggest
        call = suggest.future(pb.SuggestRequest(state=state, bot=f"ismcts:milliseconds={LONG * 1000}"))
        wait_until(lambda: tree_bytes() or call.done(), "the search has begun")
        assert not call.done()
        call.cancel()
        assert suggest(pb.SuggestRequest(state=state, bot="random"), timeout=PATIENCE).HasField("action")
