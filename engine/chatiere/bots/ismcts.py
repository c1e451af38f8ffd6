"""The bot `ismcts`: information-set Monte Carlo tree search, with each game's playout policy."""

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Decisions, Judgement, SearchBot
from chatiere.bots.games import PUCT
from chatiere.bots.network_file import NetworkFile
from chatiere.bots.search import (
    MAX_NODES,
    MAX_SIMULATIONS,
    SearchColumns,
    read_exploration,
    read_noise,
    read_simulations,
    search,
    sure_win,
)
from chatiere.bots.temperature import draw_actions, read_temperature
from chatiere.engine import Game

# The exploration constant of UCB1, or of PUCT with a network, for returns that are scaled to 0 … 1. The games' files
# have the constants of PUCT with the playout policy.
EXPLORATION = 0.7
# The maximum number of nodes that exist at a time. They use a few hundred megabytes.
_MAX_NODES = 2_000_000
# The default number of simulations, and the maximum number for each millisecond of a time limit. No search can run this
# many simulations in a millisecond, so the maximum only limits the memory that a search reserves.
_SIMULATIONS = 1000
# The assumed number of nodes that a simulation adds by PUCT. A simulation adds a node for each legal action of a
# position.
_NODES_OF_LEAF = 32


class IsmctsBot(SearchBot):
    """A bot for any game that chooses the action with the most visits in a search.

    It chooses a sure win regardless of the number of visits. A sure win is an action that ended the game in every
    simulation, with the bot's seat as the only winner. Among equals, the bot chooses the action with the best value,
    then the action with the lowest dense id.

    Without a network, the search uses the playout policy as priors in the games where this makes it stronger
    (docs/bots.md).
    """

    title = "Tree search"
    description = "Searches a tree of possible continuations, and takes the action that it visited most often."

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: int | None = None,
        noise: int = 0,
        temperature: int = 0,
        exploration: float | None = None,
        advised: bool | None = None,
        even: bool = False,
        net: NetworkFile | None = None,
    ) -> None:
        """Create a bot.

        Args:
            simulations: The number of simulations for each decision, 1 … 1,000,000. None means 1000. With
                `milliseconds`, None means as many as the time allows, up to 1000 per millisecond.
            milliseconds: The time limit for each call to `choose`. None means no limit. Choices that depend on the time
                are not reproducible.
            noise: The percentage of noise in the priors at the root (see `search`), 0 … 100, for games from which a
                learner learns.
            temperature: The temperature of the bot's mistakes (see `draw_actions`), 0 … 1000. 0 means no mistakes.
            exploration: The constant of UCB1 or PUCT, 0 or more. None means the game's constant with the playout policy
                as priors, and otherwise EXPLORATION.
            advised: True to search by PUCT with the playout policy as priors, False for UCB1. None means PUCT in the
                games where it is stronger. With a network, the search never uses the playout policy.
            even: True to give all legal actions the same number of simulations, so that the actions' values can be
                compared.
            net: The network that evaluates the leaves of the search. None means that playouts evaluate them.

        Raises:
            EngineError: INVALID_BATCH.
            ValueError: If the temperature is out of range.
        """
        if simulations is None:
            simulations = min(MAX_SIMULATIONS, _SIMULATIONS * max(1, milliseconds or 1))
        self.budget = read_simulations(simulations)
        self.is_reproducible = milliseconds is None
        self.milliseconds = milliseconds
        self._noise = read_noise(noise / 100)
        self._temperature = read_temperature(temperature)
        self._exploration = None if exploration is None else read_exploration(exploration)
        self._even = even
        self._advised = False if net else advised
        self._file = net
        self._network = None if net is None else net.network()

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge. A forced action is not searched, unless forced actions are hidden.

        Raises:
            BotError: If the decisions do not have the network's game and number of players.
        """
        if self._file is not None:
            self._file.require(decisions.game, decisions.players)
        offsets, counts = decisions.legal_offsets, decisions.legal_counts()
        values = np.full(len(decisions.legal_ids), np.nan)
        shares = np.repeat(1 / counts, counts)
        actions = decisions.legal_ids[offsets[:-1]]
        rows = decisions.worth_a_search()
        by_puct = self._network is not None or self._is_advised(decisions.game)
        nodes = min(self.budget * (_NODES_OF_LEAF if by_puct else 1), MAX_NODES)
        at_once = len(rows) if self.milliseconds is not None else max(1, _MAX_NODES // nodes)
        for first in range(0, len(rows), at_once or 1):
            some = rows[first : first + at_once]
            found = self._search(decisions, some)
            trees = np.repeat(np.arange(len(some)), counts[some])
            places = np.repeat(offsets[some] - found.legal_offsets[:-1], counts[some]) + np.arange(len(trees))
            values[places] = found.values
            shares[places] = found.visits / np.add.reduceat(found.visits, found.legal_offsets[:-1])[trees]
            # Sort the actions within each tree, the best first.
            known = np.nan_to_num(found.values, nan=-1.0)
            is_no_win = known != sure_win(decisions.players)
            best_first = np.lexsort((found.legal_ids, -known, -found.visits.astype(np.int64), is_no_win, trees))
            actions[some] = found.legal_ids[best_first[found.legal_offsets[:-1]]]
        return Judgement(draw_actions(decisions, actions, values, self._temperature), values, shares)

    def _is_advised(self, game: Game) -> bool:
        return PUCT.get(game.name) is not None if self._advised is None else self._advised

    def _search(self, decisions: Decisions, rows: NDArray[np.intp]) -> SearchColumns:
        drawn = 0
        advised = self._is_advised(decisions.game)
        exploration = self._exploration
        if exploration is None:
            exploration = (PUCT.get(decisions.game.name) if advised else None) or EXPLORATION

        def worlds(count: int) -> NDArray[np.uint8]:
            nonlocal drawn
            drawn += count
            return decisions.worlds(rows, count, drawn - count)

        return search(
            decisions.game,
            decisions.players,
            decisions.luck[rows],
            worlds,
            simulations=self.budget,
            exploration=exploration,
            advised=advised,
            noise=self._noise,
            even=self._even,
            network=self._network,
            milliseconds=self.milliseconds,
            cancellation=decisions.cancellation,
        )
