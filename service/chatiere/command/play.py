"""chatiere play."""

import secrets
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

import click

from chatiere import bots, engine
from chatiere.bots import Bot, Registry
from chatiere.bots.ladder import ladder
from chatiere.clients import Client, Step, begin, records
from chatiere.clients import play as play_match
from chatiere.command.common import BOTS_HELP, SEED, CommandError, parse_bots, player_count
from chatiere.command.servers import address_option, info_of, reach
from chatiere.engine.core.record import MAX_NAME_LENGTH
from chatiere.terminal.human_match import HumanMatch
from chatiere.terminal.human_terminal import HumanTerminal
from chatiere.terminal.line_input import line_input
from chatiere.terminal.lines import narrate
from chatiere.v1.game_pb2 import GameInfo
from chatiere.v1.record_pb2 import GameRecord, RecordStream

_PERSON = "human"


@click.command("play")
@click.option("--game", metavar="NAME", help="The game's name, as listed by the server.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option(
    "--human",
    "people",
    metavar="SEAT",
    type=click.IntRange(min=0),
    multiple=True,
    help="A seat, from 0, that a person plays in this terminal; may be given several times. Default: none.",
)
@click.option("--seed", type=SEED, help="The same seed gives the same game. Default: 1; with --human a random one.")
@click.option(
    "--bots",
    "names",
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help="The bots, which take in turn the seats that people do not have. "
    f"{BOTS_HELP} Those of the game's ladder also have names, such as house-cat. Default: the ladder, from its lowest "
    "rung on; with --human its second rung.",
)
@click.option(
    "--resume",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Continue a saved game: game, players, seed and, unless given, people and bots come from the file.",
)
@click.option(
    "--record",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help=f"Write the record of the game to this file, NAME{records.SUFFIX}, for chatiere replay.",
)
@address_option
def command(
    game: str | None,
    players: int | None,
    people: tuple[int, ...],
    seed: int | None,
    names: str | None,
    resume: Path | None,
    path: Path | None,
    address: str | None,
) -> None:
    """Watch bots play a game, move by move, or play against them.

    Every move goes through a gRPC channel. Without --human all hands are shown; with it only what the person's seat
    may know. Several people take turns at one terminal, whose screen is cleared between them. Each bot knows what its
    seat knows. Needs chatiere[play] for people in a terminal; without one, people's moves are read line by line.
    """
    if path is not None and path.suffix != records.SUFFIX:
        raise CommandError(f"{path}: the name of a record ends in {records.SUFFIX}")
    if resume is not None:
        if game is not None or players is not None or seed is not None:
            raise CommandError("--resume goes on with the file's game: leave out --game, --players and --seed")
        try:
            record = records.read_record(resume)
        except (records.MalformedRecordError, OSError) as error:
            raise CommandError(str(error)) from error
    elif game is None:
        raise CommandError("--game is missing: name a game, or a saved one with --resume FILE")
    else:
        if seed is None:
            seed = secrets.randbits(64) if people else 1
        record = GameRecord(game=game, stream=RecordStream(seed=seed))
    with reach(address) as client:
        info = info_of(client, record.game)
        if resume is None:
            record.players = player_count(info, players)
            record.rules_version = info.rules_version
        if people or resume is not None:
            _sit_down(client, info, record, people, names, resume)
        else:
            _watch(client, info, record, names)
    if path is not None:
        try:
            records.write_record(path, record)
        except OSError as error:
            raise CommandError(str(error)) from error


def _watch(client: Client, info: GameInfo, record: GameRecord, names: str | None) -> None:
    seed, players = record.stream.seed, record.players
    given = [*_rungs(info, players)] if names is None else bots.split(names)
    chosen = _chosen(info, players, given)
    seated = [chosen[seat % len(chosen)] for seat in range(players)]
    specs = [spec for spec, _ in seated]
    record.date = date.today().isoformat()
    record.seat_names.extend(spec[:MAX_NAME_LENGTH] for spec in specs)
    beginning = begin(client, info.name, players, seed=seed)
    steps = _recorded(record, play_match(client, beginning, [bot for _, bot in seated], seed))
    shown = [given[seat % len(given)] for seat in range(players)]
    for line in narrate(info, shown, beginning, steps):
        click.echo(line)


def _rungs(info: GameInfo, players: int) -> dict[str, str]:
    # The ladder's bots by the names of its rungs, the weakest first.
    return {rung.name: rung.bot_for(players) for rung in ladder(engine.game(info.name))}


def _chosen(info: GameInfo, players: int, given: list[str]) -> list[tuple[str, Bot]]:
    # The bots, of which rungs are given by their names, with their specs.
    rungs = _rungs(info, players)
    return parse_bots(info, players, ",".join(rungs.get(name, name) for name in given))


def _recorded(record: GameRecord, steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        record.actions.append(step.action.id)
        yield step


def _sit_down(
    client: Client, info: GameInfo, record: GameRecord, people: tuple[int, ...], names: str | None, path: Path | None
) -> None:
    # Lets people play the game of a record on; `path`: its file.
    if record.WhichOneof("chance") != "stream":
        raise CommandError(f"{path}: chance is explicit in this record, so nobody knows what comes next")
    player_count(info, record.players)
    if path is not None and not people:
        people = tuple(seat for seat, name in enumerate(record.seat_names) if name == _PERSON)
        if not people:
            raise CommandError(f"{path} does not name the seats of people: name them with --human")
    for seat in people:
        if seat >= record.players:
            raise CommandError(f"--human {seat}: the seats of {record.players} players are 0 to {record.players - 1}")
    seated = _seat_bots(info, record, people, names)
    try:
        lines = line_input()
    except ImportError as error:
        raise CommandError(str(error)) from error
    if len(set(people)) > 1 and not lines.is_terminal:
        raise CommandError("several people need a terminal, whose screen is cleared between them")
    if path is None:
        record.date = date.today().isoformat()
    del record.seat_names[:]
    record.seat_names.extend(seated[seat][0] if seat in seated else _PERSON for seat in range(record.players))
    try:
        match = HumanMatch(client, record, {seat: bot for seat, (_, bot) in seated.items()})
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from error
    HumanTerminal(match, info, record.seat_names, lines, path).run()
    record.CopyFrom(match.record())


def _seat_bots(
    info: GameInfo, record: GameRecord, people: tuple[int, ...], names: str | None
) -> dict[int, tuple[str, Bot]]:
    # The bots and their specs by seat: those named, or those of the record, or the default.
    seats = [seat for seat in range(record.players) if seat not in people]
    _, usual, *_ = _rungs(info, record.players).values()
    if names is None and record.seat_names:
        if any(record.seat_names[seat] == _PERSON for seat in seats):
            raise CommandError("a seat that a person played is a bot's now: name the bots with --bots")
        # Whoever wrote the file must not choose the code that runs here.
        recorded = ",".join(record.seat_names[seat] for seat in seats) or usual
        chosen = parse_bots(info, record.players, recorded, get=Registry().get)
    else:
        chosen = _chosen(info, record.players, [usual] if names is None else bots.split(names))
    return {seat: chosen[number % len(chosen)] for number, seat in enumerate(seats)}
