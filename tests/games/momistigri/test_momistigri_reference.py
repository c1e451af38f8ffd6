"""The kernel compared with the slow reference, in random games with random options at every number of players."""

import random
from collections import Counter
from typing import Any

import pytest
from tools.over import over

from chatiere.engine import CHANCE_PLAYER, Position
from chatiere.engine.wire import fill
from chatiere.v1.momistigri_pb2 import MomistigriScoreDetail

from ..building import state_of
from ..script import Question, move_both, same
from .building import CODEC, GAME, PLAYERS
from .reference import (
    ALL,
    HAND_OUT,
    LAST_TURN,
    MAIN,
    PASS,
    REVERSE,
    STOP,
    SWAP_IN,
    SWAP_OUT,
    Game,
    pair_of,
    value,
)

STYLES = ("random", "never passes", "values", "five and four", "reverses")


def choose(question: Question, style: str, choices: random.Random) -> int:
    """Choose a move at random or by a style that leads to rarer positions."""
    moves = list(question.moves)
    if question.actor == CHANCE_PLAYER:
        return choices.choices(moves, question.weights)[0]
    if style == "random":
        return choices.choice(moves)
    pairs = {move: [value(card) for card in pair_of(move)] for move in moves if move < PASS}
    effects = [move for move, values in pairs.items() if values[0] == values[1]]
    if style == "five and four":
        fours = [move for move in effects if pairs[move][0] in (4, 5, 6)]
        if fours and choices.random() < 0.95:
            return choices.choice(fours)
        if question.actor >= 0 and HAND_OUT <= moves[0] < HAND_OUT + 46:
            # Keep 5s and other cards in circulation.
            return max(moves, key=lambda move: (value(move - HAND_OUT) in (4, 5), choices.random()))
        if PASS in moves and choices.random() < 0.8 and len(moves) > 1:
            return choices.choice(moves[:-1])
    if style == "reverses" and REVERSE in moves:
        return REVERSE
    if effects and style in ("values", "reverses") and choices.random() < 0.9:
        return choices.choice(effects)
    if style == "values" and MAIN in moves and choices.random() < 0.9:
        return MAIN
    if style == "never passes" and moves[-1] in (PASS, STOP) and len(moves) > 1:
        return choices.choice(moves[:-1])
    return choices.choice(moves)


def choose_to_go_on(game: Game, choices: random.Random) -> int:
    """Choose a move that continues the round: 5s circulate, chance gives 5s, and no seat is the last to pass."""
    moves = game.question.moves
    if game.question.actor == CHANCE_PLAYER:
        return max(moves, key=lambda card: (game.turn > 0 and value(card) == 5, choices.random()))
    pairs = {move: {value(card) for card in pair_of(move)} for move in moves if move < PASS}
    fives = [move for move, values in pairs.items() if values == {5}]
    if fives:
        return choices.choice(fives)
    if PASS in moves and game.inside - game.passed - {game.question.actor}:
        return PASS
    if pairs:
        return choices.choice([move for move, values in pairs.items() if 5 not in values] or list(pairs))
    for first, sign in ((HAND_OUT, 1), (SWAP_OUT, -1), (SWAP_IN, 1)):
        if first <= moves[0] < first + 46:
            return max(moves, key=lambda move: (sign * (value(move - first) == 5), choices.random()))
    return choices.choice(moves)


def random_copies(choices: random.Random) -> list[int]:
    """Return random colours, sometimes with all cards of a value in one colour."""
    copies = [0] * 45
    for points in range(1, 10):
        colours = [choices.randrange(5)] if choices.random() < 0.3 else range(5)
        for _ in range(10 - points):
            copies[9 * choices.choice(colours) + points - 1] += 1
    return copies


def random_options(players: int, choices: random.Random) -> dict[str, Any]:
    """Return random options, each of which is absent half of the time."""
    options: dict[str, Any] = {}
    if choices.random() < 0.5:
        options["first_seat"] = choices.randrange(players)
    if choices.random() < 0.5:
        options["copies"] = random_copies(choices)
    return options


def same_table(position: Position, game: Game) -> None:
    """Assert that all cards are in the same places and known to the same seats."""
    state = state_of(position)
    assert Counter(state.discards) == +game.pile
    for seat, held in enumerate(state.seats):
        assert Counter(held.hand_cards) == +game.hands[seat]
        assert held.in_round == (seat in game.inside)
        assert held.pass_mark == (seat in game.passed)
        assert list(held.round_points) == [one[seat] for one in game.penalties]
        entries = {entry.seat if entry.HasField("seat") else ALL: entry for entry in held.knowledge}
        for knower in (*range(game.players), ALL):
            if knower == seat:
                assert seat not in entries
                continue
            # Seats that are not listed have only the public knowledge.
            entry = entries.get(knower, entries.get(ALL))
            known = Counter(entry.cards) if entry else Counter()
            most_ones = entry.most_ones if entry and entry.HasField("most_ones") else None
            assert known == +game.knows(knower, seat), (knower, seat)
            assert most_ones == game.most_ones.get((knower, seat)), (knower, seat)


@pytest.mark.parametrize("style", STYLES)
@over("players", PLAYERS)
def test_kernel_and_reference_play_the_same_games(players: int, style: str) -> None:
    choices = random.Random(f"{players} {style}")
    for number in range(14):
        options = random_options(players, choices)
        position, game = GAME.new_game(players, options), Game(players, options)
        while True:
            same(position, game)
            if number < 6:
                same_table(position, game)
                position.check()
            if position.is_terminal():
                break
            move_both(position, game, choose(game.question, style, choices))


@over("players", PLAYERS)
def test_rounds_of_200_turns_agree(players: int) -> None:
    choices = random.Random(players)
    position, game = GAME.new_game(players), Game(players)
    ends = 0
    while not position.is_terminal():
        same(position, game)
        same_table(position, game)
        move = choose_to_go_on(game, choices)
        last_turn = game.turn == LAST_TURN
        move_both(position, game, move)
        limits = [event for event in game.happened if event.kind == "TURN_LIMIT_REACHED"]
        assert not limits or last_turn
        ends += len(limits)
    same(position, game)
    assert ends == len(game.penalties)


def test_the_parts_of_scores_are_those_of_the_reference() -> None:
    choices = random.Random(3)
    position, game = GAME.new_game(4), Game(4)
    while True:
        detail = MomistigriScoreDetail()
        fill(detail, CODEC.put_score, position)
        for seat, score in enumerate(detail.seats):
            assert list(score.round_points) == [one[seat] for one in game.penalties]
            assert score.hand_points == (0 if game.over else game.hand_sum(seat))
            assert sum(score.round_points) + score.hand_points == position.totals()[seat]
        if position.is_terminal():
            break
        move = choose(game.question, "random", choices)
        position.apply(move)
        game.move(move)
