"""The games as PettingZoo environments."""

import importlib
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from conformance.support import TABLE_NAMES, TABLES, Table
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pettingzoo import aec_registry, make
from pettingzoo.test import api_test, seed_test
from tools.over import over, over_names

from chatiere import engine
from chatiere.drawing import draw
from chatiere.engine import EngineError, Reason
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs import pettingzoo

MAKERS = [pettingzoo.env, pettingzoo.raw_env]
CYCLES = 100

of_every_table = over("table", TABLES, ids=TABLE_NAMES)
with_and_without_wrappers = over("make", MAKERS, ids=["env", "raw_env"])


def random_actions(env: Any, seed: int) -> list[int]:
    """Play the current game to its end, including each agent's last step. Return the actions."""
    choices = random.Random(seed)
    actions = []
    for _ in env.agent_iter():
        observation, _, termination, _, _ = env.last()
        action = None if termination else choices.choice(np.flatnonzero(observation["action_mask"]).tolist())
        env.step(action)
        if action is not None:
            actions.append(action)
    return actions


def some_steps(env: Any, count: int, seed: int = 1) -> None:
    """Make up to `count` random moves. Stop when the game ends."""
    choices = random.Random(seed)
    for _ in range(count):
        if any(env.terminations.values()):
            break
        env.step(choices.choice(np.flatnonzero(env.last()[0]["action_mask"]).tolist()))


# PettingZoo's tests warn about every environment with dict observations except its own. They also warn about masks
# without legal actions. Agents have empty masks after their game is over.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium.spaces:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
@with_and_without_wrappers
@of_every_table
def test_pettingzoos_api_test_passes(make: Callable[..., Any], table: Table) -> None:
    game, players = table
    api_test(make(game.name, players), num_cycles=CYCLES)


@with_and_without_wrappers
@of_every_table
def test_pettingzoos_seed_test_passes(make: Callable[..., Any], table: Table) -> None:
    game, players = table
    seed_test(lambda: make(game.name, players), num_cycles=CYCLES)


@of_every_table
def test_games_are_those_of_the_engine(table: Table) -> None:
    game, players = table
    env = pettingzoo.raw_env(game.name, players)
    position = game.new_game(players, seed=5)
    choices = random.Random(5)
    env.reset(seed=5)
    assert env.agents == [f"seat_{seat}" for seat in range(players)]
    while not position.is_terminal():
        actor = position.current_player()
        assert env.agent_selection == f"seat_{actor}"
        for seat, agent in enumerate(env.agents):
            seen = env.observe(agent)
            assert seen["observation"].tobytes() == position.observation(seat)
            assert np.flatnonzero(seen["action_mask"]).tolist() == (position.legal_actions() if seat == actor else [])
            assert env.observation_space(agent).contains(seen)
        assert set(env.rewards.values()) == {0.0}
        assert not any(env.terminations.values())
        action = choices.choice(position.legal_actions())
        position.apply(action)
        env.step(action)
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert list(env.rewards.values()) == position.returns()
    rewards = {}
    for agent in env.agent_iter():
        observation, rewards[agent], termination, _, info = env.last()
        assert termination
        assert info == {}
        assert not observation["action_mask"].any()
        env.step(None)
    assert [rewards[agent] for agent in env.possible_agents] == position.returns()
    assert env.agents == []


@of_every_table
def test_a_seats_data_do_not_depend_on_hidden_information(table: Table) -> None:
    game, players = table
    env = pettingzoo.raw_env(game.name, players, render_mode="ansi")
    env.reset(seed=3)
    choices = random.Random(3)
    for number in range(40):
        if any(env.terminations.values()):
            break
        assert env._position is not None
        for seat, agent in enumerate(env.agents):
            other = deepcopy(env)
            other._position = env._position.resample(seat, number)
            ours, theirs = env.observe(agent), other.observe(agent)
            assert all(np.array_equal(ours[part], theirs[part]) for part in ("observation", "action_mask"))
            if agent == env.agent_selection:
                assert other.render() == env.render() == draw(env._position, seat)
        env.step(choices.choice(np.flatnonzero(env.last()[0]["action_mask"]).tolist()))


@over_names
def test_observations_have_the_bounds_of_the_description(name: str) -> None:
    layout = ObservationLayout(engine.game(name).description)
    space: Any = pettingzoo.raw_env(name).observation_space("seat_0")
    high = space["observation"].high
    assert layout.arrays(high).keys() == layout.arrays(np.zeros_like(high)).keys()
    for field in (field for part in engine.game(name).description.observation for field in part.fields):
        assert set(layout.arrays(high)[field.name].ravel().tolist()) == {field.largest}


