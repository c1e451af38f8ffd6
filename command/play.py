"""chatiere play."""

import click

from chatiere.clients import Client, begin, bot_names, make_bots
from chatiere.clients import play as play_match
from chatiere.clients.terminal import narrate
from chatiere.command.common import SEED, Refusal, address_option, reach
from chatiere.v1.game_pb2 import GameInfo


@click.command("play")
@click.option("--game", required=True, metavar="NAME", help="The game, such as the server lists it.")
@click.option("--players", type=int, help="How many seats. Default: the smallest number that the game is for.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed plays the same game.")
@click.option(
    "--bots",
    "names",
    metavar="NAME,…",
    help="Who plays: the seats take these bots in turn. Default: all that play the game; random plays any game.",
)
@address_option
def command(game: str, players: int | None, seed: int, names: str | None, address: str | None) -> None:
    """Watch bots play a game, move by move.

    Every move goes through a gRPC channel. All hands are shown.
    """
    with reach(address) as client:
        info = _info_of(client, game)
        seats = info.min_players if players is None else players
        if not info.min_players <= seats <= info.max_players:
            raise Refusal(f"{game} is for {info.min_players} to {info.max_players} players")
        known = bot_names(game)
        chosen = known if names is None else names.split(",")
        for name in chosen:
            if name not in known:
                raise Refusal(f"there is no bot {name!r} for {game}; there are: {', '.join(known)}")
        beginning = begin(client, game, seats, seed=seed)
        steps = play_match(client, beginning, make_bots(game, chosen, seats, seed))
        for line in narrate(info, [chosen[seat % len(chosen)] for seat in range(seats)], beginning, steps):
            click.echo(line)


def _info_of(client: Client, game: str) -> GameInfo:
    games = {info.name: info for info in client.list_games()}
    if game not in games:
        raise Refusal(f"there is no game {game!r}; there are: {', '.join(games)}")
    return games[game]
