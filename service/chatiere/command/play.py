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
from chatiere.command.common import SEED, CommandError
from chatiere.command.formats import record_in
from chatiere.command.games import BOTS_HELP, parse_bots, player_count
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
@click.option("--seed", type=SEED, help="The same seed gives the same game. Default: 1; with --human, a random seed.")
@click.option(
    "--bots",
    "names",
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help="The bots, which take turns at the seats that people do not have. "
    f"{BOTS_HELP} Bots of the game's ladder also have names, such as house-cat. Default: the ladder, from its lowest "
    "rung; with --human, the ladder's second rung.",
)
@click.option(
    "--resume",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Continue a saved game. The file determines game, players, seed and, unless given here, people and bots.",
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

    Every move is sent over a gRPC channel. Without --human, all hands are shown. With --human, only information that
    the person's seat may have is shown. Several people take turns at one terminal. The terminal is cleared between
    turns. Each bot has only the information of its seat. Playing in a terminal needs chatiere[play]. Without a
    terminal, moves of people are read line by line.
    """
    if path is not None and path.suffix != records.SUFFIX:
        raise CommandError(f"{path}: the name of a record must end in {records.SUFFIX}")
    if path is not None and path.exists():
        raise CommandError(f"{path}: the file exists")
    if resume is not None:
        if game is not None or players is not None or seed is not None:
            raise CommandError("--resume continues the game in the file: omit --game, --players and --seed")
        record = record_in(resume)
    elif game is None:
        raise CommandError("--game is missing: name a game, or a saved game with --resume FILE")
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
    # Return the ladder's bots by the names of their rungs, weakest first. A game without a ladder has two bots instead.
    rungs = {rung.name: rung.bot_for(players) for rung in ladder(engine.game(info.name))}
    return rungs or {"random": "random", "flat": "flat"}


def _chosen(info: GameInfo, players: int, given: list[str]) -> list[tuple[str, Bot]]:
    # Return the bots with their specs. Bots of the ladder may be given by the names of their rungs.
    rungs = _rungs(info, players)
    return parse_bots(info, players, ",".join(rungs.get(name, name) for name in given))


def _recorded(record: GameRecord, steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        record.actions.append(step.action.id)
        yield step


def _sit_down(
    client: Client, info: GameInfo, record: GameRecord, people: tuple[int, ...], names: str | None, path: Path | None
) -> None:
    # Let people continue the game of a record. `path` is the file of a saved game.
    if record.WhichOneof("chance") != "stream":
        raise CommandError(f"{path}: this record has explicit chance, so its future chance events are unknown")
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
        raise CommandError("several people need a terminal, which is cleared between their turns")
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
    # Return the bots and their specs by seat: the named bots, else the bots of the record, else the default.
    seats = [seat for seat in range(record.players) if seat not in people]
    _, usual, *_ = _rungs(info, record.players).values()
    if names is None and record.seat_names:
        if any(record.seat_names[seat] == _PERSON for seat in seats):
            raise CommandError("a bot must replace the person at a seat: name the bots with --bots")
        # The file may be untrusted, so it must not determine which code runs here.
        recorded = ",".join(record.seat_names[seat] for seat in seats) or usual
        chosen = parse_bots(info, record.players, recorded, get=Registry().get)
    else:
        chosen = _chosen(info, record.players, [usual] if names is None else bots.split(names))
    return {seat: chosen[number % len(chosen)] for number, seat in enumerate(seats)}