@over_names
@with_and_without_wrappers
def test_the_seed_determines_this_game_and_the_following_games(make: Callable[..., Any], name: str) -> None:
    def games(env: Any, *seeds: int | None) -> list[list[int]]:
        played = []
        for seed in seeds:
            env.reset(seed=seed)
            played.append(random_actions(env, seed=1))
        return played

    three = games(make(name), 7, None, None)
    assert games(make(name), None, 7, None, None)[1:] == three
    assert len({tuple(game) for game in three}) == 3
    # The games of an environment without a seed are unpredictable.
    assert games(make(name), None, None) != games(make(name), None, None)


@over_names
def test_options_are_taken_from_the_constructor(name: str) -> None:
    game = engine.game(name)
    seen = set()
    for seat in (0, 1):
        options = {"first_seat": seat}
        env = pettingzoo.env(name, options=options)
        options["first_seat"] = 1 - seat
        env.reset(seed=4, options={"first_seat": 1 - seat, "nonsense": 1})
        observation = env.observe("seat_0")["observation"].tobytes()
        assert observation == game.new_game(game.min_players, {"first_seat": seat}, seed=4).observation(0)
        seen.add(observation)
    assert len(seen) == 2


@over_names
def test_the_smallest_number_of_players_is_the_default(name: str) -> None:
    assert len(pettingzoo.env(name).possible_agents) == engine.game(name).min_players


@over_names
def test_the_metadata_names_the_game_and_its_rules(name: str) -> None:
    env = pettingzoo.env(name)
    assert str(env) == f"chatiere_{name}_v{engine.game(name).rules_version}"
    assert env.metadata["render_modes"] == ["ansi"]
    assert env.metadata["is_parallelizable"] is False


@over_names
@with_and_without_wrappers
@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
def test_a_copy_continues_identically_and_independently(
    make: Callable[..., Any], name: str, copied: Callable[[Any], Any]
) -> None:
    env = make(name, render_mode="ansi")
    env.reset(seed=11)
    some_steps(env, 5)
    for agent in env.agents:
        env.action_space(agent).seed(1)
    before, shown = env.observe(env.agents[0]), env.render()
    copy = copied(env)
    assert copy.render() == shown
    assert [copy.action_space(agent).sample() for agent in copy.agents] == [
        env.action_space(agent).sample() for agent in env.agents
    ]
    actions = random_actions(copy, seed=2)
    assert copy.agents == []
    assert np.array_equal(env.observe(env.agents[0])["observation"], before["observation"])
    assert env.render() == shown
    assert random_actions(env, seed=2) == actions
    env.reset()
    copy.reset()
    assert random_actions(env, seed=3) == random_actions(copy, seed=3)


@over_names
def test_environments_are_made_by_their_registered_name(name: str) -> None:
    version = engine.game(name).rules_version
    made: Any = make("aec", f"chatiere/{name}-v{version}", players=engine.game(name).max_players, render_mode="ansi")
    expected = pettingzoo.env(name, engine.game(name).max_players, render_mode="ansi")
    assert str(made) == str(expected)
    for env in (made, expected):
        env.reset(seed=7)
    assert made.render() == expected.render()
    assert random_actions(made, seed=1) == random_actions(expected, seed=1)
    # Without a version, the name means the newest rules.
    assert str(make("aec", f"chatiere/{name}")) == str(expected)


def test_pettingzoos_registry_has_every_game() -> None:
    ours = {name for name in aec_registry if name.startswith("chatiere/")}
    assert ours == {f"chatiere/{game.name}-v{game.rules_version}" for game in engine.games()}


@over_names
def test_observations_are_writable_copies(name: str) -> None:
    env = pettingzoo.env(name)
    env.reset(seed=1)
    seen = env.observe(env.agent_selection)
    kept = {part: array.copy() for part, array in seen.items()}
    for array in seen.values():
        array[:] = 1
    again = env.observe(env.agent_selection)
    assert all(np.array_equal(again[part], kept[part]) for part in kept)


@over_names
def test_an_illegal_action_loses(name: str, caplog: pytest.LogCaptureFixture) -> None:
    env = pettingzoo.env(name)
    env.reset(seed=1)
    some_steps(env, 3)
    culprit = env.agent_selection
    illegal = int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == culprit else 0 for agent in env.possible_agents}
    for _ in env.agent_iter():
        assert not env.last()[0]["action_mask"].any()
        env.step(None)
    assert env.agents == []
    assert "Illegal move" in caplog.messages[-1]
    env.step(None)
    assert "after all agents are terminated" in caplog.messages[-1]
    env.reset(seed=1)
    assert len(env.agents) == env.max_num_agents


@over_names
@settings(max_examples=60, deadline=None)
@given(action=st.none() | st.integers() | st.integers(0, 7000) | st.floats() | st.text(max_size=2) | st.just([0]))
def test_without_wrappers_a_refused_action_leaves_the_environment_unchanged(name: str, action: Any) -> None:
    env = pettingzoo.raw_env(name)
    env.reset(seed=1)
    mask, agent = env.last()[0]["action_mask"], env.agent_selection
    assume(not (isinstance(action, int) and 0 <= action < len(mask) and mask[action]))
    with pytest.raises((EngineError, TypeError, ValueError)):
        env.step(action)
    assert env.agent_selection == agent
    assert np.array_equal(env.last()[0]["action_mask"], mask)
    env.step(np.int64(np.flatnonzero(mask)[0]))


