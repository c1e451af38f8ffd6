"""Analyse: results depend only on the seed and on what the seat knows, not on the range. Errors name the field."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from tools.sample_records import SAMPLES, record_of

from chatiere import engine
from chatiere.bots.bot import Decisions
from chatiere.bots.hosting import decisions_at, luck
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.tree import tree_bytes
from chatiere.engine import EngineError, Game, Position
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.record import Kind, Record
from chatiere.engine.wire import Reader
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import hold_nothing
from chatiere.service.calls.bot_service import BotService
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import bot_service_pb2_grpc
from chatiere.v1.record_pb2 import GameRecord

from .process import wait_until
from .support import ALL_DOORS, PATIENCE, Door, Running, only_grpc, refusal, running

DOORS = ALL_DOORS

FEW = 40


@pytest.fixture
def analyse(server: Running) -> Any:
    return bot_service_pb2_grpc.BotServiceStub(server.channel).Analyse


def sampled(game: Game, plies: int, seed: int = 3) -> GameRecord:
    """Return the record of a random game with sampled chance."""
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=game.max_players)
    record.stream.seed = seed
    position, choices = game.new_game(game.max_players, seed=seed), random.Random(seed)
    while not position.is_terminal() and len(record.actions) < plies:
        record.actions.append(choices.choice(position.legal_actions()))
        position.apply(record.actions[-1])
    return record


def test_each_judgement_equals_the_bots_judgement(analyse: Any, game: Game) -> None:
    record = sampled(game, 12)
    found = analyse(pb.AnalyseRequest(record=record, simulations=FEW, seed=9)).decisions
    position = game.new_game(game.max_players, seed=3)
    bot = IsmctsBot(simulations=FEW)
    assert [each.ply for each in found] == list(range(len(record.actions)))
    for each, action in zip(found, record.actions, strict=True):
        number = int(luck(9, [0], [each.ply])[0])
        judgement = bot.judge(decisions_at(position, bot, number, hides_forced=True))
        legal = position.legal_actions()
        visits = {id: round(share * FEW) for id, share in zip(legal, judgement.shares, strict=True)}
        values = dict(zip(legal, judgement.values, strict=True))
        assert each.seat == position.current_player()
        assert each.played.action.id == action
        assert each.best[0].action.id == judgement.actions[0]
        assert len(each.best) == min(5, len(legal))
        for tried in (each.played, *each.best):
            assert tried.action.label == position.action_label(tried.action.id)
            assert tried.visits == visits[tried.action.id]
            assert tried.HasField("value") == (tried.visits > 0)
            if tried.visits:
                assert tried.value == values[tried.action.id]
        # After the bot's choice, the actions are sorted by visits.
        others = [tried.visits for tried in each.best[1:]]
        assert others == sorted(others, reverse=True)
        assert others == sorted((n for id, n in visits.items() if id != judgement.actions[0]), reverse=True)[:4]
        assert each.value == each.best[0].value
        assert each.HasField("loss") == (each.played.visits > 0)
        if each.HasField("loss"):
            assert each.loss == max(0, each.value - each.played.value)
        position.apply(action)


def test_a_range_of_plies_gives_part_of_the_whole_analysis(analyse: Any, game: Game) -> None:
    record = sampled(game, 9)
    whole = analyse(pb.AnalyseRequest(record=record, simulations=FEW, seed=9)).decisions
    assert whole == analyse(pb.AnalyseRequest(record=record, simulations=FEW, seed=9)).decisions
    plies = len(record.actions)
    for first, last in ((0, 0), (0, 1), (2, 5), (plies - 1, plies), (plies, plies)):
        request = pb.AnalyseRequest(record=record, from_ply=first, to_ply=last, simulations=FEW, seed=9)
        assert analyse(request).decisions == whole[first:last]
    assert whole != analyse(pb.AnalyseRequest(record=record, simulations=FEW, seed=10)).decisions
    # Moves after the range are not played.
    record.actions[5] = 2**32 - 1
    assert analyse(pb.AnalyseRequest(record=record, to_ply=5, simulations=FEW, seed=9)).decisions == whole[:5]


def test_many_decisions_are_searched_in_parts(monkeypatch: pytest.MonkeyPatch, game: Game) -> None:
    """Searching in parts saves memory and does not change the results."""
    service = BotService(Settings(), Metrics(CollectorRegistry()))
    request = pb.AnalyseRequest(record=sampled(game, 7), simulations=FEW, seed=9).SerializeToString()
    taken: list[int] = []
    worlds = Decisions.worlds

    def watched(decisions: Decisions, *arguments: Any) -> Any:
        taken.append(tree_bytes())
        return worlds(decisions, *arguments)

    monkeypatch.setattr(Decisions, "worlds", watched)
    whole = service.answer("analyse", request, Cancellation(), hold_nothing)
    at_once = max(taken)
    taken.clear()
    monkeypatch.setattr("chatiere.bots.analysis._AT_ONCE", 2 * FEW)
    assert service.answer("analyse", request, Cancellation(), hold_nothing) == whole
    assert max(taken) < at_once


def engine_record(record: GameRecord) -> Record:
    game = engine.game(record.game)
    options = engine.codec(game.name).read_options(Reader(getattr(record.options, game.name)))
    stream = (record.stream.seed, record.stream.game_number) if record.HasField("stream") else None
    return Record(game, record.rules_version, record.players, options, stream, record.outcomes.outcomes, record.actions)


def at(record: GameRecord, ply: int) -> Position | None:
    """Return the position at a decision of a record, or None if the record cannot be played so far."""
    plain = engine_record(record)
    position = plain.begin()
    done = 0
    try:
        for kind, _, move in plain.moves(position):
            if kind is Kind.ACTION and done == ply:
                return position
            position.apply(move)
            done += kind is Kind.ACTION
    except EngineError:
        return None
    return None


def is_hidden(record: GameRecord, other: GameRecord, ply: int) -> bool:
    """Return whether two records differ, at a ply, only in information that is hidden from the seat to act."""
    first, second = at(record, ply), at(other, ply)
    if first is None or second is None or first.pack() == second.pack():
        return False
    actor = first.current_player()
    if second.current_player() != actor or record.actions[ply] not in second.legal_actions():
        return False
    return first.resample(actor, 1).pack() == second.resample(actor, 1).pack()


def swapped(record: GameRecord) -> Iterator[GameRecord]:
    """Yield copies of a record with explicit chance. In each copy, two other outcomes are exchanged."""
    count = min(40, len(record.outcomes.outcomes))
    for first, second in itertools.combinations(range(count), 2):
        other = GameRecord()
        other.CopyFrom(record)
        outcomes = other.outcomes.outcomes
        outcomes[first], outcomes[second] = outcomes[second], outcomes[first]
        yield other


def reseeded(record: GameRecord) -> Iterator[GameRecord]:
    """Yield copies of a record with sampled chance. Each has another seed."""
    for seed in range(100, 400):
        other = GameRecord()
        other.CopyFrom(record)
        other.stream.seed = seed
        yield other


def test_hidden_information_does_not_change_an_analysis(analyse: Any, game: Game) -> None:
    """The hidden information consists of the chance outcomes that other seats saw, and of all later outcomes."""
    sample = record_of(next(path for path in SAMPLES if path.parent.name == game.name))
    drawn = sampled(game, 4)
    candidates = [(sample, other) for other in swapped(sample)] + [(drawn, other) for other in reseeded(drawn)]
    pairs = ((record, other, ply) for record, other in candidates for ply in range(4) if is_hidden(record, other, ply))
    record, other, ply = next(pairs)
    request = pb.AnalyseRequest(record=record, from_ply=ply, to_ply=ply + 1, simulations=FEW, seed=9)
    found = analyse(request)
    request.record.CopyFrom(other)
    assert analyse(request) == found


def test_an_invalid_analysis_is_refused_with_its_field(analyse: Any, game: Game) -> None:
    record = sampled(game, 6)

    def refused(**fields: Any) -> tuple[str, str]:
        found = refusal(analyse, pb.AnalyseRequest(**fields))
        assert found.code == grpc.StatusCode.INVALID_ARGUMENT
        return found.reason, found.field

    assert refused() == ("MISSING_FIELD", "record")
    assert refused(record=GameRecord(game="chess")) == ("UNKNOWN_GAME", "record.game")
    assert refused(record=record, from_ply=7) == ("INVALID_RANGE", "from_ply")
    assert refused(record=record, to_ply=7) == ("INVALID_RANGE", "to_ply")
    assert refused(record=record, from_ply=3, to_ply=2) == ("INVALID_RANGE", "to_ply")
    for wrong in (0, 1_000_001):
        assert refused(record=record, simulations=wrong) == ("INVALID_BATCH", "simulations")
    record.players = 9
    assert refused(record=record) == ("INVALID_PLAYERS", "record.players")
    record.players = game.max_players
    record.rules_version = 99
    assert refused(record=record)[0] == "UNSUPPORTED_RULES_VERSION"
    record.rules_version = game.rules_version
    record.actions[4] = 2**32 - 1
    assert refused(record=record) == ("INVALID_ACTION", "record.actions[4]")
    record.ClearField("chance")
    assert refused(record=record) == ("MISSING_FIELD", "record.stream")


def test_an_analysis_above_the_limit_is_refused(door: Door, game: Game) -> None:
    record = sampled(game, 6)
    with running(Settings(address="127.0.0.1:0", max_playouts=100), door) as server:
        analyse = bot_service_pb2_grpc.BotServiceStub(server.channel).Analyse
        assert len(analyse(pb.AnalyseRequest(record=record, to_ply=5, simulations=20)).decisions) == 5
        refused = refusal(analyse, pb.AnalyseRequest(record=record, from_ply=2, simulations=30))
        assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", "to_ply")
        assert (refused.metadata["limit"], refused.metadata["asked"], refused.metadata["last_ply"]) == (
            "100",
            "120",
            "5",
        )
        # The number of simulations is the default (1,000).
        assert refusal(analyse, pb.AnalyseRequest(record=record, to_ply=1)).reason == "BATCH_TOO_LARGE"


def test_a_response_above_the_limit_is_refused_with_the_last_ply_that_fits(door: Door, game: Game) -> None:
    record = sampled(game, 6)
    with running(Settings(address="127.0.0.1:0"), door) as server:
        analyse = bot_service_pb2_grpc.BotServiceStub(server.channel).Analyse
        whole = analyse(pb.AnalyseRequest(record=record, simulations=FEW, seed=9))
    most = sum(each.ByteSize() for each in whole.decisions[:4])
    with running(Settings(address="127.0.0.1:0", max_answer_bytes=most), door) as server:
        analyse = bot_service_pb2_grpc.BotServiceStub(server.channel).Analyse
        refused = refusal(analyse, pb.AnalyseRequest(record=record, simulations=FEW, seed=9))
        assert (refused.reason, refused.metadata["last_ply"]) == ("BATCH_TOO_LARGE", "4")
        assert len(analyse(pb.AnalyseRequest(record=record, to_ply=4, simulations=FEW, seed=9)).decisions) == 4


@only_grpc
def test_an_analysis_ends_when_its_client_leaves(door: Door, game: Game) -> None:
    """The only batch thread is free for another call as soon as the analysis has ended."""
    record, simulations, longer = sampled(game, 10), 1_000_000, 10 * PATIENCE
    settings = Settings(
        address="127.0.0.1:0",
        batch_threads=1,
        max_playouts=len(record.actions) * simulations,
        # Only the client's cancellation can end the analysis in time.
        default_deadline=longer,
        max_deadline=longer,
    )
    with running(settings, door) as server:
        analyse = bot_service_pb2_grpc.BotServiceStub(server.channel).Analyse
        call = analyse.future(pb.AnalyseRequest(record=record, simulations=simulations))
        wait_until(lambda: tree_bytes() or call.done(), "the search has begun")
        assert not call.done()
        call.cancel()
        assert analyse(pb.AnalyseRequest(record=record, to_ply=1, simulations=1), timeout=PATIENCE).decisions
