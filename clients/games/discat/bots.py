"""Bots for Discat."""

from collections.abc import Sequence

from chatiere.v1.game_pb2 import Action, View


class LargestGroupBot:
    """Plays the largest group that it may, the one of the lowest dense id where several are as large.

    When it has to pass it exchanges its lowest card that can be grouped with no other of its hand, if there is one.
    """

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        plays = [action for action in legal_actions if action.discat.WhichOneof("action") == "play"]
        if plays:
            return max(plays, key=lambda action: len(action.discat.play.cards))
        exchanges = {
            action.discat.exchange.card: action
            for action in legal_actions
            if action.discat.WhichOneof("action") == "exchange"
        }
        hand = view.discat.seats[view.seat].known_cards
        for card in sorted(exchanges):
            if not any(_can_be_grouped(card, other) for other in hand if other != card):
                return exchanges[card]
        return next(action for action in legal_actions if action.discat.WhichOneof("action") == "keep")


def _can_be_grouped(card: int, other: int) -> bool:
    return card // 10 == other // 10 or card % 10 == other % 10
