"""Gymnasium environments of all games."""

import copy
import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from itertools import combinations
from typing import Any

import gymnasium
import numpy as np
import pytest
from conformance.support import TABLE_NAMES, TABLES, Table
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from tools.over import over, over_games

from chatiere import bots
from chatiere.bots import Bot, Decisions
from chatiere.drawing import draw
from chatiere.engine import EngineError, Game, Position, Reason, games
from chatiere.envs import pettingzoo
from chatiere.envs.gymnasium import SeatEnv, SeatVectorEnv

Env = SeatEnv | SeatVectorEnv
BOTH = over("make", [SeatEnv, SeatVectorEnv])
# The items of each info, with their dtypes.
INFO = {"action_mask": np.int8, "illegal_action": np.int64}
MODES = pytest.mark.parametrize("mode", AutoresetMode)
ALL_TABLES = over("table", TABLES, ids=TABLE_NAMES)


def position_of(env: Env, row: int = 0) -> Position:
    """Return the true position of a game. No method of the environment reveals it."""
    return env._game.position if isinstance(env, SeatEnv) else env._games._position(row)


def one_legal(mask: np.ndarray, random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(mask)))


def episode(env: SeatEnv, seed: int | None, choices: int = 5) -> list[Any]:
    """Play a game. Return all results of reset and step."""
    random = np.random.default_rng(choices)
    returned: list[Any] = [env.reset(seed=seed)]
    while not (len(returned[-1]) == 5 and returned[-1][2]):
        returned.append(env.step(one_legal(returned[-1][-1]["action_mask"], random)))
    return returned


@ALL_TABLES
def test_gymnasium_accepts_every_game(table: Table) -> None:
    game, players = table
    env_id = f"chatiere.envs.gymnasium:chatiere/{game.name}-v{game.rules_version}"
    for render_mode in (None, "ansi"):
        check_env(gymnasium.make(env_id, players=players, seat=players - 1, render_mode=render_mode).unwrapped)


def test_every_game_is_registered_with_the_version_of_its_rules() -> None:
    registered = {name for name in gymnasium.registry if name.startswith("chatiere/")}
    assert registered == {f"chatiere/{game.name}-v{game.rules_version}" for game in games()}


def test_the_module_registers_by_itself() -> None:
    program = """
        import gymnasium
        env = gymnasium.make("chatiere.envs.gymnasium:chatiere/discat-v1", players=3, opponents="random")
        env.reset(seed=7)
        envs = gymnasium.make_vec("chatiere.envs.gymnasium:chatiere/discat-v1", num_envs=2)
        envs.reset(seed=7)
        import sys
        assert "grpc" not in sys.modules
    """
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(program)], check=True)


def test_the_registry_has_the_games_after_the_import() -> None:
    program = """
        import chatiere.envs.gymnasium
        import gymnasium
        gymnasium.make("chatiere/discat-v1").reset(seed=7)
        gymnasium.make_vec("chatiere/discat-v1", num_envs=2).reset(seed=7)
    """
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(program)], check=True)


