"""A data set of games for training: Parquet files with a row a decision, and a manifest (docs/selfplay.md).

Needs the extra `chatiere[data]`.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatiere import bots, engine
from chatiere.arena.matches import Results, Searched
from chatiere.engine.core.integers import require_integer, unsigned
from chatiere.envs import Batch

if TYPE_CHECKING:
    import pyarrow

_Element = TypeVar("_Element", bound=np.generic)

FORMAT_VERSION = 1
GAMES_PER_SHARD = 500

MANIFEST = "manifest.json"
SHARDS = "games"
# While it is written, an observation takes eight times its size.
_ROWS_AT_ONCE = 4096
# In the metadata of a shard's Parquet schema.
_HASH, _GAMES = b"chatiere.hash", b"chatiere.games"
# What the hash of the games is made of, in this order.
_HASHED = np.dtype([("game", "<u8"), ("ply", "<u4"), ("actor", "i1"), ("action", "<u2")])


class DataSetError(Exception):
    """A directory cannot be the data set's: it holds another one, or something broken."""


class GameRange(NamedTuple):
    """Consecutive game numbers: those of a shard."""

    first: int
    length: int

    def __str__(self) -> str:
        """Return the range in words."""
        return f"games {self.first} to {self.first + self.length - 1}"


@dataclass(frozen=True)
class Recipe:
    """The recipe of a data set: all that its games depend on, and how many of them are in a shard.

    Raises EngineError if the game, the number of players or the options are not known; ValueError, TypeError if a
    number is out of range, or a bot is not reproducible: its games would not be the same again.
    """

    game: str
    """The game's name."""
    players: int
    """The number of players."""
    games: int
    """The number of games; their numbers are 0 … games - 1."""
    bots: tuple[str, ...]
    """The bots, as `bots.get` takes them, which take turns as in `bots_of`."""
    seed: int = 1
    """The seed of the games and of the bots."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of all games, by name; those absent have their defaults."""
    games_per_shard: int = GAMES_PER_SHARD
    """The number of games in a shard; the last one may have fewer."""

    def __post_init__(self) -> None:
        """Check all fields."""
        engine.game(self.game).new_game(self.players, self.options, seed=0)
        unsigned("seed", self.seed, 64)
        for name in ("games", "games_per_shard"):
            if require_integer(name, getattr(self, name)) < 1:
                raise ValueError(f"{name} must be 1 or more")
        if not 1 <= len(self.bots) <= self.games:
            raise ValueError(f"{len(self.bots)} bots need at least {max(1, len(self.bots))} games")
        for bot in self.bots:
            if not bots.get(bot, self.game, self.players).is_reproducible:
                raise ValueError(
                    f"bot {bot!r} is not reproducible: it has a budget in milliseconds, or does not set is_reproducible"
                )

    def shards(self) -> list[GameRange]:
        """Return the shards, in order."""
        step = self.games_per_shard
        return [GameRange(first, min(step, self.games - first)) for first in range(0, self.games, step)]

    def manifest(self) -> dict[str, Any]:
        """Return the part of the manifest that is known before the first game."""
        return {
            "format_version": FORMAT_VERSION,
            "package_version": version("chatiere"),
            "game": self.game,
            "rules_version": engine.game(self.game).rules_version,
            "players": self.players,
            "options": dict(self.options),
            "seed": self.seed,
            "bots": list(self.bots),
            "games": self.games,
            "games_per_shard": self.games_per_shard,
        }


