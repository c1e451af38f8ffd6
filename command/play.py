"""chatiere play."""

import click

from chatiere import bots
from chatiere.clients import begin
from chatiere.clients import play as play_match
from chatiere.clients.terminal import narrate
from chatiere.command.common import BOTS_HELP, SEED, address_option, info_of, parse_bots, player_count, reach


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
@address_option
def command(game: str, players: int | None, seed: int, names: str | None, address: str | None) -> None:
    """Watch bots play a game, move by move.

    Every move goes through a gRPC channel. All hands are shown; each bot knows what its seat knows.
    """
    with reach(address) as client:
        info = info_of(client, game)
        seats = player_count(info, players)
        chosen = parse_bots(info, seats, ",".join(bots.names(game)) if names is None else names)
        seated = [chosen[seat % len(chosen)] for seat in range(seats)]
        beginning = begin(client, game, seats, seed=seed)
        steps = play_match(client, beginning, [bot for _, bot in seated], seed)
        for line in narrate(info, [spec for spec, _ in seated], beginning, steps):
            click.echo(line)
