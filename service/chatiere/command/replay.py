"""chatiere replay."""

from pathlib import Path
from typing import Any, NamedTuple

import click

from chatiere.clients import ChatiereError, Client, TransportError
from chatiere.clients.records import SUFFIX, printable
from chatiere.command.common import CommandError
from chatiere.command.formats import Format, record_in, unreadable
from chatiere.command.samples import CHANCE, OVER, MalformedSampleError, SampleGame, read_sample
from chatiere.command.servers import address_option, info_of, reach
from chatiere.engine import EngineError, codec, game
from chatiere.engine.wire import fill
from chatiere.service.base.names import is_visible
from chatiere.terminal.lines import show_stretch
from chatiere.v1.game_pb2 import TURN_KIND_CHANCE, TURN_KIND_OVER, Include, Options, Position
from chatiere.v1.record_pb2 import GameRecord

SPECTATOR = -1
# The maximum length of a name in labels (Include.seat_names), in characters.
_MAX_LABEL_NAME = 40
_PLY = click.IntRange(0, 2**32 - 1)
_INCLUDE = Include(legal_actions=True, score=True)


class Viewer(click.ParamType[int]):
    """The type of a parameter SEAT or "spectator". The value of "spectator" is SPECTATOR."""

    name = "SEAT|spectator"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of a seat, or SPECTATOR."""
        if value == "spectator":
            return SPECTATOR
        if not (value.isascii() and value.isdigit() and len(value) <= 3):
            self.fail(f"{value!r} is neither a seat nor 'spectator'", param, ctx)
        return int(value)


class Difference(NamedTuple):
    """The first difference between the service and a sample game."""

    line: int
    expected: str
    actual: str


@click.command("replay")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE…", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--viewer",
    type=Viewer(),
    help="Show records as a seat or a spectator may see them. Default: show all hands.",
)
@click.option("--from", "first", type=_PLY, metavar="PLY", help="Show records from this ply. Default: 0.")
@click.option("--to", "last", type=_PLY, metavar="PLY", help="Show records up to this ply. Default: all plies.")
@address_option
def command(
    files: tuple[Path, ...], viewer: int | None, first: int | None, last: int | None, address: str | None
) -> None:
    """Show records of games, or check the service against sample games.

    A record is a file NAME.chatiere, as written by chatiere play --record. The command checks the record, replays it by
    the service, and shows it move by move. A ply is the number of decisions made so far. The command exits with 1 if
    the service refuses to replay the record, and with 2 if the file is not a record or does not have the given plies.

    All other files are sample games. The command replays them over a gRPC channel, and compares every response of the
    service with the file. A sample game is a file of JSON lines. The first line describes the game, and each further
    line is a step, with explicit chance:

    \b
      {"game": name, "players": number, "options": {name: value, …}}
          the options as named in the rules of the game. A set of cards is one
          integer, in which bit card - 1 is set
      {"actor": -1, "outcomes": [[outcome, weight], …], "move": outcome}
          a chance event, with all possible outcomes and their smallest whole
          weights
      {"actor": seat, "legal": [id, …], "totals": [total, …], "move": id}
          a decision, with the legal dense ids and the scores so far
      {"actor": -2, "totals": [total, …], "winners": [seat, …]}
          the end of the game, the last line

    Outcomes and ids are in ascending order. The actor, outcomes, weights, ids, totals and winners must match in every
    line. At the first difference, the command prints the file, the line, and the expected and actual values, and exits
    with 1. It exits with 2 if a file is not a sample game or the service cannot be reached.
    """
    records = [(path, record_in(path)) for path in files if path.suffix == SUFFIX]
    samples = [_read_sample(path) for path in files if path.suffix != SUFFIX]
    if samples and (viewer, first, last) != (None, None, None):
        raise CommandError(f"--viewer, --from and --to apply only to records (*{SUFFIX})")
    steps = games = 0
    difference = None
    with reach(address) as client:
        for path, record in records:
            _show(client, path, record, viewer, first or 0, last)
        for sample in samples:
            matched, difference = _replay(client, sample)
            steps += matched
            if difference is not None:
                break
            games += 1
    if not samples:
        return
    total = sum(len(sample.steps) for sample in samples)
    click.echo(f"{steps} of {total} steps matched, {games} of {len(samples)} games complete.")
    if difference is not None:
        click.echo(f"{sample.path}, line {difference.line}:", err=True)
        click.echo(f"  expected: {difference.expected}", err=True)
        click.echo(f"  actual:   {difference.actual}", err=True)
        raise click.exceptions.Exit(1)


def _read_sample(path: Path) -> SampleGame:
    try:
        return read_sample(path)
    except (MalformedSampleError, OSError) as error:
        raise unreadable(path, Format.SAMPLE, error) from error


def _show(client: Client, path: Path, record: GameRecord, viewer: int | None, first: int, last: int | None) -> None:
    names = [printable(name) for name in record.seat_names]
    include = Include(score=True, seat_names=_in_labels(names))
    if viewer == SPECTATOR:
        include.spectator = True
    else:
        include.viewers.extend(range(record.players) if viewer is None else [viewer])
    try:
        positions = client.replay(record, first, last, include=include)
    except TransportError:
        raise
    except ChatiereError as error:
        if error.reason in ("INVALID_RANGE", "INVALID_SEAT"):
            raise CommandError(f"{path}: {error}") from error
        click.echo(f"{path}: {error}", err=True)
        raise click.exceptions.Exit(1) from error
    names = names or ["no name"] * record.players
    for line in show_stretch(info_of(client, record.game), names, positions, first, hands_open=viewer is None):
        click.echo(line)


def _in_labels(names: list[str]) -> list[str]:
    # Return the names if they are distinct, visible and short, as Include.seat_names requires. Otherwise labels contain
    # the numbers of the seats.
    fitting = {name for name in names if len(name) <= _MAX_LABEL_NAME and is_visible(name)}
    return names if len(fitting) == len(names) else []


def _replay(client: Client, sample: SampleGame) -> tuple[int, Difference | None]:
    # Return the number of steps that matched, and the first difference.
    position = _begin(client, sample)
    for number, step in enumerate(sample.steps):
        actual = _record_of(position)
        for name in ("actor", *actual):
            if step.expected.get(name) != actual[name]:
                return number, Difference(step.line, f"{name} {step.expected.get(name)}", f"{name} {actual[name]}")
        if step.move is None:
            continue
        try:
            if actual["actor"] == CHANCE:
                position = client.apply(position.state, outcome=step.move, include=_INCLUDE)
            else:
                position = client.apply(position.state, step.move, include=_INCLUDE)
        except TransportError:
            raise
        except ChatiereError as error:
            return number, Difference(step.line, f"move {step.move}", str(error))
    return len(sample.steps), None


def _begin(client: Client, sample: SampleGame) -> Position:
    options = Options()
    try:
        # Let the engine read the options by the names in the file, because it rejects unknown names.
        game(sample.game).new_game(sample.players, sample.options)
        own_options = getattr(options, sample.game)
        own_options.SetInParent()
        fill(own_options, codec(sample.game).put_options, sample.options)
        return client.new_game(sample.game, sample.players, options=options, explicit_chance=True, include=_INCLUDE)
    except TransportError:
        raise
    except (EngineError, ChatiereError) as error:
        raise CommandError(f"{sample.path}, line 1: {error}") from error


def _record_of(position: Position) -> dict[str, Any]:
    # Return the line of a sample game for a position.
    if position.turn.kind == TURN_KIND_CHANCE:
        return {"actor": CHANCE, "outcomes": [[each.outcome, each.weight] for each in position.chance_outcomes]}
    totals = list(position.score.totals)
    if position.turn.kind == TURN_KIND_OVER:
        return {"actor": OVER, "totals": totals, "winners": list(position.score.winners)}
    return {"actor": position.turn.seat, "legal": [action.id for action in position.legal_actions], "totals": totals}