class Recording:
    """A recording of every decision in a range of games."""

    def __init__(self, games: GameRange) -> None:
        """Begin an empty recording."""
        self._games = games
        self._chunks: list[_Chunk] = []
        self._results: list[_Ends] = []

    def add(self, batch: Batch, searched: Searched) -> None:
        """Add a batch with observations, and what was chosen there and found out by searches."""
        ended = batch.ended
        self._results.append(_Ends(_kept(ended.game_numbers), _kept(ended.returns), _kept(ended.totals)))
        if len(batch):
            chunk = _Chunk(
                game_numbers=_kept(batch.game_numbers),
                plies=_kept(batch.decisions),
                actors=_kept(batch.actors),
                observations=_kept(batch.observations),
                legal_counts=batch.legal_counts(),
                legal_ids=_kept(batch.legal_ids),
                actions=_kept(searched.actions),
                visit_shares=_kept(searched.visit_shares),
                values=_kept(searched.values),
            )
            self._chunks.append(chunk)

    def shard(self) -> bytes:
        """Return the recording as a Parquet file. Raises ImportError without pyarrow."""
        parquet = _import_parquet()
        sink = BytesIO()
        parquet.write_table(
            self._table(), sink, row_group_size=_ROWS_AT_ONCE, compression="zstd", write_page_checksum=True
        )
        return sink.getvalue()

    def _table(self) -> "pyarrow.Table":
        import pyarrow as pa

        rows = _Chunk(*(np.concatenate(column) for column in zip(*self._chunks, strict=True)))
        # Each array is in memory once.
        self._chunks.clear()
        ends = _Ends(*(np.concatenate(column) for column in zip(*self._results, strict=True)))
        by_number = np.argsort(ends.game_numbers)
        order = np.lexsort((rows.plies, rows.game_numbers))
        games, actors = rows.game_numbers[order], rows.actors[order]
        places = by_number[(games - np.uint64(self._games.first)).astype(np.intp)]
        returns, totals = ends.returns[places], ends.totals[places]
        offsets = _offsets(rows.legal_counts[order])
        values = rows.values[order]
        shares = _reordered(rows.visit_shares, rows.legal_counts, order)

        def fixed(array: NDArray[Any]) -> "pyarrow.Array":
            return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])

        def lists(flat: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> "pyarrow.Array":
            mask = None if missing is None else pa.array(missing)
            return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat), mask=mask)

        hashed = _hash(games, plies := rows.plies[order], actors, actions := rows.actions[order])
        columns = {
            "game": pa.array(games),
            "ply": pa.array(plies),
            "actor": pa.array(actors),
            "observation": fixed(rows.observations[order]),
            "legal_ids": lists(_reordered(rows.legal_ids, rows.legal_counts, order)),
            "action": pa.array(actions),
            "visit_shares": lists(shares, np.isnan(values)),
            "value": pa.array(values, mask=np.isnan(values)),
            "return": pa.array(returns[np.arange(len(actors)), actors]),
            "returns": fixed(returns),
            "totals": fixed(totals),
        }
        return pa.table(columns).replace_schema_metadata({_HASH: hashed, _GAMES: str(self._games)})


class _Chunk(NamedTuple):
    game_numbers: NDArray[np.uint64]
    plies: NDArray[np.uint32]
    actors: NDArray[np.int8]
    observations: NDArray[np.uint8]
    legal_counts: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]
    actions: NDArray[np.uint16]
    visit_shares: NDArray[np.float32]
    values: NDArray[np.float32]


class _Ends(NamedTuple):
    game_numbers: NDArray[np.uint64]
    returns: NDArray[np.float32]
    totals: NDArray[np.int32]


class _Shard(NamedTuple):
    games: GameRange
    decisions: int
    hash: str


