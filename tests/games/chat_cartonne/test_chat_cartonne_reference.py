"""The kernel compared with the slow reference, in games with random options and several styles of play.

In uniform play, boxes are rarely contested, because nearly all seats lay sleeping cats immediately. Most styles
therefore draw and build, and one style maximises the current score.
"""

import random
from collections import Counter
from typing import Any

import pytest
from tools.over import over

from chatiere.engine import TERMINAL_PLAYER, Position

from ..building import score_of, state_of
from ..script import move_both, same
from .building import GAME, VARIANTS, cell
from .reference import PRINCESS, Game

STYLES = ("random", "build", "build in a heap", "greedy", "hoard", "wake")
KINDS = ((10, "start"), (11, "draw"), (12, "skip"), (13, "pass"), (3469, "carton"), (4045, "sleep"), (4621, "cat"))


def kind_of(action: int) -> str:
    """Return a rough description of a dense id's action."""
    return next((name for end, name in KINDS if action < end), "other")


def choose(game: Game, style: str, choices: random.Random) -> int:
    """Choose a move at random or by a style that leads to rarer positions."""
    question = game.question
    if question.actor < 0:
        if style == "hoard" and PRINCESS in question.moves and choices.random() < 0.3:
            return PRINCESS
        return choices.choices(question.moves, question.weights)[0]
    if style == "random":
        return choices.choice(question.moves)
    groups: dict[str, list[int]] = {}
    for move in question.moves:
        groups.setdefault(kind_of(move), []).append(move)
    if style == "greedy" and len(question.moves) < 60 and choices.random() < 0.5:
        return greedy(game, choices)
    if style == "hoard" and "carton" in groups and "other" in groups and choices.random() < 0.8:
        del groups["other"]
    if style == "wake" and "cat" in groups:
        groups.pop("skip")
    if len(groups) > 1 and choices.random() < (0.6 if style == "wake" else 0.93):
        groups.pop("sleep", None)
    moves = groups[choices.choice(sorted(groups))]
    if style in ("build in a heap", "greedy", "wake"):
        # Build near the middle, where boxes are small and numerous and touch one another.
        moves = sorted(moves, key=lambda move: distance(move))[: max(3, len(moves) // 4)]
    return choices.choice(moves)


def distance(move: int) -> float:
    where = (move - 13) % 576
    return (where % 24 - 11) ** 2 + (where // 24 - 11) ** 2


def greedy(game: Game, choices: random.Random) -> int:
    """Choose the move after which the acting seat has the best score, as computed by the kernel."""
    seat = game.question.actor
    best = max(game.position.child(move).totals()[seat] for move in game.question.moves)
    return choices.choice([move for move in game.question.moves if game.position.child(move).totals()[seat] == best])


def random_options(players: int, choices: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {name: True for name in VARIANTS if choices.random() < 0.3}
    if choices.random() < 0.5:
        options["first_seat"] = choices.randrange(players)
    return options


def same_table(position: Position, game: Game) -> None:
    """Assert that table, hands and boxes are equal."""
    state = state_of(position)
    assert [list(seat.hand_cards) for seat in state.seats] == game.hands
    assert [seat.supply for seat in state.seats] == game.supply
    assert set(state.draw_pile_cards) == game.unknown
    assert state.final_phase == game.final
    assert {card.cell: card.woken for card in state.table} == {
        cell(*where): card.woken for where, card in game.table.items()
    }
    boxes = score_of(position).boxes
    expected = game.boxes()
    assert len(boxes) == len(expected)
    for seen, box in zip(boxes, expected, strict=True):
        assert set(seen.cells) == {cell(*where) for where in box.cells}
        assert seen.closed == box.closed
        assert [seen.mice, seen.balls, seen.fish, seen.sprayers] == [box.contents[sign] for sign in "mbf!"]
        assert [(own.awake_cats, own.woken_cats, own.sleeping_cats, own.bonus_points) for own in seen.by_seat] == [
            (box.awake[seat], box.woken[seat], box.asleep[seat], box.bonus[seat]) for seat in range(game.players)
        ]
        assert set(seen.majority) == box.majority
        assert seen.points == box.points
    assert [seat.negative_points for seat in score_of(position).seats] == game.negative()


def play_both(players: int, options: dict[str, Any], style: str, choices: random.Random) -> Counter[str]:
    """Play a whole game and compare it at every step. Return counts of actions, for a test of their variety."""
    position = GAME.new_game(players, options)
    game = Game(players, options)
    done: Counter[str] = Counter()
    step = 0
    while True:
        same(position, game)
        if (game.question.actor >= 0 and step % 8 == 0) or game.question.actor == TERMINAL_PLAYER:
            same_table(position, game)
        if game.question.actor == TERMINAL_PLAYER:
            done["fought over"] += any(len(box.awake) > 1 for box in game.boxes())
            return done
        game.position = position
        move = choose(game, style, choices)
        if game.question.actor >= 0:
            done[kind_of(move)] += 1
        move_both(position, game, move)
        position.check()
        step += 1


@pytest.mark.parametrize("style", STYLES)
@over("players", [2, 3, 4, 5])
def test_kernel_and_reference_play_the_same_game(players: int, style: str) -> None:
    choices = random.Random(f"{players} {style}")
    done: Counter[str] = Counter()
    for number in range(2):
        done += play_both(players, {} if number == 0 else random_options(players, choices), style, choices)
    assert done["draw"] > 0
    if style != "random":
        assert done["cat"] + done["skip"] > 0
