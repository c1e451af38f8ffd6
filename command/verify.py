"""chatiere verify."""

from pathlib import Path

import click
from google.protobuf import json_format

from chatiere import bots, engine
from chatiere.bots.hosting import decisions_at
from chatiere.clients.table import header_of, table_of
from chatiere.command.common import CommandError
from chatiere.engine import EngineError, Position, codec
from chatiere.engine.wire import Reader
from chatiere.service.tables import roots
from chatiere.v1 import table_service_pb2 as pb

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
# The fields that all tables of a game share with its record, beside the game's own.
_SHARED = ("table_id", "commitment", "seats")
_SHARED_OF_GAME = ("game", "players", "rules_version", "options")


class _DifferenceError(Exception):
    """Something in a record that does not follow from its root."""


@click.command("verify")
@click.argument("record", metavar="RECORD", type=_FILE)
@click.option(
    "--table",
    "table_file",
    type=_FILE,
    help="A table of the game as you were sent it, as text: the record is then held against its header, too.",
)
def command(record: Path, table_file: Path | None) -> None:
    """Verify the record of a game at a sealed table.

    RECORD is a file with a TableRecord of the API in JSON, which TableService.GetRecord returns. The command checks,
    without any server, that the commitment is to the root, that chance came from the root, that the game is legal and
    over, and that every bot chose what it had to choose. At the first difference it says which, and exits with 1; with
    2 if a file cannot be read.

    The commitment itself has to be one that you know from the game: give a table of it with --table, or compare the
    commitment that is printed. Bots are those of this release of Chatière.
    """
    found = _read(record)
    header = None if table_file is None else _read_header(table_file)
    try:
        if header is not None:
            _compare(found, header)
        decided = _verify(found)
    except _DifferenceError as error:
        click.echo(f"{record}: {error}", err=True)
        raise click.exceptions.Exit(1) from error
    click.echo(
        f"table {found.table_id.hex()}: {len(found.record.actions)} decisions, {decided} of them by bots, as told"
    )
    click.echo(f"commitment {found.commitment.hex()}{'' if header is None else ', as in the table'}")


def _read(path: Path) -> pb.TableRecord:
    try:
        return json_format.Parse(path.read_bytes(), pb.TableRecord())
    except (OSError, ValueError, json_format.ParseError) as error:
        raise CommandError(f"{path} is no record of a game at a sealed table: {error}") from error


def _read_header(path: Path) -> pb.TableHeader:
    try:
        return header_of(table_of(path.read_text()))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is no sealed table: {error}") from error


def _compare(record: pb.TableRecord, header: pb.TableHeader) -> None:
    for told, names in (record, _SHARED), (record.record, _SHARED_OF_GAME):
        for name in names:
            if getattr(told, name) != getattr(header, name):
                raise _DifferenceError(f"the record's {name} is not that of the table")


def _verify(record: pb.TableRecord) -> int:
    # The number of decisions that bots made.
    if len(record.root) != roots.ROOT_SIZE or roots.commitment_of(record.table_id, record.root) != record.commitment:
        raise _DifferenceError("the commitment is not to this root")
    stream = record.record.stream
    if (stream.seed, stream.game_number) != roots.stream_of(record.root):
        raise _DifferenceError("the seed and game number are not those of the root")
    try:
        position = _begin(record)
        return _play(position, record)
    except EngineError as error:
        raise _DifferenceError(f"{error.reason}: {error.message}") from error


def _begin(record: pb.TableRecord) -> Position:
    played = record.record
    game = engine.game(played.game)
    game.check_rules_version(played.rules_version)
    options = {}
    if played.HasField("options"):
        if (named := played.options.WhichOneof("game")) not in (None, game.name):
            raise _DifferenceError(f"{named} options for a {game.name} game")
        options = codec(game.name).read_options(Reader(getattr(played.options, game.name)))
    seed, game_number = roots.stream_of(record.root)
    position = game.new_game(played.players, options, seed=seed, game_number=game_number)
    if len(record.seats) != played.players:
        raise _DifferenceError(f"{len(record.seats)} seats for {played.players} players")
    return position


def _play(position: Position, record: pb.TableRecord) -> int:
    decided = 0
    for ply, action in enumerate(record.record.actions):
        position.require_decision()
        seat = position.current_player()
        spec = record.seats[seat].bot
        if spec:
            chosen = _choice(spec, position, roots.luck_of(record.root, ply))
            if chosen != action:
                raise _DifferenceError(f"ply {ply}: seat {seat}, {spec}, would have chosen {chosen}, not {action}")
            decided += 1
        position.apply(action)
    if not position.is_terminal():
        raise _DifferenceError("the game is not over at the end of the record")
    return decided


def _choice(spec: str, position: Position, luck: int) -> int:
    try:
        bot = bots.get(spec, position.game, position.num_players())
    except ValueError as error:
        raise _DifferenceError(str(error)) from error
    if not bot.is_reproducible:
        raise _DifferenceError(f"{spec}, whose budget depends on time, is no bot for a table")
    return int(bot.choose(decisions_at(position, bot, luck))[0])
