"""Whole matches between bots on a real server."""

from collections.abc import Sequence

import numpy as np
import pytest
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.bots import Bot, BotError, Decisions
from chatiere.clients import Client, Step, begin, play
from chatiere.engine.wire import fill
from chatiere.v1.game_pb2 import TURN_KIND_OVER, Options


class Watched(Bot):
    """A bot that records its decisions."""

    needs_observations = needs_worlds = True

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.seen: list[Decisions] = []

    def choose(self, decisions: Decisions) -> np.ndarray:
        self.seen.append(decisions)
        return self.bot.choose(decisions)


def match(client: Client, name: str, players: int, seated: Sequence[Bot], seed: int) -> list[Step]:
    return list(play(client, begin(client, name, players, seed=seed), seated, seed))


def random_bots(name: str, players: int) -> list[Bot]:
    return [bots.get("random", name, players)] * players


class Illegal(Bot):
    """A bot whose first choice is illegal."""

    def choose(self, decisions: Decisions) -> np.ndarray:
        return np.full(len(decisions), decisions.game.num_distinct_actions)


@over_names
def test_a_match_ends_at_an_illegal_choice(client: Client, name: str) -> None:
    players = engine.game(name).min_players
    with pytest.raises(BotError, match=r"^Illegal chose action "):
        match(client, name, players, [Illegal()] * players, seed=2)


@over_tables
def test_a_match_is_played_to_its_end(client: Client, name: str, players: int) -> None:
    watched = [Watched(bot) for bot in random_bots(name, players)]
    steps = match(client, name, players, watched, seed=2)
    replayed = engine.game(name).new_game(players, seed=2)
    seen = [iter(bot.seen) for bot in watched]
    for number, step in enumerate(steps):
        assert number == 0 or step.before == steps[number - 1].after
        seat = replayed.current_player()
        assert step.seat == seat == step.before.turn.seat
        # The bot received the information of its own seat.
        decisions = next(seen[seat])
        assert (decisions.game, decisions.players, decisions.actors.tolist()) == (replayed.game, players, [seat])
        assert decisions.legal_ids.tolist() == replayed.legal_actions()
        assert decisions.observations.tobytes() == replayed.observation(seat)
        world = replayed.game.unpack(decisions.drawn.tobytes())
        assert world.observation(seat) == replayed.observation(seat)
        assert world.random_stream() != replayed.random_stream()
        replayed.apply(step.action.id)
    assert all(next(decisions, None) is None for decisions in seen)
    last = steps[-1].after
    assert last.turn.kind == TURN_KIND_OVER
    assert last.score.final
    assert (list(last.score.totals), list(last.score.winners)) == (replayed.totals(), replayed.winners())


@over_names
def test_the_same_seeds_play_the_same_match(client: Client, name: str) -> None:
    players = engine.game(name).max_players

    def moves(game_seed: int, seed: int) -> list[int]:
        beginning = begin(client, name, players, seed=game_seed)
        return [step.action.id for step in play(client, beginning, random_bots(name, players), seed)]

    assert moves(4, 3) == moves(4, 3)
    assert moves(4, 3) != moves(5, 3)
    assert moves(4, 3) != moves(4, 6)


@over_names
def test_a_match_begins_with_the_given_options(client: Client, name: str) -> None:
    players = engine.game(name).min_players
    options = Options()
    getattr(options, name).SetInParent()
    fill(getattr(options, name), engine.codec(name).put_options, {"first_seat": 1})
    state = begin(client, name, players, options=options, seed=6, game_number=7).state
    assert getattr(state, name).options == getattr(options, name)
    assert (state.stream.seed, state.stream.game_number) == (6, 7)


@over_names
def test_a_match_can_continue_from_any_step(client: Client, name: str) -> None:
    players = engine.game(name).min_players
    steps = match(client, name, players, random_bots(name, players), seed=6)
    rest = list(play(client, steps[3].after, random_bots(name, players), 8))
    assert rest[0].before == steps[3].after
    assert rest[-1].after.score.final
    assert list(play(client, rest[-1].after, [], 8)) == []
