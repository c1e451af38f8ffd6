"""Styles of play that prefer moves with rare kinds of events."""

import random

from games.building import state_of

from chatiere.engine import Game, Position

from .counting import kinds_after
from .support import liked_move, moves_of, random_likings

# For each kind of action, the number of moves that are searched for a wanted kind of event.
LOOKED_AT = 6


class Style:
    """A way to choose moves. `curiosity` is the proportion of moves for which a wanted kind of event is searched."""

    def __init__(self, game: Game, choices: random.Random, curiosity: float) -> None:
        self.choices = choices
        self.likings = random_likings(game, choices)
        # Each seat has a number. Chance prefers outcomes near this number, or with the same last digit or remainder mod
        # 9.
        self.modulus = choices.choice((0, 0, 1000, 9, 10))
        self.places = [choices.random() for _ in range(game.max_players)]
        self.curiosity = curiosity

    def move(self, position: Position, wanted: set[str]) -> int:
        """Choose a move, if possible a move that causes a wanted kind of event."""
        if self.choices.random() < self.curiosity:
            for move in self.some_moves(position):
                if not wanted.isdisjoint(kinds_after(position, move)):
                    return move
        if position.is_chance_node() and self.modulus:
            moves = moves_of(position)
            place = int(self.places[state_of(position).active_seat] * (moves[-1] + 1))
            return min(moves, key=lambda move: (abs(move % self.modulus - place % self.modulus), move))
        return liked_move(position, self.likings, self.choices)

    def some_moves(self, position: Position) -> list[int]:
        """Return some moves of each kind of action, or some outcomes."""
        legal = position.legal_actions()
        kinds = position.game.description.action_kinds
        groups = [[action for action in legal if kind.first_id <= action <= kind.last_id] for kind in kinds]
        if not legal:
            groups = [moves_of(position)]
        return [move for group in groups for move in self.choices.sample(group, min(LOOKED_AT, len(group)))]
