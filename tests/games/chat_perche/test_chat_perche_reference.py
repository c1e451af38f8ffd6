"""The kernel and the slow reference play the same games."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ..building import phase, state_of
from ..script import CHANCE, OVER, move_both, same
from .building import GAME
from .reference import CARDS, Cat, Game

Policy = Callable[[list[int], random.Random], int]


def spaces_of(cats: Iterable[Cat]) -> list[int]:
    """Return the sorted spaces of cats in the tree."""
    return sorted(cat.space for cat in cats if cat.space is not None)


def uniform(moves: list[int], choices: random.Random) -> int:
    return choices.choice(moves)


def crowding(moves: list[int], choices: random.Random) -> int:
    # Never stop. Move all cats to the same few branches, so that the branches break.
    moves = moves[:-1] if moves[-1] == 2110 else moves
    if 40 <= moves[0] < 2110:
        near = [move for move in moves if (move - 40) % 45 in range(5, 13)]
        moves = near or moves
    elif moves[0] >= 2156:
        moves = moves[:3]
    return choices.choice(moves)


def climbing(moves: list[int], choices: random.Random) -> int:
    # Move cats in the tree, beginning with the lowest spaces, so that the trunk fills.
    trunk = [move for move in moves if 40 <= move < 2110 and (move - 40) % 45 < 5]
    return choices.choice(trunk or moves[:2])


def hesitating(moves: list[int], choices: random.Random) -> int:
    # Move at most one step, or stop, so that the second move of a card occurs often.
    return choices.choice([moves[0], moves[len(moves) // 2], moves[-1]])


def random_deck(choices: random.Random) -> list[int]:
    """Return 26 cards with at least one dogs card, often of few kinds."""
    kinds = choices.sample(range(41), choices.randint(1, 12))
    deck = [0] * 41
    deck[choices.randrange(2)] = choices.randint(1, 3)
    for _ in range(26 - sum(deck)):
        deck[choices.choice(kinds)] += 1
    return deck


def random_options(choices: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if choices.random() < 0.5:
        options["first_seat"] = choices.randrange(2)
    if choices.random() < 0.3:
        options["forward_only"] = True
    if choices.random() < 0.5:
        options["dog_track"] = choices.randint(1, 14)
    if choices.random() < 0.5:
        options["solidity"] = [choices.randint(1, 4) for _ in range(5)]
    if choices.random() < 0.5:
        options["deck"] = random_deck(choices)
    return options


def assert_same_state(reference: Game, position: Any) -> None:
    state = state_of(position)
    assert phase(position) == reference.phase
    assert state.dog_steps == reference.dogs
    if reference.phase not in ("FIRST_SEAT", "OVER"):
        assert state.active_seat == reference.seat
    for seat in range(2):
        assert list(state.seats[seat].cats) == spaces_of(cat for cat in reference.cats if cat.colour == seat)
        left = [CARDS[card] for card in state.seats[seat].draw_pile_cards]
        assert Counter(left) == Counter(reference.decks[seat])
    assert list(state.birds) == sorted(reference.birds)
    for number, branch in enumerate(state.branches):
        token = (branch.token_owner, branch.solidity) if branch.HasField("token_owner") else None
        assert token == reference.tokens.get(number)
        assert branch.broken == (number in reference.broken)
        assert branch.greatest_load == (0 if branch.broken else max(reference.loads[number]))
    if reference.phase in ("MOVE", "SECOND_MOVE"):
        assert CARDS[state.card] == reference.card
        assert state.steps_left == reference.steps
        colour = reference.seat ^ ("other" in (reference.card or ""))
        barred = (cat for cat in reference.cats if reference.stands_barred(cat) and cat.colour == colour)
        assert list(state.barred) == spaces_of(barred)


def play_both(options: dict[str, Any], policy: Policy, choices: random.Random) -> None:
    reference, position = Game(2, options), GAME.new_game(2, options)
    while True:
        question = reference.question
        same(position, reference)
        assert_same_state(reference, position)
        position.check()
        if question.actor == OVER:
            return
        if question.actor == CHANCE:
            move = choices.choices(question.moves, question.weights)[0]
        else:
            move = policy(list(question.moves), choices)
        move_both(position, reference, move)


@pytest.mark.parametrize("policy", [uniform, crowding, climbing, hesitating])
def test_kernel_and_reference_play_the_same_games_with_default_options(policy: Policy) -> None:
    for seed in range(4):
        play_both({}, policy, random.Random(f"{policy.__name__} {seed}"))


@pytest.mark.parametrize("policy", [uniform, crowding, climbing, hesitating])
def test_kernel_and_reference_play_the_same_games_with_random_options(policy: Policy) -> None:
    for seed in range(12):
        choices = random.Random(f"options {policy.__name__} {seed}")
        play_both(random_options(choices), policy, choices)


@pytest.mark.parametrize("policy", [crowding, hesitating])
def test_kernel_and_reference_play_the_same_games_of_two_cat_cards_on_weak_branches(policy: Policy) -> None:
    # This tests barred cats, cats that fall between two moves, and starts with few cats.
    deck = [0] * 41
    deck[0] = 1
    for number in (25, 27, 30, 34, 36):
        deck[number] = 5
    for seed, solidity in enumerate(([1, 1, 1, 2, 2], [2, 2, 3, 3, 4], [3, 3, 3, 4, 4])):
        choices = random.Random(seed)
        play_both({"deck": deck, "dog_track": 6, "solidity": solidity}, policy, choices)
