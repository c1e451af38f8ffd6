"""The kernel compared with the slow reference, in random games with random options at every number of players."""

import random

import pytest
from tools.over import over

from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.discat_pb2 import DiscatScoreDetail

from ..building import state_of, view_of
from ..script import Question, move_both, same
from .building import CODEC, GAME, MAX_CARD
from .reference import EXCHANGE, KEEP, Game


def choose(question: Question, style: str, choices: random.Random) -> int:
    """Choose a move at random or by a style that leads to rarer positions."""
    moves = question.moves
    if question.actor >= 0:
        if style == "largest groups":
            return max(moves, key=lambda move: ((move & 31).bit_count() if move < KEEP else 0, move))
        if style == "single cards":
            return choices.choice([move for move in moves if move >= KEEP or move % 32 == 0])
        if style == "always exchange":
            return choices.choice([move for move in moves if move >= EXCHANGE] or moves)
    return choices.choice(moves)


def random_options(players: int, choices: random.Random) -> dict[str, int]:
    options = {}
    if choices.random() < 0.5:
        options["first_seat"] = choices.randrange(players)
    if choices.random() < 0.5:
        options["up_arrows"] = choices.choice([0, 2**90 - 1, choices.getrandbits(90), choices.getrandbits(90)])
    return options


def same_table(position: Position, game: Game) -> None:
    """Assert that all cards are in the same places, with the same face-down marks and the same constraint."""
    state, view = state_of(position), view_of(position, None)
    assert [set(seat.hand_cards) for seat in state.seats] == game.hands
    assert set(state.draw_pile_cards) == game.unknown
    assert list(state.queue_cards) == game.queue
    assert [queued.seat for queued in view.queue] == game.queue_seats
    for seat, seen in enumerate(view.seats):
        assert [card.card for card in seen.pile] == game.piles[seat]
        assert list(seen.bonus_pile) == game.bonus[seat]
        assert {card.card for card in seen.pile if card.face_down} == game.face_down & set(game.piles[seat])
    if game.question.actor >= 0:
        assert (view.constraint.card if view.HasField("constraint") else None) == game.constraint
        assert view.constraint.bonus_drawn == (game.bonus_drawn and game.constraint is not None)


@pytest.mark.parametrize("style", ["random", "largest groups", "single cards", "always exchange"])
@over("players", MAX_CARD)
def test_kernel_and_reference_play_the_same_games(players: int, style: str) -> None:
    choices = random.Random(f"{players} {style}")
    for number in range(20):
        options = random_options(players, choices)
        position, game = GAME.new_game(players, options), Game(players, options)
        while True:
            same(position, game)
            if number < 4:
                same_table(position, game)
            if position.is_terminal():
                break
            move_both(position, game, choose(game.question, style, choices))


def test_the_parts_of_scores_are_those_of_the_reference() -> None:
    choices = random.Random(3)
    position, game = GAME.new_game(4), Game(4)
    while not position.is_terminal():
        detail = DiscatScoreDetail()
        fill(detail, CODEC.put_score, position)
        for seat, score in enumerate(detail.seats):
            assert score.pile_points == len(game.piles[seat])
            assert score.bonus_points == 4 * len(game.bonus[seat])
            assert score.hand_points == -len(game.hands[seat])
        move = choose(game.question, "random", choices)
        position.apply(move)
        game.move(move)
