"""chatiere play."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import click

from chatiere import bots
from chatiere.clients import Step, begin
from chatiere.clients import play as play_match
from chatiere.clients.records import SUFFIX, begin_record, write_record
from chatiere.clients.terminal import narrate
from chatiere.command.common import (
    BOTS_HELP,
    SEED,
    CommandError,
    address_option,
    info_of,
    parse_bots,
    player_count,
    reach,
)
from chatiere.engine.core.record import LONGEST_NAME
from chatiere.v1.record_pb2 import GameRecord


@click.command("play")
@click.option("--game", required=True, metavar="NAME", help="The game's name, as listed by the server.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same game.")
@click.option(
    "--bots",
    "names",
    metavar="NAME[:PARAMETER=NUMBER,…],…",
    help=f"The bots, which take the seats in turn. {BOTS_HELP} Default: all bots for the game.",
)
@click.option(
    "--record",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help=f"Write the record of the game to this file, NAME{SUFFIX}, for chatiere replay.",
)
@address_option
def command(
    game: str, players: int | None, seed: int, names: str | None, path: Path | None, address: str | None
) -> None:
    """Watch bots play a game, move by move.

    Every move goes through a gRPC channel. All hands are shown; each bot knows what its seat knows.
    """
    if path is not None and path.suffix != SUFFIX:
        raise CommandError(f"{path}: the name of a record ends in {SUFFIX}")
    with reach(address) as client:
        info = info_of(client, game)
        seats = player_count(info, players)
        chosen = parse_bots(info, seats, ",".join(bots.names(game)) if names is None else names)
        seated = [chosen[seat % len(chosen)] for seat in range(seats)]
        beginning = begin(client, game, seats, seed=seed)
        specs = [spec for spec, _ in seated]
        record = begin_record(
            beginning,
            seats,
            names=[spec[:LONGEST_NAME] for spec in specs],
            date=datetime.now().astimezone().date().isoformat(),
        )
        steps = _recorded(record, play_match(client, beginning, [bot for _, bot in seated], seed))
        for line in narrate(info, specs, beginning, steps):
            click.echo(line)
    if path is not None:
        try:
            write_record(path, record)
        except OSError as error:
            raise CommandError(str(error)) from error


def _recorded(record: GameRecord, steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        record.actions.append(step.action.id)
        yield step
