"""Chat Cartonne."""

from chatiere.clients.game_support import BotMaker, GameSupport
from chatiere.clients.games.chat_cartonne.bots import BuilderBatchBot, BuilderBot

SUPPORT = GameSupport(
    name="chat_cartonne",
    bots={"builder": BotMaker(lambda seed: BuilderBot(), BuilderBatchBot)},
)
