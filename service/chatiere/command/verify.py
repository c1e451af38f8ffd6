"""chatiere verify."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import click
from google.protobuf import json_format

from chatiere import engine
from chatiere.bots import OtherVersionError, Registry, versions
from chatiere.bots.hosting import choose, decisions_at
from chatiere.clients.sealed_seat import hash_of, header_of
from chatiere.command.common import AddedBots, CommandError
from chatiere.command.formats import Format, table_from, unreadable
from chatiere.engine import EngineError, Position, codec
from chatiere.engine.wire import Reader
from chatiere.service.tables import roots
from chatiere.service.tables.seal import NO_PARENT
from chatiere.v1 import table_service_pb2 as pb

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
# The fields that all tables of a game have in common with the game's TableRecord, and with the GameRecord in it.
_SHARED = ("table_id", "commitment")
_SHARED_OF_GAME = ("game", "players", "rules_version", "options")


# The exit status if no difference was found, but some decisions by bots of other versions, or some steps between
# tables, could not be verified.
_UNVERIFIED = 3


class _DifferenceError(Exception):
    """A part of a record differs from the value that follows from the root or from another part."""


class _History:
    """The plies of a record's decisions and amendments, and the holders of the seats at each ply."""

    def __init__(self, record: pb.TableRecord) -> None:
        self.amendments = {each.ply: each.amendment for each in record.amendments}
        self.plies: list[int] = []
        """The ply of the table that each decision created."""
        # Lists of holders, from the last ply backwards, each with the first ply at which these holders have their
        # seats.
        seats, self._seats = list(record.seats), [(0, list(record.seats))]
        for ply, amendment in sorted(self.amendments.items(), reverse=True):
            if amendment.HasField("replacement"):
                self._seats[-1] = ply, list(seats)
                self._undo(seats, amendment.replacement)
                self._seats.append((0, list(seats)))
        ply = 0
        for at, amendment in sorted(self.amendments.items()):
            self.plies += range(ply + 1, at)
            ply = at
            if amendment.HasField("take_back"):
                if amendment.take_back.decisions > len(self.plies):
                    raise _DifferenceError(f"at ply {at} more decisions are taken back than were made")
                del self.plies[amendment.take_back.decisions :]
        self.last = ply + len(record.record.actions) - len(self.plies)
        if self.last < ply:
            raise _DifferenceError("the record has fewer decisions than its amendments need")
        self.plies += range(ply + 1, self.last + 1)

    @staticmethod
    def _undo(seats: list[pb.TableSeat], replacement: pb.TableReplacement) -> None:
        if replacement.seat >= len(seats) or seats[replacement.seat] != replacement.holder:
            raise _DifferenceError(f"the holder of seat {replacement.seat} does not match its replacement")
        seats[replacement.seat] = replacement.before

    def seats(self, ply: int) -> list[pb.TableSeat]:
        """Return the holders of the seats at the table of a ply."""
        return next(seats for since, seats in self._seats if since <= ply)


class _Decisions(NamedTuple):
    history: _History
    seats: list[int]
    """The seat that made each decision."""
    versions: list[int]
    """The version of the bots in the table that each decision created."""
    verified: int
    """The number of verified decisions by bots."""
    unverified: dict[int, int]
    """The number of decisions that could not be verified, by the version of their bots."""


@click.command("verify")
@click.argument("record", metavar="RECORD", type=_FILE)
@click.option(
    "--table",
    "table_files",
    multiple=True,
    type=_FILE,
    help="A table of the game as you received it, or a file of several tables in base64, one per line. May be given "
    "several times. The record is compared with the headers of the tables, and each table with the previous one.",
)
@click.option(
    "--bots",
    "added",
    type=AddedBots(),
    default=(),
    help="The bots that the service's operator had added, as in chatiere serve --bots. Their code is executed. The "
    "record cannot name code.",
)
def command(record: Path, table_files: tuple[Path, ...], added: tuple[str, ...]) -> None:
    """Verify the record of a game at a sealed table.

    RECORD is a JSON file: the response of TableService.GetRecord, or the TableRecord in it. The command needs no
    server. It checks that the commitment matches the root, and that all chance events follow from the root. It also
    checks that the game is legal and over, and that every bot chose the action that follows from the record. The
    command reports the first difference, and exits with 1. It exits with 2 if a file cannot be read.

    For each given table, the command also checks that the game, the seats and the commitment match the record. The seat
    that moved must be the seat that decided at that ply. A ply can have only one table. If tables of two consecutive
    plies are given, the second table must contain the first table's hash. If a table is missing between given tables,
    the command prints the missing ply, and exits with 3. Only the service can read the hidden part of a table.

    You must know the commitment from the game: give one of its tables with --table, or compare the printed commitment.
    The command has the bots of this release of Chatière and of --bots. If this release does not have the version of a
    bot, the bot's decisions cannot be verified. The command prints the number of these decisions, and exits with 3 if
    everything else matches.
    """
    try:
        registry = Registry(added)
    except ValueError as error:
        raise CommandError(f"--bots: {error}") from error
    found = _read(record)
    tables = [table for path in table_files for table in _read_tables(path)]
    try:
        history = _History(found)
        for table in tables:
            _compare(found, history, table.header)
        decisions = _verify(found, history, registry)
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
    missing = _missing_plies(tables)
    if missing:
        click.echo(f"not verified: no table of {missing}")
    if decisions.unverified or missing:
        raise click.exceptions.Exit(_UNVERIFIED)


