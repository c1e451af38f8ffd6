"""chatiere play."""

import click

from chatiere.clients import begin, bot_names, make_bots
from chatiere.clients import play as play_match
from chatiere.clients.terminal import narrate
from chatiere.command.common import SEED, address_option, info_of, parse_bots, player_count, reach


@click.command("play")
@click.option("--game", required=True, metavar="NAME", help="The game's name, as listed by the server.")
@click.option("--players", type=int, help="The number of players. Default: the game's smallest.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same game.")
@click.option(
    "--bots",
    "names",
    metavar="NAME,…",
    help="The bots, which take the seats in turn. Default: all bots for the game; random plays any game.",
)
@address_option
def command(game: str, players: int | None, seed: int, names: str | None, address: str | None) -> None:
    """Watch bots play a game, move by move.

    Every move goes through a gRPC channel. All hands are shown.
    """
    with reach(address) as client:
        info = info_of(client, game)
        seats = player_count(info, players)
        chosen = parse_bots(info, ",".join(bot_names(game)) if names is None else names)
        beginning = begin(client, game, seats, seed=seed)
        steps = play_match(client, beginning, make_bots(game, chosen, seats, seed))
        for line in narrate(info, [chosen[seat % len(chosen)] for seat in range(seats)], beginning, steps):
            click.echo(line)
