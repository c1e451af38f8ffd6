"""chatiere rules."""

import click

from chatiere import engine
from chatiere.command.games import game_option, options_message
from chatiere.command.servers import address_option, reach
from chatiere.v1.game_service_pb2 import RULES_AUDIENCE_AUTHORS, RULES_AUDIENCE_PLAYERS


@click.command("rules")
@click.argument("game")
@click.option("--authors", is_flag=True, help="Show the specification, which is in English, instead of the rule sheet.")
@click.option("--language", metavar="LANGUAGE", help="The language of the rule sheet, such as fr. Default: English.")
@click.option("--players", type=click.IntRange(min=0), default=0, help="The number of players. Default: any.")
@game_option
@address_option
def command(
    game: str, authors: bool, language: str | None, players: int, given_options: tuple[str, ...], address: str | None
) -> None:
    """Show the rules of GAME as Markdown, for players or for authors.

    Options that differ from their defaults are listed at the end.
    """
    options = options_message(engine.game(game), given_options) if given_options else None
    audience = RULES_AUDIENCE_AUTHORS if authors else RULES_AUDIENCE_PLAYERS
    with reach(address, language) as client:
        click.echo(client.get_rules(game, players=players, options=options, audience=audience).markdown, nl=False)