class _Table(NamedTuple):
    header: pb.TableHeader
    hash: bytes


def _read(path: Path) -> pb.TableRecord:
    response = pb.GetRecordResponse()
    try:
        text = path.read_text("utf-8-sig")
        try:
            return json_format.Parse(text, response).record
        except json_format.ParseError:
            return json_format.Parse(text, pb.TableRecord())
    except (OSError, ValueError, json_format.ParseError) as error:
        reason = ValueError(f"{path} is not a record of a game at a sealed table: {error}")
        raise unreadable(path, Format.TABLE_RECORD, reason) from error


def _read_tables(path: Path) -> list[_Table]:
    try:
        texts = path.read_text("utf-8-sig").split() or [""]
        return [_Table(header_of(table), hash_of(table)) for table in map(table_from, texts)]
    except (OSError, ValueError) as error:
        reason = ValueError(f"{path} is not a sealed table: {error}")
        raise unreadable(path, Format.SEALED_TABLES, reason) from error


def _held_against(tables: list[_Table]) -> str:
    plies = {table.header.ply for table in tables}
    if not plies:
        return ""
    if len(plies) == 1:
        return f", as in the table of ply {plies.pop()}"
    return f", as in the {len(plies)} tables of plies {min(plies)} to {max(plies)}"


def _missing_plies(tables: list[_Table]) -> str:
    # Return the missing plies between the plies of the tables, as text, such as "plies 3, 7-9".
    plies = sorted({table.header.ply for table in tables})
    gaps = [(ply + 1, later - 1) for ply, later in pairwise(plies) if later > ply + 1]
    if not gaps:
        return ""
    is_one = len(gaps) == 1 and gaps[0][0] == gaps[0][1]
    names = [str(first) if first == last else f"{first}-{last}" for first, last in gaps]
    return f"{'ply' if is_one else 'plies'} {', '.join(names)}"


def _compare(record: pb.TableRecord, history: _History, header: pb.TableHeader) -> None:
    for message, names in (record, _SHARED), (record.record, _SHARED_OF_GAME):
        for name in names:
            if getattr(message, name) != getattr(header, name):
                raise _DifferenceError(f"the record's {name} does not match the table")
    if history.seats(header.ply) != list(header.seats):
        raise _DifferenceError("the record's seats do not match the table")
    if history.amendments.get(header.ply, pb.TableAmendment()) != header.amendment:
        raise _DifferenceError(f"the record's amendment of ply {header.ply} does not match the table")


def _verify_chain(tables: list[_Table], decisions: _Decisions) -> None:
    made = dict(zip(decisions.history.plies, zip(decisions.seats, decisions.versions, strict=True), strict=True))
    hashes: dict[int, bytes] = {}
    for header, table_hash in tables:
        ply = header.ply
        if ply > decisions.history.last:
            raise _DifferenceError(f"a table of ply {ply}, but the record has {decisions.history.last} decisions")
        # Decisions that were taken back are not in the record.
        seat, version = made.get(ply, (header.mover, header.bots_version or 1))
        if header.mover != seat:
            raise _DifferenceError(f"the table of ply {ply} was made by seat {header.mover}, not {seat}")
        if (header.bots_version or 1) != version:
            raise _DifferenceError(
                f"the table of ply {ply} has bots of version {header.bots_version or 1}, the record of {version}"
            )
        if not ply and header.parent != NO_PARENT:
            raise _DifferenceError("the table of ply 0 follows another table")
        if hashes.setdefault(ply, table_hash) != table_hash:
            raise _DifferenceError(f"two tables of ply {ply}: {hashes[ply].hex()} and {table_hash.hex()}")
    for header, _ in tables:
        before = hashes.get(header.ply - 1, header.parent)
        if header.parent != before:
            raise _DifferenceError(
                f"the table of ply {header.ply} follows {header.parent.hex()}, not the table of ply {header.ply - 1}, "
                f"{before.hex()}"
            )


def _verify(record: pb.TableRecord, history: _History, registry: Registry) -> _Decisions:
    if len(record.root) != roots.ROOT_SIZE or roots.commitment_of(record.table_id, record.root) != record.commitment:
        raise _DifferenceError("the commitment does not match the root")
    stream = record.record.stream
    if (stream.seed, stream.game_number) != roots.stream_of(record.root):
        raise _DifferenceError("the seed and game number do not match the root")
    try:
        position = _begin(record)
        return _play(position, record, history, registry)
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


def _play(position: Position, record: pb.TableRecord, history: _History, registry: Registry) -> _Decisions:
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
        spec = history.seats(history.plies[ply] - 1)[seat].bot
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
    return _Decisions(history, seats, of_bots, verified, unverified)


def _choice(registry: Registry, spec: str, version: int, position: Position, luck: int) -> int | None:
    # Return the choice of a bot, or None if this release does not have the version of the bot.
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
