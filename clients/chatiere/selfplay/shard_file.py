"""A shard of a data set: the decisions of a range of games as a Parquet file.

Needs the extra `chatiere[data]`. docs/selfplay.md describes the columns.
"""

import hashlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatiere.arena.matches import Searched
from chatiere.envs import Batch

if TYPE_CHECKING:
    import pyarrow

_Element = TypeVar("_Element", bound=np.generic)

FORMAT_VERSION = 3
"""The version of the format of shards and manifests."""
READABLE_FORMATS = (2, FORMAT_VERSION)
"""The versions that this release reads. In format 2, the columns of lists are bytes, or null instead of empty."""

_ROWS_AT_ONCE = 32_768
# Keys in the metadata of a shard's Parquet schema.
_FORMAT, _HASH, _GAMES = b"chatiere.format", b"chatiere.hash", b"chatiere.games"
# The data covered by the hash of the games, in this order.
_HASHED = np.dtype([("game", "<u8"), ("ply", "<u4"), ("actor", "i1"), ("action", "<u2")])
# The values of these columns rarely repeat, so dictionaries and statistics would only cost time and space.
_LISTS = ("observation", "final_observation", "legal_ids", "visit_shares", "action_values")
_BULKY = (*_LISTS, "value")


class ShardError(Exception):
    """A file is not the expected shard. The message continues a sentence that begins with the file's name."""


class GameRange(NamedTuple):
    """A range of consecutive game numbers: the games of a shard."""

    first: int
    length: int

    def __str__(self) -> str:
        """Return a description of the range."""
        return f"games {self.first} to {self.first + self.length - 1}"


class Shard(NamedTuple):
    """The description of a shard in a manifest."""

    games: GameRange
    decisions: int
    """The number of rows."""
    hash: str
    """The SHA-256 of the games, in hexadecimal."""
    checksum: str
    """The SHA-256 of the whole file, in hexadecimal."""


class Recording:
    """A recording of every decision in a range of games."""

    def __init__(self, games: GameRange) -> None:
        """Create an empty recording."""
        self._games = games
        self._chunks: list[_Chunk] = []
        self._results: list[_Ends] = []

    def add(self, batch: Batch, searched: Searched) -> None:
        """Add a batch with observations, and the bots' actions and search results for this batch."""
        ended = batch.ended
        if len(ended.envs):
            ends = _Ends(
                game_numbers=_kept(ended.game_numbers),
                returns=_kept(ended.returns),
                totals=_kept(ended.totals),
                observations=_kept(ended.observations),
            )
            self._results.append(ends)
        if len(batch):
            rows = _Rows(
                game_numbers=_kept(batch.game_numbers),
                plies=_kept(batch.decisions),
                actors=_kept(batch.actors),
                bots=_kept(searched.bots),
                legal_counts=batch.legal_counts(),
                legal_ids=_kept(batch.legal_ids),
                actions=_kept(searched.actions),
                visit_shares=_kept(searched.visit_shares),
                action_values=_kept(searched.action_values),
                values=_kept(searched.values),
            )
            self._chunks.append(_Chunk(rows, _kept(batch.observations)))

    def shard(self) -> bytes:
        """Return the recording as a Parquet file.

        Raises:
            ImportError: pyarrow is not installed.
        """
        parquet = import_parquet()
        table = self._table()
        sink = BytesIO()
        parquet.write_table(
            table,
            sink,
            row_group_size=_ROWS_AT_ONCE,
            compression="zstd",
            write_page_checksum=True,
            use_dictionary=[name for name in table.column_names if name not in _BULKY],
            write_statistics=[name for name in table.column_names if name not in _BULKY],
            # Parquet stores a byte in four. This encoding keeps the three zeros apart, where they take no space.
            column_encoding={f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in _LISTS},
        )
        return sink.getvalue()

    def _table(self) -> "pyarrow.Table":
        import pyarrow as pa

        observed = [chunk.observations for chunk in self._chunks]
        rows = _Rows(*(np.concatenate(column) for column in zip(*(chunk.rows for chunk in self._chunks), strict=True)))
        # Free the chunks, so that each array is in memory only once.
        self._chunks.clear()
        ends = _Ends(*(np.concatenate(column) for column in zip(*self._results, strict=True)))
        order = np.lexsort((rows.plies, rows.game_numbers))
        games, plies, actors = rows.game_numbers[order], rows.plies[order], rows.actors[order]
        actions, counts = rows.actions[order], rows.legal_counts[order]
        places = np.argsort(ends.game_numbers)[(games - np.uint64(self._games.first)).astype(np.intp)]
        returns, values = ends.returns[places], rows.values[order]
        moved = _moved(rows.legal_counts, order)
        last = _last_of_seats(games, actors)
        finals = ends.observations[places[last], actors[last]]

        def fixed(array: NDArray[Any]) -> "pyarrow.Array":
            return pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])

        def rated(flat: NDArray[np.float32]) -> "pyarrow.Array":
            # A list is empty if the bot rated no action.
            is_rated = ~np.logical_and.reduceat(np.isnan(flat), _offsets(counts)[:-1])
            return _lists(flat[np.repeat(is_rated, counts)], counts * is_rated)

        columns = {
            "game": pa.array(games),
            "ply": pa.array(plies),
            "actor": pa.array(actors),
            "bot": pa.array(rows.bots[order]),
            "observation": fixed(_in_order(observed, order)),
            "legal_ids": _lists(rows.legal_ids[moved], counts),
            "action": pa.array(actions),
            "visit_shares": rated(rows.visit_shares[moved]),
            "action_values": rated(rows.action_values[moved]),
            "value": pa.array(values, mask=np.isnan(values)),
            "return": pa.array(returns[np.arange(len(actors)), actors]),
            "returns": fixed(returns),
            "totals": fixed(ends.totals[places]),
            "final_observation": _lists(finals.reshape(-1), last * np.uint32(finals.shape[1])),
        }
        metadata = {
            _FORMAT: str(FORMAT_VERSION),
            _GAMES: str(self._games),
            _HASH: _hash(games, plies, actors, actions),
        }
        return pa.table(columns).replace_schema_metadata(metadata)


