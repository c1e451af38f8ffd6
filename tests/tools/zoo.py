"""Write a zoo: states, records, sealed tables and a data set of a release. Every later build must read them.

    python -m tools.zoo DIRECTORY (make zoo)

For each game, the directory gets GAME.json, and GAME.chatiere with the game's first record as text. data_set is from
self-play. The zoo of a release is never written again: it shows whether later builds still understand its games.
"""

import hashlib
import json
import random
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from tables.support import Host, begun, played

from chatiere import engine
from chatiere.clients.records import to_text
from chatiere.engine import Game, Position
from chatiere.engine.core.record import Record
from chatiere.engine.wire import Reader, written
from chatiere.selfplay.dataset import DataSet, Recipe
from chatiere.selfplay.shards import ShardPlayer
from chatiere.service.calls import conversion
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.new_key import KEY_SIZE
from chatiere.v1 import game_pb2
from chatiere.v1.record_pb2 import GameRecord

from .sample_records import TRACES, record_of

KEY = bytes(range(KEY_SIZE))
YEAR = 365 * 86400
# The number of typed states of each game.
STATES = 6

M = TypeVar("M", bound=Message)


def steps(record: GameRecord) -> Iterator[tuple[Position, int | None]]:
    """Play a record. Yield the position (always the same object) with each next move, and at the end with None."""
    game = engine.game(record.game)
    played = Record(
        game,
        record.rules_version,
        record.players,
        conversion.read_options(Reader(record.options), game),
        (record.stream.seed, record.stream.game_number) if record.HasField("stream") else None,
        record.outcomes.outcomes,
        record.actions,
    )
    position = played.begin()
    for _, _, move in played.moves(position):
        yield position, move
        position.apply(move)
    yield position, None


def choices(position: Position) -> str:
    """Return a short hash of the seat to act and all legal actions, outcomes and weights."""
    found = [position.current_player(), position.legal_actions(), position.chance_outcomes()]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:8]


def score(position: Position) -> dict[str, Any]:
    """Return the Score of a position as JSON."""
    message = game_pb2.Score.FromString(written(conversion.of(position).put_score, position))
    return dict(MessageToDict(message, preserving_proto_field_name=True))


def encoded(data: bytes) -> str:
    """Return bytes as they appear in JSON."""
    return b64encode(data).decode()


def decoded(kind: type[M], text: str) -> M:
    """Return the message in an encoded text."""
    return kind.FromString(b64decode(text))


def random_record(game: Game, players: int, seed: int) -> GameRecord:
    """Return the record of a random game."""
    choose = random.Random(seed)
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=players)
    record.stream.seed = seed
    position = game.new_game(players, seed=seed)
    while not position.is_terminal():
        record.actions.append(choose.choice(position.legal_actions()))
        position.apply(record.actions[-1])
    return record


def kept_game(record: GameRecord) -> dict[str, Any]:
    """Return a game in the form of the zoo."""
    seen, states = [], []
    for position, _ in steps(record):
        seen.append(choices(position))
        states.append(encoded(written(conversion.of(position).put_state, position)))
    kept = {round(i * (len(states) - 1) / (STATES - 1)) for i in range(STATES)}
    return {
        "record": encoded(record.SerializeToString(deterministic=True)),
        "choices": "".join(seen),
        "states": {str(i): states[i] for i in sorted(kept)},
        "score": score(position),
    }


def kept_tables(game: Game) -> dict[str, Any]:
    """Return the first, a middle and the second-to-last sealed table of a game in the form of the zoo."""
    host = Host(Keyring(None, KEY))
    now = int(time.time())
    first, secrets = begun(host, game, game.min_players, lifetime=Duration(seconds=YEAR))
    chain = list(played(host, first, secrets, random.Random(7)))
    return {
        "time": now,
        "key": KEY.hex(),
        "secrets": [secret.hex() for secret in secrets],
        "sealed": {str(ply): encoded(chain[ply]) for ply in (0, len(chain) // 2, len(chain) - 2)},
        "record": encoded(host.get_record(chain).record.SerializeToString(deterministic=True)),
    }


def write_data_set(directory: Path) -> None:
    """Write a data set of three games in two shards, between a bot that rates actions and a bot that does not."""
    player = ShardPlayer(Recipe("discat", 2, 3, ("ismcts:simulations=4", "random"), seed=7, games_per_shard=2))
    data_set = DataSet(directory, player.recipe)
    for games in data_set.missing():
        data_set.add(games, player.play(games))
    data_set.finish()


def main(directory: Path) -> None:
    """Write a zoo."""
    if directory.exists():
        sys.exit(f"{directory} exists: keep the zoo of a release, or remove an unreleased one first")
    directory.mkdir(parents=True)
    write_data_set(directory / "data_set")
    for game in engine.games():
        records = [random_record(game, players, 15) for players in sorted({game.min_players, game.max_players})]
        records.append(record_of(next(iter(sorted((TRACES / game.name).glob("*-options-1.jsonl"))))))
        kept = {"games": [kept_game(record) for record in records], "tables": kept_tables(game)}
        (directory / f"{game.name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        (directory / f"{game.name}.chatiere").write_text(to_text(records[0]), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
