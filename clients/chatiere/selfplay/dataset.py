"""A data set of games for training: Parquet files with one row per decision, and a manifest (docs/selfplay.md).

Needs the extra `chatiere[data]`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from chatiere import bots, engine
from chatiere.arena.matches import Exploration, Results
from chatiere.bots.loading import file_of
from chatiere.engine.core.integers import require_integer, unsigned
from chatiere.engine.whole_files import append, part_of, write_whole
from chatiere.selfplay.shard_file import (
    FORMAT_VERSION,
    READABLE_FORMATS,
    GameRange,
    Shard,
    ShardError,
    import_parquet,
    read_shard,
)

GAMES_PER_SHARD = 500

MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
CARD = "README.md"
SHARDS = "games"

# The lines before the title tell Hugging Face's `datasets` which files to load.
_CARD = """---
configs:
- config_name: default
  data_files: {shards}/*.parquet
---
# {games} games of {title} between bots
Each row is one of {decisions} decisions by {players} seats. The bots are {bots}. The command `chatiere selfplay` of
Chatière {version} played the games. `{manifest}` has everything on which they depend, and `{checksums}` the checksums.

- `game`, `ply`, `actor`: the number of the game; the number of decisions before this one; the seat that decides.
- `bot`: the bot that decides, as an index of `bots` in `{manifest}`.
- `observation`: the information of this seat, in the layout of the game's description.
- `legal_ids`, `action`: the numbers of the legal actions; the number of the chosen action.
- `visit_shares`, `action_values`, `value`: the bot's search of `legal_ids`; its value of the chosen action.
- `return`, `returns`, `totals`: the return of this seat; the returns and points of all seats.
- `final_observation`: in the row of a seat's last decision, its information at the end.
"""


class DataSetError(Exception):
    """A directory cannot hold the data set, because it contains another data set or damaged files."""


@dataclass(frozen=True)
class Recipe:
    """The recipe of a data set: everything that determines its games, and the number of games in a shard.

    Raises:
        EngineError: The game, the number of players or an option is invalid.
        ValueError: A number is out of range, or a bot is not reproducible.
        TypeError: A number is not an integer.
    """

    game: str
    """The game's name."""
    players: int
    """The number of players."""
    games: int
    """The number of games. Games are numbered 0 … games - 1."""
    bots: tuple[str, ...]
    """The bots, in the syntax of `bots.get`. `bots_of` assigns them to the seats."""
    seed: int = 1
    """The seed of the games and of the bots."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of all games, by name. Options that are not set have their defaults."""
    games_per_shard: int = GAMES_PER_SHARD
    """The number of games in a shard. The last shard may have fewer."""
    exploration: Exploration = field(default_factory=Exploration)
    """The additional random choices that make games more varied."""

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
        return _shards_of(self.games, self.games_per_shard)

    def manifest(self) -> dict[str, Any]:
        """Return the part of the manifest that is known before the first game.

        Raises:
            OSError: The file of a bot cannot be read.
        """
        files = [file for file in map(file_of, self.bots) if file is not None]
        return {
            "format_version": FORMAT_VERSION,
            "package_version": version("chatiere"),
            "game": self.game,
            "rules_version": engine.game(self.game).rules_version,
            "players": self.players,
            "options": dict(self.options),
            "seed": self.seed,
            "bots_version": bots.BOTS_VERSION,
            "bots": list(self.bots),
            "bot_files": {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
            "exploration": asdict(self.exploration),
            "games": self.games,
            "games_per_shard": self.games_per_shard,
        }


class DataSet:
    """The data set of a recipe in a directory: `games/` contains the shards, and `manifest.json` describes them.

    A shard is written under a temporary name and then renamed, and its checksum is added to `SHA256SUMS`. Therefore
    every file in `games/` is complete. The checksum detects later damage.
    """

    def __init__(self, directory: Path, recipe: Recipe) -> None:
        """Open the data set in a directory, or create one in a new or empty directory.

        Raises:
            DataSetError: The directory contains other files, or a data set of another recipe or version. The message
                names the difference.
            OSError: The directory cannot be written.
            ImportError: pyarrow is not installed.
        """
        import_parquet()
        self._directory = directory
        self._recipe = recipe
        self._manifest = recipe.manifest()
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / MANIFEST).exists():
            self._check_manifest(read_manifest(directory))
        elif {path.name for path in directory.iterdir()} - {part_of(directory / MANIFEST).name}:
            raise DataSetError(f"{directory} has no {MANIFEST}, and is not empty")
        else:
            write_whole(directory / MANIFEST, _as_json(self._manifest))
        (directory / SHARDS).mkdir(exist_ok=True)
        checksums = _read_checksums(directory)
        self._shards = {games: _whole_shard(directory, games, checksums) for games in recipe.shards()}

    def missing(self) -> list[GameRange]:
        """Return the shards that are missing or damaged, in order."""
        return [games for games, shard in self._shards.items() if shard is None]

    def add(self, games: GameRange, file: bytes) -> None:
        """Write a shard.

        Raises:
            DataSetError: The file does not contain these games.
            OSError: The file cannot be written.
        """
        path = _path(self._directory, games)
        try:
            shard = read_shard(file, games)
        except ShardError as error:
            raise DataSetError(f"{path} {error}") from error
        write_whole(path, file)
        append(self._directory / CHECKSUMS, _checksum_line(shard))
        self._shards[games] = shard

    def finish(self) -> str:
        """Write the shards and the hash of all games into the manifest, and return the hash.

        If the directory has no README.md, write a description of the data set to it.

        Raises:
            DataSetError: A shard is missing.
            OSError: A file cannot be written.
        """
        shards = []
        for games, shard in self._shards.items():
            if shard is None:
                raise DataSetError(f"{games} are missing in {self._directory}")
            shards.append(shard)
        # Write the whole file, because a shard that was written again has several lines in it.
        write_whole(self._directory / CHECKSUMS, b"".join(map(_checksum_line, shards)))
        listed = {"hash": _hash_of(shards), "shards": [_listed(shard) for shard in shards]}
        if not (self._directory / CARD).exists():
            write_whole(self._directory / CARD, self._card(sum(shard.decisions for shard in shards)).encode())
        write_whole(self._directory / MANIFEST, _as_json({**self._manifest, **listed}))
        return str(listed["hash"])

    def results(self) -> Results:
        """Return the results of all games.

        Raises:
            DataSetError: A shard is missing.
        """
        parquet = import_parquet()
        recipe = self._recipe
        results = Results.of(recipe.games, recipe.players, len(recipe.bots))
        for games in recipe.shards():
            if self._shards[games] is None:
                raise DataSetError(f"{games} are missing in {self._directory}")
            rows = parquet.read_table(_path(self._directory, games), columns=["game", "ply", "returns", "totals"])
            numbers, plies = rows["game"].to_numpy(), rows["ply"].to_numpy()
            last = np.append(np.flatnonzero(np.diff(numbers)), len(numbers) - 1)
            results.lengths[numbers[last]] = plies[last] + 1
            for name in ("returns", "totals"):
                values = rows[name].combine_chunks().flatten().to_numpy().reshape(-1, recipe.players)
                getattr(results, name)[numbers[last]] = values[last]
        return results

    def _card(self, decisions: int) -> str:
        recipe = self._recipe
        return _CARD.format(
            shards=SHARDS,
            manifest=MANIFEST,
            checksums=CHECKSUMS,
            games=recipe.games,
            title=engine.game(recipe.game).description.title,
            decisions=decisions,
            players=recipe.players,
            bots=", ".join(f"`{bot}`" for bot in recipe.bots),
            version=self._manifest["package_version"],
        )

    def _check_manifest(self, found: Mapping[str, Any]) -> None:
        # Check the format version first, because the meaning of the other keys depends on it.
        for key, wanted in json.loads(_as_json(self._manifest)).items():
            if (has := found.get(key)) != wanted:
                path = self._directory / MANIFEST
                raise DataSetError(f"{path} has a different {key}: {json.dumps(has)}, not {json.dumps(wanted)}")


def verify(directory: Path) -> tuple[int, str]:
    """Verify every column of every shard of a data set. The bots named in its manifest are not loaded.

    Returns:
        The number of decisions, and the hash of the games.

    Raises:
        DataSetError: Shards are missing or damaged, or differ from the manifest. The message has one line for each
            error.
        OSError: The data set cannot be read.
        ImportError: pyarrow is not installed.
    """
    import_parquet()
    manifest, path = read_manifest(directory), directory / MANIFEST
    if (found := manifest.get("format_version")) not in READABLE_FORMATS:
        raise DataSetError(f"{path} has format {json.dumps(found)}, not {' or '.join(map(str, READABLE_FORMATS))}")
    count, step = manifest.get("games"), manifest.get("games_per_shard")
    if not (isinstance(count, int) and isinstance(step, int) and min(count, step) >= 1):
        raise DataSetError(f"{path} does not give valid numbers of games and of games in a shard")
    checksums = _read_checksums(directory)
    shards, wrong = [], []
    for games in _shards_of(count, step):
        try:
            shards.append(_read_whole(directory, games, checksums))
        except FileNotFoundError:
            wrong.append(f"{games} are missing in {directory}")
        except ShardError as error:
            wrong.append(f"{_path(directory, games)} {error}")
    if not wrong:
        wrong += _differences(path, manifest, shards)
    if wrong:
        raise DataSetError("\n".join(wrong))
    return sum(shard.decisions for shard in shards), _hash_of(shards)


def _differences(path: Path, manifest: Mapping[str, Any], shards: Sequence[Shard]) -> Iterator[str]:
    # Yield the differences between a manifest and the shards.
    if "shards" not in manifest:
        yield f"{path} is incomplete: run the same chatiere selfplay command again to finish it"
        return
    listed = manifest["shards"]
    if not isinstance(listed, list) or len(listed) != len(shards):
        yield f"{path} does not list {len(shards)} shards"
        return
    for shard, found in zip(shards, listed, strict=True):
        if found != _listed(shard):
            yield f"{path} lists a different shard of {shard.games}"
    if manifest.get("hash") != _hash_of(shards):
        yield f"{path} lists a different hash of the games"


def read_manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest of a data set.

    Raises:
        DataSetError: The file is not a manifest.
        OSError: The file cannot be read.
    """
    path = directory / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataSetError(f"{path} is not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise DataSetError(f"{path} is not a JSON object")
    return manifest


def _shards_of(games: int, step: int) -> list[GameRange]:
    return [GameRange(first, min(step, games - first)) for first in range(0, games, step)]


def _path(directory: Path, games: GameRange) -> Path:
    return directory / SHARDS / f"{games.first:012}.parquet"


def _read_whole(directory: Path, games: GameRange, checksums: Mapping[str, str]) -> Shard:
    # Raise ShardError if the shard was changed or truncated, and FileNotFoundError if it is missing.
    path = _path(directory, games)
    shard = read_shard(path.read_bytes(), games)
    if (wanted := checksums.get(f"{SHARDS}/{path.name}")) != shard.checksum:
        raise ShardError("has no checksum" if wanted is None else "is damaged: its checksum differs")
    return shard


def _whole_shard(directory: Path, games: GameRange, checksums: Mapping[str, str]) -> Shard | None:
    try:
        return _read_whole(directory, games, checksums)
    except (ShardError, FileNotFoundError):
        return None


def _read_checksums(directory: Path) -> dict[str, str]:
    # Return the checksums by file. If a file has several lines, the last one counts. A truncated or damaged line
    # matches no file or checksum.
    try:
        lines = (directory / CHECKSUMS).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}


def _checksum_line(shard: Shard) -> bytes:
    # Return a line in the format of sha256sum.
    return f"{shard.checksum}  {SHARDS}/{_path(Path(), shard.games).name}\n".encode()


def _listed(shard: Shard) -> dict[str, Any]:
    # Return the entry of a shard in the manifest.
    return {
        "file": f"{SHARDS}/{_path(Path(), shard.games).name}",
        "first_game": shard.games.first,
        "games": shard.games.length,
        "decisions": shard.decisions,
        "hash": shard.hash,
        "sha256": shard.checksum,
    }


def _hash_of(shards: Sequence[Shard]) -> str:
    return hashlib.sha256(b"".join(bytes.fromhex(shard.hash) for shard in shards)).hexdigest()


def _as_json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()
