"""Every game: two histories that differ only in information hidden from a viewer give that viewer the same bytes.

Most pairs are made without resampling: other seats and chance make different moves that look the same to the viewer.
"""

import random
from functools import cache
from typing import Any

from games.building import message

from chatiere import bots, engine
from chatiere.bots import hosting
from chatiere.engine import EngineError, Position
from chatiere.engine.wire import Reader, fill

from .histories import Pair, pairs
from .support import Table, positions, thinned, update, view

# The number of pairs for each table, for all viewers together.
PAIRS = 3000
# Refusals are compared at every REFUSED_EVERY-th decision of the viewer. Bots are asked at some of these decisions.
REFUSED_EVERY = 4
ASKED_EVERY = 3
SOUGHT = ("random", "flat:playouts=20", "ismcts:simulations=20")


@cache
def tries(table: Table) -> list[Any]:
    """Return typed actions, each of which is legal in some position."""
    game, _ = table
    codec = engine.codec(game.name)
    choices = random.Random(f"tries {game.name}")
    found = []
    for position in thinned(tuple(one for one in positions(table) if one.legal_actions()), 60):
        typed = message(game, "Action")
        fill(typed, codec.put_action, position, choices.choice(position.legal_actions()))
        found.append(typed)
    return found


def refused(error: EngineError) -> tuple[object, ...]:
    """Return all fields of an error."""
    return error.reason, error.message, error.field, error.rule, tuple(sorted(error.metadata.items()))


def tried(position: Position, action: int) -> tuple[object, ...] | None:
    """Return the refusal of a dense id, or None if it is legal."""
    try:
        position.clone().apply(action)
    except EngineError as error:
        return refused(error)
    return None


def tried_typed(position: Position, typed: Any) -> tuple[object, ...] | int:
    """Return the refusal of a typed action, or its dense id."""
    try:
        action = engine.codec(position.game.name).read_action(Reader(typed), position)
    except EngineError as error:
        return refused(error)
    return tried(position, action) or action


def turn_refusal(position: Position, seat: int) -> tuple[object, ...] | None:
    """Return the refusal of a decision by a seat, or None if the seat has to act."""
    try:
        position.require_turn(seat)
    except EngineError as error:
        return refused(error)
    return None


def labels(position: Position) -> list[str]:
    """Return the labels of the legal actions in both languages."""
    return [position.action_label(action, language) for action in position.legal_actions() for language in ("en", "fr")]


def same_refusals(pair: Pair, table: Table, choices: random.Random) -> None:
    one, other, _ = pair
    ids = range(one.game.num_distinct_actions + 1)
    for action in choices.sample(ids, min(40, len(ids))):
        assert tried(one, action) == tried(other, action), (pair, action)
    for typed in choices.sample(tries(table), 15):
        assert tried_typed(one, typed) == tried_typed(other, typed), (pair, typed)


def same_suggestions(pair: Pair, luck: int) -> None:
    one, other, _ = pair
    game, players = one.game, one.num_players()
    for name in sorted({*SOUGHT, *bots.names(game)} - {"flat", "ismcts"}):
        bot = bots.get(name, game, players)
        judged, other_judged = (bot.judge(hosting.decisions_at(each, bot, luck)) for each in (one, other))
        assert judged.actions.tolist() == other_judged.actions.tolist(), (pair, name)
        assert judged.values.tobytes() == other_judged.values.tobytes(), (pair, name)
        assert judged.shares.tobytes() == other_judged.shares.tobytes(), (pair, name)


def test_hidden_information_has_no_effect_on_a_viewer(table: Table) -> None:
    game, players = table
    decisions = asked = 0
    for viewer in (*range(players), None):
        choices = random.Random(f"histories {game.name} {players} {viewer}")
        for pair in pairs(table, viewer, choices, PAIRS // (players + 1)):
            one, other, _ = pair
            assert view(one, viewer) == view(other, viewer), pair
            assert update(one, viewer) == update(other, viewer), pair
            if viewer is None:
                continue
            assert one.observation(viewer) == other.observation(viewer), pair
            assert turn_refusal(one, viewer) == turn_refusal(other, viewer), pair
            if one.current_player() != viewer:
                continue
            decisions += 1
            assert one.legal_actions() == other.legal_actions(), pair
            if decisions % REFUSED_EVERY == 0:
                assert labels(one) == labels(other), pair
                same_refusals(pair, table, choices)
                if decisions % (REFUSED_EVERY * ASKED_EVERY) == 0:
                    asked += 1
                    same_suggestions(pair, choices.getrandbits(64))
    assert decisions > 40, decisions
    assert asked > 2