def test_an_agent_in_the_game_has_to_act() -> None:
    env = pettingzoo.raw_env("discat")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"{env.agent_selection} has to act"):
        env.step(None)


def test_wrappers_refuse_an_action_outside_the_action_space() -> None:
    env = pettingzoo.env("discat")
    env.reset(seed=1)
    for action in (-1, 199, None, 0.5):
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(action)


@pytest.mark.parametrize(
    ("arguments", "reason", "named"),
    [
        ({"game": "chess"}, Reason.UNKNOWN_GAME, "chess"),
        ({"game": "discat", "players": 7}, Reason.INVALID_PLAYERS, "players must be an integer from 2 to 6, not 7"),
        ({"game": "discat", "players": "two"}, Reason.INVALID_PLAYERS, "not 'two'"),
        ({"game": "discat", "options": {"arrows": 1}}, Reason.INVALID_OPTION, "no option 'arrows'"),
        ({"game": "discat", "options": {"first_seat": 2}}, Reason.INVALID_OPTION, "first_seat"),
        ({"game": "discat", "options": 3}, Reason.INVALID_OPTION, "options must be a mapping"),
    ],
)
@with_and_without_wrappers
def test_wrong_arguments_are_named(
    make: Callable[..., Any], arguments: dict[str, Any], reason: Reason, named: str
) -> None:
    with pytest.raises(EngineError, match=named) as caught:
        make(**arguments)
    assert caught.value.reason == reason


def test_an_unknown_render_mode_is_named() -> None:
    with pytest.raises(ValueError, match=r"render_mode.*human"):
        pettingzoo.env("discat", render_mode="human")


@pytest.mark.parametrize("seed", [-1, 2**64, "one", 0.5])
def test_a_wrong_seed_is_named_and_leaves_the_game_unchanged(seed: Any) -> None:
    env = pettingzoo.raw_env("discat")
    env.reset(seed=1)
    some_steps(env, 3)
    before = env.last()[0]["observation"]
    with pytest.raises(EngineError, match="seed must be"):
        env.reset(seed=seed)
    assert np.array_equal(env.last()[0]["observation"], before)


def test_an_unknown_agent_is_named() -> None:
    env = pettingzoo.raw_env("discat")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="unknown agent 'seat_2'; the agents are seat_0, seat_1"):
        env.observe("seat_2")


def test_calls_without_a_game_are_refused() -> None:
    env = pettingzoo.raw_env("discat", render_mode="ansi")
    for close in (False, True):
        if close:
            env.reset(seed=1)
            env.close()
        with pytest.raises(ValueError, match="call reset first"):
            env.step(0)
        with pytest.raises(ValueError, match="call reset first"):
            env.observe("seat_0")
        with pytest.raises(ValueError, match="call reset first"):
            env.render()
        assert list(env.agent_iter()) == []


def test_wrappers_refuse_calls_before_reset() -> None:
    env = pettingzoo.env("discat", render_mode="ansi")
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        _ = env.agent_selection
    for call in (env.render, lambda: env.step(0), lambda: env.observe("seat_0")):
        with pytest.raises(AssertionError, match="reset"):
            call()


@over_names
def test_after_the_end_only_none_is_a_valid_action(name: str) -> None:
    env = pettingzoo.raw_env(name)
    env.reset(seed=1)
    some_steps(env, 10_000)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    while env.agents:
        env.step(None)
    with pytest.raises(ValueError, match="call reset first"):
        env.step(None)
    assert env.observe("seat_0")["observation"].any()


@over_names
def test_the_table_is_drawn_for_the_seat_to_act(name: str) -> None:
    env = pettingzoo.env(name, render_mode="ansi")
    env.reset(seed=2)
    position = engine.game(name).new_game(engine.game(name).min_players, seed=2)
    for _ in range(10):
        assert env.render() == draw(position, position.current_player())
        action = position.legal_actions()[0]
        env.step(action)
        position.apply(action)
        if position.is_terminal():
            break


def test_without_a_render_mode_rendering_warns() -> None:
    env = pettingzoo.env("discat")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert env.render() is None


def test_neither_grpc_nor_the_clients_are_imported() -> None:
    code = "import chatiere.envs.pettingzoo, sys; print(*{'grpc', 'chatiere.clients'} & set(sys.modules))"
    assert subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize("missing", ["pettingzoo", "gymnasium"])
def test_the_missing_library_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "chatiere.envs.pettingzoo")
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install chatiere\[pettingzoo\]"):
        importlib.import_module("chatiere.envs.pettingzoo")
