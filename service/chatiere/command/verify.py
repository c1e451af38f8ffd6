"""chatiere verify."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import click
from google.protobuf import json_format

from chatiere import engine
from chatiere.bots import OtherVersionError, Registry, versions
from chatiere.bots.hosting import choose, decisions_at
from chatiere.clients.sealed_seat import hash_of, header_of, table_of
from chatiere.command.common import AddedBots, CommandError
from chatiere.engine import EngineError, Position, codec
from chatiere.engine.wire import Reader
from chatiere.service.tables import roots
from chatiere.service.tables.seal import NO_PARENT
from chatiere.v1 import table_service_pb2 as pb

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
# The fields that all tables of a game share with its record, beside the game's own.
_SHARED = ("table_id", "commitment", "seats")
_SHARED_OF_GAME = ("game", "players", "rules_version", "options")


# The exit status if nothing differs, but bots of other versions decided.
_UNVERIFIED = 3


class _DifferenceError(Exception):
    """Something in a record that does not follow from its root."""


class _Decisions(NamedTuple):
    seats: list[int]
    """Who decided at each ply."""
    versions: list[int]
    """The bots_version after each."""
    verified: int
    """The number of bots' decisions that are as they had to be."""
    unverified: dict[int, int]
    """How many could not be verified, by the version of their bots."""


@click.command("verify")
@click.argument("record", metavar="RECORD", type=_FILE)
@click.option(
    "--table",
    "table_files",
    multiple=True,
    type=_FILE,
    help="A table of the game as you received it, as text, or a file of several; may be given several times. The "
    "record is then compared with their headers, and each table with the one before.",
)
@click.option(
    "--bots",
    "added",
    type=AddedBots(),
    default=(),
    help="The bots that the service's operator had added, as chatiere serve --bots takes them. Their code is run; the "
    "record never names code.",
)
def command(record: Path, table_files: tuple[Path, ...], added: tuple[str, ...]) -> None:
    """Verify the record of a game at a sealed table.

    RECORD is a file with a TableRecord of the API in JSON, which TableService.GetRecord returns. The command checks,
    without any server, that the commitment is to the root, that chance came from the root, that the game is legal and
    over, and that every bot chose what it had to choose. It reports the first difference, and exits with 1; with 2 if a
    file cannot be read.

    For each given table, the command also checks that game, seats and commitment match the record, and that the seat
    that moved is the one that decided there. Of the tables of two plies in a row, the second has to be made of the
    first, by its hash; one ply can have only one table. Only the service can read the hidden part of a table.

    The commitment itself has to be one that you know from the game: give a table of it with --table, or compare the
    printed commitment. Bots are those of this release of Chatière and of --bots. The command cannot verify decisions
    of bots of another version that this release no longer has: it prints their number, and exits with 3 if everything
    else matches.
    """
    try:
        registry = Registry(added)
    except ValueError as error:
        raise CommandError(f"--bots: {error}") from error
    found = _read(record)
    tables = [table for path in table_files for table in _read_tables(path)]
    try:
        for table in tables:
            _compare(found, table.header)
        decisions = _verify(found, registry)
        _verify_chain(tables, decisions)
    except _DifferenceError as error:
        click.echo(f"{record}: {error}", err=True)
        raise click.exceptions.Exit(1) from error
    made, verified = len(decisions.seats), decisions.verified
    click.echo(f"table {found.table_id.hex()}: {made} decisions, {verified} of them by bots, as recorded")
    click.echo(f"commitment {found.commitment.hex()}{_held_against(tables)}")
    for version, number in decisions.unverified.items():
        known = ", ".join(map(str, versions()))
        click.echo(f"not verified: {number} decisions of bots of version {version}; this release has version {known}")
    if decisions.unverified:
        raise click.exceptions.Exit(_UNVERIFIED)


class _Table(NamedTuple):
    header: pb.TableHeader
    hash: bytes


def _read(path: Path) -> pb.TableRecord:
    try:
        return json_format.Parse(path.read_bytes(), pb.TableRecord())
    except (OSError, ValueError, json_format.ParseError) as error:
        raise CommandError(f"{path} is not a record of a game at a sealed table: {error}") from error


def _read_tables(path: Path) -> list[_Table]:
    try:
        texts = path.read_text().split() or [""]
        return [_Table(header_of(table), hash_of(table)) for table in map(table_of, texts)]
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is not a sealed table: {error}") from error


def _held_against(tables: list[_Table]) -> str:
    if len(tables) < 2:
        return ", as in the table" if tables else ""
    return f", as in the {len(tables)} tables"