class _Rows(NamedTuple):
    game_numbers: NDArray[np.uint64]
    plies: NDArray[np.uint32]
    actors: NDArray[np.int8]
    bots: NDArray[np.uint16]
    legal_counts: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]
    actions: NDArray[np.uint16]
    visit_shares: NDArray[np.float32]
    action_values: NDArray[np.float32]
    values: NDArray[np.float32]


class _Chunk(NamedTuple):
    rows: _Rows
    observations: NDArray[np.uint8]


class _Ends(NamedTuple):
    game_numbers: NDArray[np.uint64]
    returns: NDArray[np.float32]
    totals: NDArray[np.int32]
    observations: NDArray[np.uint8]


def read_shard(content: bytes, games: GameRange) -> Shard:
    """Return the description of the shard in a file.

    Raises:
        ShardError: The file has other games or another format.
    """
    import pyarrow as pa

    try:
        found = import_parquet().read_metadata(pa.BufferReader(content))
        metadata = {key: value.decode() for key, value in (found.metadata or {}).items()}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ShardError(f"is not a Parquet file: {' '.join(str(error).split())}") from error
    if (version := metadata.get(_FORMAT, "unknown")) not in map(str, READABLE_FORMATS):
        raise ShardError(f"has format {version}, not {' or '.join(map(str, READABLE_FORMATS))}")
    if metadata.get(_GAMES) != str(games):
        raise ShardError(f"has {metadata.get(_GAMES)}, not {games}")
    return Shard(games, found.num_rows, metadata[_HASH], hashlib.sha256(content).hexdigest())


def import_parquet() -> Any:
    """Return pyarrow.parquet.

    Raises:
        ImportError: pyarrow is not installed. The message names the package to install.
    """
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


def _lists(values: NDArray[Any], lengths: NDArray[np.uint32]) -> "pyarrow.Array":
    # Return consecutive lists of these lengths.
    import pyarrow as pa

    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))


def _last_of_seats(games: NDArray[np.uint64], actors: NDArray[np.int8]) -> NDArray[np.bool_]:
    # Return True for the last decision of each seat in a game. Rows are ordered by game and ply.
    last = np.zeros(len(games), np.bool_)
    for seat in np.unique(actors):
        rows = np.flatnonzero(actors == seat)
        last[rows[np.append(games[rows][1:] != games[rows][:-1], True)]] = True
    return last


def _kept(column: NDArray[_Element]) -> NDArray[_Element]:
    # Copy views, because a view keeps the environment's whole arrays in memory.
    return column if column.flags.owndata else column.copy()


def _offsets(lengths: NDArray[np.uint32]) -> NDArray[np.int32]:
    # Return the offsets of consecutive lists of these lengths, and the end of the last list.
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _moved(lengths: NDArray[np.uint32], order: NDArray[np.intp]) -> NDArray[np.intp]:
    # Return the indices that rearrange consecutive lists of these lengths in the given order.
    ordered = lengths[order]
    begins, after = _offsets(lengths), _offsets(ordered)
    return np.arange(after[-1]) + np.repeat(begins[:-1][order] - after[:-1], ordered)


def _in_order(parts: list[NDArray[np.uint8]], order: NDArray[np.intp]) -> NDArray[np.uint8]:
    # Return the rows of all parts in another order. All rows are copied in one step, and each part is freed afterwards,
    # because parts are large.
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    found = np.empty((len(order), parts[0].shape[1]), np.uint8)
    first = 0
    for number, part in enumerate(parts):
        found[places[first : first + len(part)]] = part
        first += len(part)
        parts[number] = found[:0]
    return found