class DataSet:
    """The data set of a recipe in a directory: `games/` has the shards, and `manifest.json` says what they hold.

    A shard is written under another name and then renamed, so a file in `games/` is whole.
    """

    def __init__(self, directory: Path, recipe: Recipe) -> None:
        """Open the data set in a directory, or begin one in a directory that is new or empty.

        Raises DataSetError if the directory holds something else, or a data set of another recipe or version; the
        message names what differs. Raises OSError if it cannot be written, ImportError without pyarrow.
        """
        _import_parquet()
        self._directory = directory
        self._recipe = recipe
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / MANIFEST).exists():
            self._check_manifest(read_manifest(directory))
        elif {path.name for path in directory.iterdir()} - {_part(directory / MANIFEST).name}:
            raise DataSetError(f"{directory} has no {MANIFEST}, and is not empty")
        else:
            _write(directory / MANIFEST, _as_json(recipe.manifest()))
        (directory / SHARDS).mkdir(exist_ok=True)
        self._shards = {games: self._whole_shard(games) for games in recipe.shards()}

    def missing(self) -> list[GameRange]:
        """Return the shards that are not there, or not whole, in order."""
        return [games for games, shard in self._shards.items() if shard is None]

    def add(self, games: GameRange, file: bytes) -> None:
        """Write a shard. Raises DataSetError if the file does not hold these games."""
        path = self._path(games)
        _write(path, file)
        self._shards[games] = shard = self._whole_shard(games)
        if shard is None:
            raise DataSetError(f"{path} is not whole after it was written")

    def finish(self) -> str:
        """Write the shards and the hash of all games into the manifest, and return the hash.

        Raises DataSetError if a shard is missing.
        """
        shards = []
        for games, shard in self._shards.items():
            if shard is None:
                raise DataSetError(f"{games} are missing in {self._directory}")
            shards.append(shard)
        hashed = hashlib.sha256(b"".join(bytes.fromhex(shard.hash) for shard in shards)).hexdigest()
        listed = [
            {
                "file": f"{SHARDS}/{self._path(shard.games).name}",
                "first_game": shard.games.first,
                "games": shard.games.length,
                "decisions": shard.decisions,
                "hash": shard.hash,
            }
            for shard in shards
        ]
        _write(self._directory / MANIFEST, _as_json({**self._recipe.manifest(), "hash": hashed, "shards": listed}))
        return hashed

    def results(self) -> Results:
        """Return the results of all games. Raises DataSetError if a shard is missing."""
        parquet = _import_parquet()
        recipe = self._recipe
        results = Results.of(recipe.games, recipe.players, len(recipe.bots))
        for games in recipe.shards():
            if self._shards[games] is None:
                raise DataSetError(f"{games} are missing in {self._directory}")
            rows = parquet.read_table(self._path(games), columns=["game", "ply", "returns", "totals"])
            numbers, plies = rows["game"].to_numpy(), rows["ply"].to_numpy()
            last = np.append(np.flatnonzero(np.diff(numbers)), len(numbers) - 1)
            results.lengths[numbers[last]] = plies[last] + 1
            for name in ("returns", "totals"):
                values = rows[name].combine_chunks().flatten().to_numpy().reshape(-1, recipe.players)
                getattr(results, name)[numbers[last]] = values[last]
        return results

    def _path(self, games: GameRange) -> Path:
        return self._directory / SHARDS / f"{games.first:012}.parquet"

    def _check_manifest(self, found: Mapping[str, Any]) -> None:
        # The format comes first: it says what the other keys mean.
        for key, wanted in json.loads(_as_json(self._recipe.manifest())).items():
            if (has := found.get(key)) != wanted:
                path = self._directory / MANIFEST
                raise DataSetError(f"{path} has another {key}: {json.dumps(has)}, not {json.dumps(wanted)}")

    def _whole_shard(self, games: GameRange) -> _Shard | None:
        # The games are hashed once more: a file that was changed or cut is no shard.
        import pyarrow as pa

        path = self._path(games)
        if not path.exists():
            return None
        try:
            with _import_parquet().ParquetFile(path, page_checksum_verification=True) as file:
                metadata = file.schema_arrow.metadata
                rows = file.read(list(_HASHED.names or ()))
        except (pa.ArrowException, OSError):
            return None
        hashed = _hash(*(rows[name].to_numpy() for name in _HASHED.names or ()))
        expected = {_HASH: hashed.encode(), _GAMES: str(games).encode()}
        if metadata is None or any(metadata.get(key) != value for key, value in expected.items()):
            return None
        return _Shard(games, len(rows), hashed)


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a data set. Raises DataSetError if it is none, OSError if it cannot be read."""
    path = directory / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataSetError(f"{path} is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise DataSetError(f"{path} is not a JSON object")
    return manifest


def _import_parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError("data sets need pyarrow: pip install 'chatiere[data]'") from error
    return parquet


def _hash(
    games: NDArray[np.uint64], plies: NDArray[np.uint32], actors: NDArray[np.int8], actions: NDArray[np.uint16]
) -> str:
    rows = np.empty(len(games), _HASHED)
    rows["game"], rows["ply"], rows["actor"], rows["action"] = games, plies, actors, actions
    return hashlib.sha256(rows.tobytes()).hexdigest()


def _as_json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def _part(path: Path) -> Path:
    # Readers of a folder of Parquet files pass over names that begin with a dot.
    return path.with_name(f".{path.name}.part")


def _write(path: Path, content: bytes) -> None:
    # After a crash of the machine, too, the file has its old content or the new one.
    part = _part(path)
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _kept(column: NDArray[_Element]) -> NDArray[_Element]:
    # A view into what the environment holds would keep all of that in memory, including states.
    return column if column.flags.owndata else column.copy()


def _offsets(lengths: NDArray[np.uint32]) -> NDArray[np.int32]:
    # The offsets of consecutive lists of these lengths, and the end of the last one.
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _reordered(values: NDArray[Any], lengths: NDArray[np.uint32], order: NDArray[np.intp]) -> NDArray[Any]:
    # Consecutive lists of these lengths, in another order.
    begins, after = _offsets(lengths), _offsets(lengths[order])
    moved = np.repeat(begins[:-1][order] - after[:-1], lengths[order])
    return values[np.arange(len(values)) + moved]
