"""The kernel compared with the slow reference, in many kinds of random games."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tools.over import over

from chatiere.engine import Position

from ..building import state_of
from ..script import CHANCE, OVER, move_both, same
from .building import GAME, score_of
from .reference import ZERO_ZONE, Game, number

Choose = Callable[[Game, random.Random], int]


def uniform(game: Game, choices: random.Random) -> int:
    return choices.choice(game.question.moves)


def to_zone(wanted: Callable[[Game, int], bool]) -> Choose:
    """Return a policy that plays at random, and if possible takes a card for which `wanted` is True."""

    def choose(game: Game, choices: random.Random) -> int:
        moves = game.question.moves
        if moves[-1] >= 60 and game.question.actor != CHANCE:
            moves = tuple(move for move in moves if wanted(game, move)) or moves
        return choices.choice(moves)

    return choose


def fill_up(game: Game, move: int) -> bool:
    """Return whether a card is placed in a section that is not full."""
    zone = (move - 60) % 5
    return zone < ZERO_ZONE and len(game.boards[game.question.actor].get(zone, [])) < game.limits[zone]


def overflow(game: Game, move: int) -> bool:
    """Return whether a card is placed in a section that holds the most cards."""
    board = game.boards[game.question.actor]
    most = max((len(cards) for cards in board.values()), default=0)
    return len(board.get((move - 60) % 5, [])) == most


def one_colour_first(game: Game, choices: random.Random) -> int:
    """Play each colour until it is exhausted, so that many voids are shown. Deal at random."""
    moves = game.question.moves
    if game.question.actor == CHANCE or moves[0] >= 60:
        return choices.choice(moves)
    counts = [sum(card[0] == colour for card in game.hands[game.question.actor]) for colour in range(5)]
    return min(moves, key=lambda move: counts[move // 12])


def same_values(game: Game, choices: random.Random) -> int:
    """If possible, play a value that is already on the table, so that equal values meet."""
    moves = game.question.moves
    if game.question.actor == CHANCE or moves[0] >= 60:
        return choices.choice(moves)
    lying = {value for _, value in game.table}
    return choices.choice([move for move in moves if move % 12 + 1 in lying] or list(moves))


STRATEGIES: dict[str, Choose] = {
    "uniform": uniform,
    "zero_zone": to_zone(lambda game, move: (move - 60) % 5 == ZERO_ZONE),
    "fill_up": to_zone(fill_up),
    "overflow": to_zone(overflow),
    "one_colour_first": one_colour_first,
    "same_values": same_values,
}


def random_options(players: int, choices: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if choices.random() < 0.5:
        options["first_seat"] = choices.randrange(players)
    if choices.random() < 0.5:
        options["section_limits"] = [choices.randint(1, 9) for _ in range(4)]
    if choices.random() < 0.5:
        options["removed_colour"] = choices.randrange(5 if players == 3 else 100)
    return options


def compare_cards(position: Position, game: Game) -> None:
    """Compare the place of every card, and all parts of the score."""
    state = state_of(position)

    def same(numbers: Sequence[int], cards: set[tuple[int, int]]) -> bool:
        return list(numbers) == sorted(number(card) for card in cards)

    assert same(state.draw_pile_cards, game.pack)
    assert same(state.discards, game.discards)
    for seat, held in enumerate(state.seats):
        assert same(held.hand_cards, game.hands[seat])
        assert {zone.zone: list(zone.cards) for zone in held.zones} == {
            zone: sorted(number(card) for card in cards) for zone, cards in game.boards[seat].items()
        }
        score = score_of(position, seat)
        assert score.board_sum == game.board_sum(seat)
        assert score.perfect_sections == game.perfect(seat)
        assert sum(score.section_points) + score.zero_zone_points + score.bonus_points == score.board_sum
        assert sum(score.round_points) == game.totals()[seat]


@pytest.mark.parametrize("strategy", STRATEGIES)
@over("players", [3, 4, 5])
def test_kernel_and_reference_play_the_same_game(players: int, strategy: str) -> None:
    for seed in range(4):
        choices = random.Random(f"{players} {strategy} {seed}")
        options = random_options(players, choices)
        position, game = GAME.new_game(players, options), Game(players, options)
        steps = 0
        while True:
            same(position, game)
            if steps % 9 == 0 or game.question.actor == OVER:
                compare_cards(position, game)
            if game.question.actor == OVER:
                break
            move_both(position, game, STRATEGIES[strategy](game, choices))
            steps += 1
        assert steps == {3: 330, 4: 462, 5: 504}[players] + ("first_seat" not in options)
