"""Calls reveal no hidden information to the seats that make them."""

import random
from functools import partial
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from chatiere import engine
from chatiere.service.tables import roots
from chatiere.v1 import table_service_pb2 as pb

from .support import NEXT, OVER, Host, begun, human, played, secret_of
from .worlds import answer, twin, without_table

pytestmark = pytest.mark.long

CALLS = st.lists(
    st.tuples(st.sampled_from(["look", "move", "acknowledge", "resign", "suggest", "record"]), st.integers(0, 2**32)),
    min_size=1,
    max_size=25,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    game=st.sampled_from(engine.games()),
    seed=st.integers(0, 2**32),
    calls=CALLS,
)
def test_worlds_equal_for_a_coalition_give_equal_responses_until_another_seat_acknowledges(
    game: engine.Game, seed: int, calls: list[tuple[str, int]]
) -> None:
    """Start at an open table where a human decides. The next seat to acknowledge is not in the coalition."""
    host, choices = Host(), random.Random(seed)
    players = choices.randint(game.min_players, game.max_players)
    bots = ["random"] * choices.randint(0, players - 2)
    with mock.patch.object(roots, "new_root", partial(choices.randbytes, roots.ROOT_SIZE)):
        table, secrets = begun(host, game, players, NEXT, bots)
    humans = len(secrets)
    tables = [
        each
        for each in played(host, table, secrets, choices)
        if (turn := host.look(each).view.turn).kind != OVER and turn.seat < humans
    ]
    place = choices.randrange(len(tables))
    actor = host.look(tables[place]).view.turn.seat
    others = [seat for seat in range(humans) if seat not in (actor, (actor + 1) % humans)]
    coalition = sorted({actor, *choices.sample(others, choices.randint(0, len(others)))})
    alike = twin(host, tables[place], coalition, secrets, choices)
    assume(alike is not None)
    event(f"{game.name}, coalition of {len(coalition)}")
    # The coalition's tables. Each is a pair of tables from the two worlds.
    pairs: list[tuple[Any, Any]] = [(tables[place], alike)]
    for name, call_seed in calls:
        pick = random.Random(call_seed)
        pair, secret = pick.choice(pairs), secrets[pick.choice(coalition)]
        number = pick.getrandbits(16)

        def call(table: bytes, name: str = name, secret: bytes = secret, number: int = number) -> Any:
            if name == "look":
                return answer(host.look, table, secret if number % 4 else None)
            if name == "move":
                legal = [action.id for action in host.look(tables[place], secrets[actor]).legal_actions]
                action = legal[number % len(legal)] if number % 5 else number
                return answer(host.move, table, secrets[actor] if number % 3 else secret, action)
            if name == "acknowledge":
                return answer(host.acknowledge, table, secret)
            if name == "resign":
                holder = pb.TableSeat(bot="random") if number % 2 else human(secret_of(number))
                return answer(host.replace, table, secret, secrets.index(secret), holder)
            if name == "suggest":
                bot = ("random", "flat:playouts=10", "ismcts:simulations=10")[number % 3]
                return answer(host.suggest, table, secret, bot, seed=number)
            return answer(host.get_record, [table] * (1 + number % 2))

        found = call(pair[0]), call(pair[1])
        assert without_table(found[0]) == without_table(found[1])
        made = [each if isinstance(each, bytes) else getattr(each, "table", None) for each in found]
        if made[0]:
            pairs.append((made[0], made[1]))