def _compare(record: pb.TableRecord, header: pb.TableHeader) -> None:
    for message, names in (record, _SHARED), (record.record, _SHARED_OF_GAME):
        for name in names:
            if getattr(message, name) != getattr(header, name):
                raise _DifferenceError(f"the record's {name} is not that of the table")


def _verify_chain(tables: list[_Table], decisions: _Decisions) -> None:
    seats = decisions.seats
    hashes: dict[int, bytes] = {}
    for header, table_hash in tables:
        ply = header.ply
        if ply > len(seats):
            raise _DifferenceError(f"a table of ply {ply}, but the record has {len(seats)} decisions")
        if ply and header.mover != seats[ply - 1]:
            raise _DifferenceError(f"the table of ply {ply} was made by seat {header.mover}, not {seats[ply - 1]}")
        if ply and (header.bots_version or 1) != (version := decisions.versions[ply - 1]):
            raise _DifferenceError(
                f"the table of ply {ply} has bots of version {header.bots_version or 1}, the record of {version}"
            )
        if not ply and header.parent != NO_PARENT:
            raise _DifferenceError("the table of ply 0 is made of another one")
        if hashes.setdefault(ply, table_hash) != table_hash:
            raise _DifferenceError(f"two tables of ply {ply}: {hashes[ply].hex()} and {table_hash.hex()}")
    for header, _ in tables:
        before = hashes.get(header.ply - 1, header.parent)
        if header.parent != before:
            raise _DifferenceError(
                f"the table of ply {header.ply} is made of {header.parent.hex()}, not of that of ply {header.ply - 1}, "
                f"{before.hex()}"
            )


def _verify(record: pb.TableRecord, registry: Registry) -> _Decisions:
    if len(record.root) != roots.ROOT_SIZE or roots.commitment_of(record.table_id, record.root) != record.commitment:
        raise _DifferenceError("the commitment is not to this root")
    stream = record.record.stream
    if (stream.seed, stream.game_number) != roots.stream_of(record.root):
        raise _DifferenceError("the seed and game number are not those of the root")
    try:
        position = _begin(record)
        return _play(position, record, registry)
    except EngineError as error:
        raise _DifferenceError(f"{error.reason}: {error.message}") from error


def _begin(record: pb.TableRecord) -> Position:
    played = record.record
    game = engine.game(played.game)
    options = {}
    if played.HasField("options"):
        if (named := played.options.WhichOneof("game")) not in (None, game.name):
            raise _DifferenceError(f"{named} options for a {game.name} game")
        options = codec(game.name).read_options(Reader(getattr(played.options, game.name)))
    seed, game_number = roots.stream_of(record.root)
    position = game.new_game(
        played.players, options, seed=seed, game_number=game_number, rules_version=played.rules_version
    )
    if len(record.seats) != played.players:
        raise _DifferenceError(f"{len(record.seats)} seats for {played.players} players")
    return position


def _play(position: Position, record: pb.TableRecord, registry: Registry) -> _Decisions:
    actions = record.record.actions
    of_bots = [version or 1 for version in record.bots_versions] or [1] * len(actions)
    if len(of_bots) != len(actions):
        raise _DifferenceError(f"{len(of_bots)} versions of bots for {len(actions)} decisions")
    seats: list[int] = []
    verified = 0
    unverified: Counter[int] = Counter()
    for ply, (action, version) in enumerate(zip(actions, of_bots, strict=True)):
        position.require_decision()
        seat = position.current_player()
        seats.append(seat)
        spec = record.seats[seat].bot
        if spec:
            chosen = _choice(registry, spec, version, position, roots.luck_of(record.root, ply))
            if chosen is None:
                unverified[version] += 1
            elif chosen != action:
                raise _DifferenceError(f"ply {ply}: seat {seat}, {spec}, would have chosen {chosen}, not {action}")
            else:
                verified += 1
        position.apply(action)
    if not position.is_terminal():
        raise _DifferenceError("the game is not over at the end of the record")
    return _Decisions(seats, of_bots, verified, unverified)


def _choice(registry: Registry, spec: str, version: int, position: Position, luck: int) -> int | None:
    # None: of a version that this release does not have.
    try:
        bot = registry.get(spec, position.game, position.num_players(), version)
    except OtherVersionError:
        return None
    except ValueError as error:
        raise _DifferenceError(str(error)) from error
    if not bot.is_reproducible:
        raise _DifferenceError(
            f"{spec} cannot sit at a table: its choices depend on time, or it does not declare itself reproducible"
        )
    return int(choose(bot, decisions_at(position, bot, luck))[0])
