"""Bots for Chat perché."""

from chatiere.bots.policy import PolicyBot


class ClimberBot(PolicyBot):
    """A bot that plays by the game's playout policy."""

    title = "Climber"
    description = "Moves its cats up, and breaks branches that hold more cats of its opponent."
    # The policy depends on hidden tokens. With one world, the bot wins 28 % of the games against this bot.
    world_count = 8


BOTS = {"climber": ClimberBot}
SECONDS = {"flat": 0.003, "ismcts": 0.006}
PUCT = 1.4
