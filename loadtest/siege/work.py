"""A table of methods whose calls are cheap to send and cost the server tens of milliseconds or more."""

import hashlib
import random
from collections.abc import Callable, Iterator

from chatiere import engine
from chatiere.engine import Game
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1 import bot_service_pb2 as bots
from chatiere.v1 import game_service_pb2 as games
from chatiere.v1 import table_service_pb2 as tables
from chatiere.v1.game_pb2 import TURN_KIND_OVER, State, ViewerUpdate
from chatiere.v1.record_pb2 import GameRecord, RecordStream

Call = Callable[[str, bytes], bytes]
"""A function that calls a method, given as SERVICE/METHOD, and returns the response."""

_GAMES, _BATCHES, _BOTS, _TABLES = (f"chatiere.v1.{name}Service" for name in ("Game", "Batch", "Bot", "Table"))
_GAME = engine.game("chatpentiers")
_PLAYERS = _GAME.min_players
# A game for two players, with fewer moves.
_SHORT = engine.game("chat_perche")
_SETUP = batch.BatchSetup(game=_GAME.name, players=_PLAYERS)
_SEED = 7
_STATE = _GAME.new_game(_PLAYERS, seed=_SEED).pack()
_SECRET = bytes(16)
# The number of decisions to analyse.
_ANALYSED = 10
_PERSON = tables.TableSeat(secret_sha256=hashlib.sha256(_SECRET).digest())
# The number of items in a large batch.
_MANY = 4000


def _suggest(simulations: int) -> Callable[[Call], bytes]:
    def request(call: Call) -> bytes:
        bot = f"ismcts:simulations={simulations}"
        return bots.SuggestRequest(state=_state(call), bot=bot, seed=_SEED).SerializeToString()

    return request


def _analyse(call: Call) -> bytes:
    return bots.AnalyseRequest(record=_record(), to_ply=_ANALYSED, simulations=10).SerializeToString()


def _replay(call: Call) -> bytes:
    request = games.ReplayRequest(record=_record())
    request.include.legal_actions = request.include.score = True
    return request.SerializeToString()


def _playout(call: Call) -> bytes:
    return batch.PlayoutRequest(setup=_SETUP, states=50 * _STATE, playouts=20, seed=_SEED).SerializeToString()


def _evaluate(call: Call) -> bytes:
    request = batch.EvaluateRequest(setup=_SETUP, states=10 * _STATE, worlds=4, playouts=4, seed=_SEED)
    return request.SerializeToString()


def _resample(call: Call) -> bytes:
    request = batch.ResampleStatesRequest(setup=_SETUP, states=_MANY * _STATE, seats=bytes(_MANY), seed=_SEED)
    return request.SerializeToString()


def _play(call: Call) -> bytes:
    seeds = _MANY * _SEED.to_bytes(8, "little")
    new_games = batch.NewGamesRequest(setup=_SETUP, seeds=seeds, columns=batch.Columns(legal=True))
    return batch.PlayRequest(new_games=new_games).SerializeToString()


def _move(call: Call) -> bytes:
    while True:
        table = _new_table(call, _GAME, "ismcts:simulations=500")
        # Chance decides who moves first. Continue until a bot does.
        if not _look(call, table).legal_actions:
            return tables.MoveRequest(table=table).SerializeToString()


def _get_record(call: Call) -> bytes:
    return tables.GetRecordRequest(tables=_played(call, _SHORT, "ismcts:simulations=50")).SerializeToString()


DEAR: dict[str, tuple[str, Callable[[Call], bytes]]] = {
    "Suggest": (f"{_BOTS}/Suggest", _suggest(500)),
    "long Suggest": (f"{_BOTS}/Suggest", _suggest(60_000)),
    "Analyse": (f"{_BOTS}/Analyse", _analyse),
    "Playout": (f"{_BATCHES}/Playout", _playout),
    "Evaluate": (f"{_BATCHES}/Evaluate", _evaluate),
    "ResampleStates": (f"{_BATCHES}/ResampleStates", _resample),
    "Play": (f"{_BATCHES}/Play", _play),
    "Replay": (f"{_GAMES}/Replay", _replay),
    "Move": (f"{_TABLES}/Move", _move),
    "GetRecord": (f"{_TABLES}/GetRecord", _get_record),
}
"""Map each name to a method and a function that returns a request. The function may make calls."""


def _state(call: Call) -> State:
    request = games.NewGameRequest(game=_GAME.name, players=_PLAYERS, seed=_SEED)
    return games.NewGameResponse.FromString(call(f"{_GAMES}/NewGame", request.SerializeToString())).position.state


def _record() -> GameRecord:
    position, choices = _GAME.new_game(_PLAYERS, seed=_SEED), random.Random(_SEED)
    stream = RecordStream(seed=_SEED)
    record = GameRecord(game=_GAME.name, rules_version=_GAME.rules_version, players=_PLAYERS, stream=stream)
    while not position.is_terminal():
        action = choices.choice(position.legal_actions())
        record.actions.append(action)
        position.apply(action)
    return record


def _new_table(call: Call, game: Game, bot: str) -> bytes:
    request = tables.NewTableRequest(
        game=game.name,
        players=game.min_players,
        seats=[tables.TableSeat(bot=bot)] * (game.min_players - 1) + [_PERSON],
        acknowledgement=tables.ACKNOWLEDGEMENT_NONE,
    )
    return tables.NewTableResponse.FromString(call(f"{_TABLES}/NewTable", request.SerializeToString())).table


def _look(call: Call, table: bytes) -> ViewerUpdate:
    look = tables.LookRequest(table=table, secret=_SECRET)
    return tables.LookResponse.FromString(call(f"{_TABLES}/Look", look.SerializeToString())).update


def _played(call: Call, game: Game, bot: str) -> Iterator[bytes]:
    # Yield the tables of a whole game, in order.
    table = _new_table(call, game, bot)
    while True:
        yield table
        update = _look(call, table)
        if update.view.turn.kind == TURN_KIND_OVER:
            return
        move = tables.MoveRequest(table=table)
        if update.legal_actions:
            move.secret = _SECRET
            move.action.CopyFrom(update.legal_actions[0])
        table = tables.MoveResponse.FromString(call(f"{_TABLES}/Move", move.SerializeToString())).table
