"""Public and hidden: resampling reaches every state that agrees with what a seat knows, equally often.

The states are counted by knowledge.py, which plays the game backwards and shares nothing with the kernel.
"""

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from scipy.stats import chisquare

from chatiere.engine import Position

from .building import GAME, state_of
from .knowledge import Knowledge, Placement
from .reference import EXCHANGE, KEEP, OVER, Game

# Below this a fixed seed is taken for a fault.
P_VALUE = 1e-6
DRAWS = 40  # for each state
MOST_STATES = 60


def placement(position: Position) -> Placement:
    state = state_of(position)
    return tuple(frozenset(hand.cards) for hand in state.hands), tuple(state.queue)


def small_positions(style: str, seed: int) -> Iterator[tuple[Position, Knowledge]]:
    """Late positions of a random game of two, with a seat to which few placements of the hidden cards are open."""
    choices = random.Random(f"2 {style} {seed}")
    position, game = GAME.new_game(2), Game(2)
    while game.question.actor != OVER:
        moves = game.question.moves
        if len(game.unknown) <= 3 and choices.random() < 0.4:
            knowledge = Knowledge(game, choices.randrange(2))
            if 2 <= knowledge.num_candidates() <= MOST_STATES:
                yield position.clone(), knowledge
        if style == "exchanges" and moves[0] == KEEP and len(moves) > 1:
            moves = tuple(move for move in moves if move >= EXCHANGE)
        move = choices.choice(moves)
        position.apply(move)
        game.move(move)


def went_through_the_queue_unseen(knowledge: Knowledge) -> bool:
    """Whether a card was put under the pile and drawn by other seats than this one."""
    return any(
        fact.kind == "draw_queue" and fact.seers is not None and knowledge.seat not in fact.seers
        for fact in knowledge.game.facts
    )


@pytest.mark.parametrize("style", ["random", "exchanges"])
def test_resampling_reaches_every_state_that_agrees_equally_often(style: str) -> None:
    exact = restricted = unseen = 0
    for seed in range(60):
        for position, knowledge in small_positions(style, seed):
            possible = knowledge.placements()
            drawn = Counter(
                placement(position.resample(knowledge.seat, number)) for number in range(DRAWS * len(possible))
            )
            assert placement(position) in possible
            if went_through_the_queue_unseen(knowledge):
                # Such a card counts as any card: nothing possible is left out, though more may be reached.
                unseen += 1
                assert set(drawn) >= possible
            else:
                exact += 1
                restricted += len(possible) < knowledge.num_candidates()
                assert set(drawn) == possible
                if len(possible) > 1:
                    assert chisquare([drawn[each] for each in possible]).pvalue > P_VALUE
    # The positions are of all kinds that the test is for.
    assert exact > 5
    assert restricted
    assert unseen


@pytest.mark.parametrize("players", range(2, 7))
def test_no_state_that_play_leads_to_is_refused(players: int) -> None:
    choices = random.Random(players)
    for _ in range(8):
        position = GAME.new_game(players, seed=choices.getrandbits(64))
        while not position.is_terminal():
            for seat in range(players):
                drawn = position.resample(seat, choices.getrandbits(64))
                drawn.resample((seat + 1) % players, 1).check()
            moves = position.legal_actions()
            position.apply(choices.choice(moves[1:] if moves[0] == KEEP and len(moves) > 1 else moves))