def test_the_error_without_gymnasium_names_the_extra_to_install() -> None:
    program = """
        import sys
        sys.modules["gymnasium"] = None
        try:
            import chatiere.envs.gymnasium
        except ImportError as error:
            assert "pip install chatiere[gymnasium]" in str(error), error
        else:
            raise AssertionError("imported")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_the_registered_limit_exceeds_the_longest_game() -> None:
    for game in games():
        limit = gymnasium.spec(f"chatiere/{game.name}-v{game.rules_version}").max_episode_steps
        assert limit is not None
        players = range(game.min_players, game.max_players + 1)
        assert max(game.limits_of_any_options(number).max_game_length for number in players) == limit - 1
    # A smaller limit given to `make` or `make_vec` truncates games.
    env: Any = gymnasium.make("chatiere/momistigri-v1", max_episode_steps=2)
    envs: Any = gymnasium.make_vec("chatiere/momistigri-v1", num_envs=2, max_episode_steps=2)
    _, info = env.reset(seed=1)
    _, infos = envs.reset(seed=1)
    for truncated in (False, True):
        *_, single, info = env.step(info["action_mask"].argmax())
        *_, several, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert single is truncated
        assert several.tolist() == [truncated] * 2


@BOTH
def test_bots_that_json_cannot_represent_are_refused(make: type[Env]) -> None:
    maker: Any = gymnasium.make if make is SeatEnv else gymnasium.make_vec
    for opponents in (Watching(), [Watching(), "random"]):
        env = maker("chatiere/discat-v1", players=3, opponents=opponents)
        with pytest.raises(ValueError, match=r"^opponents=.*Watching .* cannot be written as JSON; give bots by name"):
            env.spec.to_json()
        env.reset(seed=1)
    assert "flat:playouts=5" in maker("chatiere/discat-v1", opponents="flat:playouts=5").spec.to_json()


def test_an_environment_made_directly_has_no_spec() -> None:
    env = SeatEnv("discat")
    assert env.spec is None
    env.spec = None
    assert env.spec is None


def test_an_environment_can_be_recreated_from_its_spec() -> None:
    env: Any = gymnasium.make("chatiere/momistigri-v1", players=4, seat=2, options={"first_seat": 3}, illegal="raise")
    again: Any = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert data_equivalence(episode(env.unwrapped, 3), episode(again.unwrapped, 3), exact=True)
    assert json.loads(env.spec.to_json())["kwargs"]["seat"] == 2


@ALL_TABLES
def test_an_episode_is_a_game_from_the_view_of_its_seat(table: Table) -> None:
    game, players = table
    for seat in range(players):
        env = SeatEnv(game.name, players, seat=seat, render_mode="ansi")
        random = np.random.default_rng(seat)
        observation, info = env.reset(seed=11)
        for _ in range(60):
            position = position_of(env)
            assert position.current_player() == seat
            assert position.num_players() == players
            assert info["illegal_action"] == -1
            # All results are the same in a world that differs only in hidden information.
            unseen = position.resample(seat, 5)
            assert env.observation_space.contains(observation)
            assert observation.tobytes() == unseen.observation(seat)
            assert np.flatnonzero(info["action_mask"]).tolist() == unseen.legal_actions()
            assert {key: value.dtype for key, value in info.items()} == INFO
            assert env.render() == draw(unseen, seat)
            observation, reward, terminated, truncated, info = env.step(one_legal(info["action_mask"], random))
            assert truncated is False
            assert terminated is position_of(env).is_terminal()
            if terminated:
                assert reward == np.float32(position_of(env).returns()[seat])
                assert observation.tobytes() == position_of(env).observation(seat)
                assert {key: value.dtype for key, value in info.items()} == INFO
                assert not info["action_mask"].any()
                assert info["illegal_action"] == -1
                break
            assert reward == 0


@ALL_TABLES
def test_the_mask_can_be_part_of_the_observation(table: Table) -> None:
    game, players = table
    plain, masked = SeatEnv(game.name, players), SeatEnv(game.name, players, mask_in_observation=True)
    for (seen, *rest, info), (dict_seen, *same, same_info) in zip(episode(plain, 3), episode(masked, 3), strict=True):
        assert data_equivalence((rest, info), (same, same_info), exact=True)
        assert data_equivalence({"observation": seen, "action_mask": info["action_mask"]}, dict_seen, exact=True)
        assert masked.observation_space.contains(dict_seen)
        assert not np.shares_memory(dict_seen["action_mask"], same_info["action_mask"])
    assert masked.action_masks().dtype == np.bool_
    _, info = masked.reset(seed=4)
    assert masked.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    check_env(masked, skip_render_check=True)


@over_games
def test_observations_have_the_same_bounds_as_with_pettingzoo(game: Game) -> None:
    theirs: Any = pettingzoo.raw_env(game.name).observation_space("seat_0")
    assert SeatEnv(game.name).observation_space == theirs["observation"]
    assert SeatEnv(game.name, mask_in_observation=True).observation_space == theirs


def test_rewards_depend_on_winning_and_losing() -> None:
    env = SeatEnv("discat", 3)
    last = [episode(env, seed)[-1] for seed in range(40)]
    # A sole winner gets 2, each of two joint winners gets 0.5, and each of three gets 0.
    assert {-1, 2} <= {reward for _, reward, *_ in last} <= {-1, 0, 0.5, 2}


@MODES
@ALL_TABLES
def test_the_vector_form_equals_single_environments(table: Table, mode: AutoresetMode) -> None:
    game, players = table
    settings: dict[str, Any] = {
        "players": players,
        "seat": players - 1,
        "options": {"first_seat": 0},
        "mask_in_observation": mode is AutoresetMode.SAME_STEP,
        "render_mode": "ansi",
    }
    together = SeatVectorEnv(game.name, num_envs=3, autoreset_mode=mode, max_episode_steps=8, **settings)
    single = SyncVectorEnv([lambda: TimeLimit(SeatEnv(game.name, **settings), 8)] * 3, autoreset_mode=mode)
    assert together.single_observation_space == single.single_observation_space
    assert together.observation_space == single.observation_space
    assert together.single_action_space == single.single_action_space
    assert together.action_space == single.action_space
    assert together.metadata == single.metadata | {"autoreset_mode": mode}
    random = np.random.default_rng(1)
    ended = lost = cut = 0
    # Test one seed for all games, a seed for each game, and no seed.
    for seed in (4, [9, None, 2], None):
        returned: Any = together.reset(seed=seed)
        assert data_equivalence(returned, single.reset(seed=seed), exact=True)
        for _ in range(30):
            masks = returned[-1]["action_mask"]
            actions = [
                one_legal(mask, random) if mask.any() and random.random() < 0.95 else random.integers(len(mask))
                for mask in masks
            ]
            returned = together.step(np.array(actions))
            assert data_equivalence(returned, single.step(np.array(actions)), exact=True)
            assert together.render() == single.render()
            ended += returned[2].sum()
            cut += returned[3].sum()
            lost += (returned[-1].get("final_info", returned[-1])["illegal_action"] > 0).sum()
            over = returned[2] | returned[3]
            if mode is AutoresetMode.DISABLED and over.any():
                masks = returned[-1]["action_mask"]
                # Seeds for games that continue have no effect.
                given: tuple[Any, ...] = ([6, 7, 8], None)
                for new in given:
                    returned = together.reset(seed=new, options={"reset_mask": over})
                    assert data_equivalence(returned, single.reset(seed=new, options={"reset_mask": over}), exact=True)
                assert not returned[-1]["action_mask"][~over].any()
                returned[-1]["action_mask"] = np.where(over[:, None], returned[-1]["action_mask"], masks)
    assert lost > 0
    assert cut > 0
    assert ended > 3


def test_make_vec_returns_the_vector_form() -> None:
    envs = gymnasium.make_vec("chatiere/discat-v1", num_envs=5, players=4, opponents="random")
    assert isinstance(envs, SeatVectorEnv)
    observations, info = envs.reset(seed=1)
    space: Any = envs.single_observation_space
    actions: Any = envs.single_action_space
    assert observations.shape == (5, space.shape[0])
    assert info["action_mask"].shape == (5, actions.n)


def test_the_same_seed_gives_the_same_episode() -> None:
    first, second = SeatEnv("momistigri", 4), SeatEnv("momistigri", 4)
    episodes = [episode(first, 7), episode(first, None), episode(first, None)]
    assert data_equivalence(episodes, [episode(second, 7), episode(second, None), episode(second, None)], exact=True)
    assert not data_equivalence(episodes[0], episodes[1])
    assert not data_equivalence(episodes[0], episode(second, 8))
    assert not data_equivalence(episode(SeatEnv("momistigri", 4), None), episode(SeatEnv("momistigri", 4), None))


def test_a_copy_continues_identically() -> None:
    env = SeatEnv("chat_perche")
    env.reset(seed=5)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert np.array_equal(copied.action_masks(), env.action_masks())
        copies = copied, copy.deepcopy(copied)
        returned, same = (each.step(int(np.argmax(env.action_masks()))) for each in copies)
        assert data_equivalence(returned, same, exact=True)
        returned, same = (episode(each, None) for each in copies)
        assert data_equivalence(returned, same, exact=True)


@MODES
def test_a_copy_of_many_games_continues_identically(mode: AutoresetMode) -> None:
    envs = SeatVectorEnv("discat", 4, num_envs=3, opponents=["largest", "random", "random"], autoreset_mode=mode)
    _, info = envs.reset(seed=5)
    copies = envs, copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))
    for _ in range(60):
        actions = info["action_mask"].argmax(axis=1)
        returned, *others = (each.step(actions) for each in copies)
        assert all(data_equivalence(returned, other, exact=True) for other in others)
        over, info = returned[2], returned[-1]
        if mode is AutoresetMode.DISABLED and over.any():
            # Without a seed, a new game depends on the random numbers drawn so far.
            returned, *others = (each.reset(options={"reset_mask": np.ones(3, np.bool_)}) for each in copies)
            assert all(data_equivalence(returned, other, exact=True) for other in others)
            info = returned[-1]


def test_vector_games_differ_without_a_seed() -> None:
    observations, _ = SeatVectorEnv("discat", num_envs=20).reset()
    assert len(np.unique(observations, axis=0)) == 20


@BOTH
def test_returned_arrays_belong_to_the_caller(make: type[Env]) -> None:
    env = make("discat", 3)
    observation, info = env.reset(seed=1)
    given = [observation, *info.values()]
    for _ in range(3):
        *arrays, info = env.step(info["action_mask"].argmax(axis=-1))
        given += [array for array in [*arrays, *info.values()] if isinstance(array, np.ndarray)]
    observation, info = env.reset()
    given += [observation, *info.values()]
    assert len(given) >= 10
    assert not any(np.shares_memory(one, other) for one, other in combinations(given, 2))
    assert all(array.flags.writeable for array in given if isinstance(array, np.ndarray))


def test_an_illegal_action_loses() -> None:
    env = SeatEnv("discat", 3)
    observation, info = env.reset(seed=2)
    illegal = int(np.argmin(info["action_mask"]))
    after, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1, True, False)
    assert info["illegal_action"] == illegal
    assert {key: value.dtype for key, value in info.items()} == INFO
    assert not info["action_mask"].any()
    assert np.array_equal(observation, after)
    with pytest.raises(ResetNeeded):
        env.step(illegal)
    env.reset()


def test_an_illegal_action_raises_on_request() -> None:
    env = SeatEnv("discat", 3, illegal="raise")
    _, info = env.reset(seed=2)
    same = copy.deepcopy(env)
    illegal = int(np.argmin(info["action_mask"]))
    with pytest.raises(EngineError, match=rf"action {illegal} is illegal.*discat\.md") as refusal:
        env.step(illegal)
    assert isinstance(refusal.value, ValueError)
    assert (refusal.value.reason, refusal.value.field) == (Reason.ILLEGAL_ACTION, "action")
    assert refusal.value.rule.startswith("discat.md")
    action = int(np.argmax(info["action_mask"]))
    assert data_equivalence(env.step(action), same.step(action), exact=True)


def test_an_illegal_action_of_one_game_leaves_all_games_unchanged() -> None:
    envs, same = (SeatVectorEnv("discat", 3, num_envs=4, illegal="raise") for _ in range(2))
    _, info = envs.reset(seed=2)
    same.reset(seed=2)
    actions = info["action_mask"].argmax(axis=1)
    illegal = int(np.argmin(info["action_mask"][2]))
    with pytest.raises(EngineError, match=rf"actions\[2\] {illegal} is illegal") as refusal:
        envs.step([*actions[:2], illegal, actions[3]])
    assert refusal.value.field == "actions[2]"
    assert data_equivalence(envs.step(actions), same.step(actions), exact=True)


def test_an_illegal_action_of_one_game_loses_only_that_game() -> None:
    envs = SeatVectorEnv("discat", 3, num_envs=4)
    _, info = envs.reset(seed=2)
    actions = info["action_mask"].argmax(axis=1)
    actions[2] = np.argmin(info["action_mask"][2])
    _, rewards, terminated, _, info = envs.step(actions)
    assert (terminated.tolist(), rewards.tolist()) == ([False, False, True, False], [0, 0, -1, 0])
    assert info["illegal_action"].tolist() == [-1, -1, actions[2], -1]
    # The next step starts another game in this row and ignores its action.
    actions = np.where(terminated, actions, info["action_mask"].argmax(axis=1))
    _, rewards, terminated, _, info = envs.step(actions)
    assert not terminated[2]
    assert rewards[2] == 0
    assert info["action_mask"][2].any()
    assert info["illegal_action"].tolist() == [-1] * 4


def test_a_game_that_ends_before_the_seats_first_decision_is_skipped() -> None:
    class Counting(np.random.Generator):
        asked = 0

        def integers(self, *arguments: Any, **options: Any) -> Any:
            self.asked += 1
            return super().integers(*arguments)

    class Largest(Bot):
        def choose(self, decisions: Decisions) -> np.ndarray:
            # The lowest bits of a play's id are the cards of its group, without the top.
            return decisions.best_actions(np.bitwise_count(decisions.legal_ids % 32))

    # About one game in two thousand ends before the seat's first decision.
    envs = SeatVectorEnv("discat", 4, num_envs=3000, opponents=Largest(), options={"first_seat": 1})
    generators = [Counting(np.random.PCG64(seed)) for seed in range(3000)]
    envs._games.begin(np.arange(3000), generators)
    assert max(generator.asked for generator in generators) == 2
    assert envs._games.masks.any(axis=1).all()
    assert not envs._games.over.any()
    assert not envs._games.returns.any()


class Watching(Bot):
    """A bot that chooses the first legal action. It records seats, luck and the largest number of decisions."""

    needs_observations = True
    needs_worlds = True

    def __init__(self) -> None:
        self.seats: set[int] = set()
        self.most = 0
        self.luck: list[int] = []

    def choose(self, decisions: Decisions) -> np.ndarray:
        self.seats |= set(decisions.actors.tolist())
        self.most = max(self.most, len(decisions))
        self.luck += decisions.luck.tolist()
        worlds = decisions.worlds(range(len(decisions)), 2)
        for actor, observation, of_one in zip(decisions.actors, decisions.observations, worlds, strict=True):
            for world in of_one:
                assert decisions.game.unpack(world.tobytes()).observation(actor) == observation.tobytes()
        return decisions.legal_ids[decisions.legal_offsets[:-1]]


@BOTH
def test_opponents_sit_in_order_from_the_left_of_the_seat(make: type[Env]) -> None:
    watching = [Watching(), Watching(), Watching()]
    env = make("momistigri", 4, seat=2, opponents=watching)
    _, info = env.reset(seed=1)
    for _ in range(10):
        actions = info["action_mask"].argmax(axis=-1)
        *_, info = env.step(actions)
    assert [bot.seats for bot in watching] == [{3}, {0}, {1}]


def test_one_bot_decides_for_several_seats_and_games_in_one_call() -> None:
    bot = Watching()
    envs = SeatVectorEnv("chat_cartonne", 3, num_envs=30, opponents=bot)
    _, info = envs.reset(seed=1)
    for _ in range(5):
        *_, info = envs.step(info["action_mask"].argmax(axis=1))
    assert bot.seats == {1, 2}
    assert bot.most > 15
    assert len(set(bot.luck)) == len(bot.luck) > 150


@over_games
def test_every_bot_can_be_an_opponent(game: Game) -> None:
    for name in bots.names(game):
        spec = f"{name}:playouts=3" if name == "flat" else name
        env, again = SeatEnv(game.name, opponents=spec), SeatVectorEnv(game.name, opponents=spec)
        random = np.random.default_rng(1)
        returned: Any
        same: Any
        returned, same = env.reset(seed=4), again.reset(seed=4)
        for _ in range(5):
            assert np.array_equal(returned[0], same[0][0])
            assert np.array_equal(returned[-1]["action_mask"], same[-1]["action_mask"][0])
            action = one_legal(returned[-1]["action_mask"], random)
            returned, same = env.step(action), again.step([action])


class Choosing(Bot):
    """A bot that chooses given actions."""

    def __init__(self, actions: Any) -> None:
        self.actions = actions

    def choose(self, decisions: Decisions) -> Any:
        return self.actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (
            np.array([198]),
            "Choosing chose action 198 for seat 1 at decision 0 of 1, which has the legal actions ",
        ),
        (np.array([-1]), "Choosing chose action -1 for seat 1 at decision 0 of 1"),
        (np.array([2**16]), "Choosing chose action 65536 for seat 1 at decision 0 of 1"),
        (np.array([1.0]), r"Choosing must choose integers of the shape \(1,\), not float64 \(1,\)"),
        (None, r"Choosing must choose integers of the shape \(1,\), not object \(\)"),
        ([1, 2], r"Choosing must choose integers of the shape \(1,\), not int64 \(2,\)"),
    ],
)
def test_a_game_in_which_a_bot_fails_is_over(actions: Any, message: str) -> None:
    env = SeatEnv("discat", opponents=Choosing(actions), options={"first_seat": 0})
    _, info = env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(one_legal(info["action_mask"], np.random.default_rng(1)))
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()


@BOTH
def test_an_environment_must_be_reset_first(make: type[Env]) -> None:
    env: Any = make("discat", render_mode="ansi")
    calls = [env.render, lambda: env.step(0), lambda: env.step([0])]
    if make is SeatEnv:
        calls.append(env.action_masks)
    for call in calls:
        with pytest.raises(ResetNeeded, match="call reset first"):
            call()


def test_a_game_that_is_over_accepts_no_action() -> None:
    env = SeatEnv("chat_perche", render_mode="ansi")
    episode(env, 3)
    assert env.render() == draw(position_of(env), 0)
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(0)


@BOTH
def test_calls_of_a_closed_environment_are_refused(make: type[Env]) -> None:
    env = make("discat", render_mode="ansi")
    env.reset()
    env.close()
    env.close()
    for call in (env.reset, env.render, lambda: env.step(0)):
        with pytest.raises(ClosedEnvironmentError, match="the environment is closed"):
            call()


@BOTH
def test_rendering_needs_a_render_mode(make: type[Env]) -> None:
    env = make("discat")
    env.reset()
    with pytest.warns(UserWarning, match='render_mode="ansi"'):
        assert env.render() is None


@BOTH
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": "chess"}, "unknown game 'chess'; known games: chat_cartonne"),
        ({"players": 7}, "players must be an integer from 2 to 6, not 7"),
        ({"players": 2.0}, "players must be an integer from 2 to 6, not 2.0"),
        ({"seat": 3}, "seat must be an integer from 0 to 2, not 3"),
        ({"seat": None}, "seat must be an integer from 0 to 2, not None"),
        ({"options": {"cats": 9}}, "Discat has no option 'cats'"),
        ({"options": {"first_seat": 3}}, "first_seat must be an integer from 0 to 2, not 3"),
        ({"options": 3}, "options must be a mapping"),
        ({"opponents": "genius"}, "opponents: unknown bot 'genius' for discat; known bots: random, "),
        ({"opponents": ["random", "genius"]}, "opponents: unknown bot 'genius'"),
        ({"opponents": ["random", ["random"]]}, r"opponents: a bot must be a name or a Bot, not \['random'\]"),
        ({"opponents": "flat:playouts=0"}, "opponents: bot flat: playouts must be .* not '0'"),
        (
            {"opponents": ["random"]},
            r"opponents must be .* a list of 2, one for each other seat, not \['random'",
        ),
        ({"opponents": 5}, "opponents must be one bot or a list of 2"),
        ({"illegal": "ignore"}, "illegal must be 'lose' or 'raise', not 'ignore'"),
        ({"render_mode": "human"}, "render_mode must be None or 'ansi', not 'human'"),
    ],
)
def test_wrong_arguments_are_named(make: Callable[..., Env], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**({"game": "discat", "players": 3} | arguments))


@pytest.mark.parametrize("num_envs", [0, -1])
def test_num_envs_is_at_least_1(num_envs: int) -> None:
    with pytest.raises(ValueError, match=f"num_envs must be 1 or more, not {num_envs}"):
        SeatVectorEnv("discat", num_envs=num_envs)


@pytest.mark.parametrize("action", [-1, 199, 2**70, 1.0, None, "0", [0]])
def test_an_action_outside_the_action_space_is_refused(action: Any) -> None:
    env = SeatEnv("discat")
    env.reset()
    with pytest.raises(ValueError, match="action must be an integer from 0 to 198, not"):
        env.step(action)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0], r"actions must be integers of the shape \(2,\), not int64 \(1,\)"),
        (0, r"actions must be integers of the shape \(2,\), not int64 \(\)"),
        ([0.0, 0.0], r"actions must be integers of the shape \(2,\), not float64 \(2,\)"),
        ([0, 199], r"actions\[1\] must be an integer from 0 to 198, not 199"),
        ([-1, 0], r"actions\[0\] must be an integer from 0 to 198, not -1"),
    ],
)
def test_actions_outside_the_action_space_are_refused(actions: Any, message: str) -> None:
    envs = SeatVectorEnv("discat", num_envs=2)
    envs.reset()
    with pytest.raises(ValueError, match=message):
        envs.step(actions)


def test_wrong_seeds_are_refused() -> None:
    envs = SeatVectorEnv("discat", num_envs=3)
    with pytest.raises(ValueError, match="seed must be an integer or a list of 3, not of 2"):
        envs.reset(seed=[1, 2])
    with pytest.raises(TypeError, match=r"seed\[1\] must be an integer, not True"):
        envs.reset(seed=[None, True, 1])
    for env in (envs, SeatEnv("discat")):
        for wrong in (1.5, True):
            seed: Any = wrong
            with pytest.raises(TypeError, match=f"seed must be an integer, not {wrong}"):
                env.reset(seed=seed)
        with pytest.raises(gymnasium.error.Error, match="Seed must be greater or equal to zero"):
            env.reset(seed=-1)


@MODES
def test_the_caller_resets_games_if_autoreset_is_disabled(mode: AutoresetMode) -> None:
    envs, same = (SeatVectorEnv("discat", num_envs=2, autoreset_mode=mode.value) for _ in range(2))
    first = {"reset_mask": np.array([True, False])}
    if mode is not AutoresetMode.DISABLED:
        envs.reset(options={"anything": 1})
        with pytest.raises(ValueError, match="no reset_mask with AutoresetMode"):
            envs.reset(options=first)
        return
    with pytest.raises(ResetNeeded, match="call reset first"):
        envs.reset(options=first)
    _, info = envs.reset(seed=1, options={"reset_mask": np.array([True, True])})
    same.reset(seed=1)
    illegal = info["action_mask"].argmin(axis=1)
    actions = np.where([True, False], illegal, info["action_mask"].argmax(axis=1))
    observations, _, over, _, info = envs.step(actions)
    same.step(actions)
    assert over.tolist() == [True, False]
    with pytest.raises(ResetNeeded, match="call reset first"):
        envs.step(illegal)
    # Gymnasium's own vector environments refuse the same masks, with errors of the same types.
    sync = gymnasium.vector.SyncVectorEnv([lambda: SeatEnv("discat")] * 2, autoreset_mode=mode)
    for wrong, error, message in (
        ([True, False], TypeError, "must be a NumPy array of bool, not list"),
        (None, TypeError, "must be a NumPy array of bool, not NoneType"),
        (np.array([1, 0]), TypeError, "must be a NumPy array of bool, not one of int64"),
        (np.array([True]), ValueError, r"must have the shape \(2,\), not \(1,\)"),
        (np.array([False, False]), ValueError, "must be True for at least one game"),
    ):
        with pytest.raises(error, match=f"reset_mask {message}"):
            envs.reset(options={"reset_mask": wrong})
        with pytest.raises(error, match="reset_mask"):
            sync.reset(options={"reset_mask": wrong})
    # A reset that raises an error changes no game, and a reset of one game does not affect the other game.
    begun, begun_info = envs.reset(options=first)
    assert data_equivalence((begun, begun_info), same.reset(options=first), exact=True)
    assert np.array_equal(begun[1], observations[1])
    actions = np.where([True, False], begun_info["action_mask"].argmax(axis=1), info["action_mask"].argmax(axis=1))
    assert data_equivalence(envs.step(actions), same.step(actions), exact=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"autoreset_mode": "Never"},
            r"autoreset_mode must be one of \['NextStep', 'SameStep', 'Disabled'\], not 'Never'",
        ),
        ({"max_episode_steps": 0}, "max_episode_steps must be 1 or more, not 0"),
    ],
)
def test_wrong_arguments_of_the_vector_form_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeatVectorEnv("discat", **arguments)
