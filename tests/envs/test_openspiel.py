"""The games in OpenSpiel: its suites and algorithms accept them, and no player learns hidden information."""

import itertools
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pyspiel
import pytest
from conformance.support import TABLE_NAMES, TABLES, Table, random_options, shown_to
from games.building import message
from google.protobuf.message import Message
from tools.over import each, over_games

from chatiere import engine
from chatiere.engine import EventLog, Game, Position
from chatiere.engine.wire import fill

openspiel = import_module("chatiere.envs.openspiel")
mcts, ismcts, mccfr = (
    import_module(f"open_spiel.python.algorithms.{name}") for name in ("mcts", "ismcts", "outcome_sampling_mccfr")
)
make_observation = import_module("open_spiel.python.observation").make_observation
Environment = import_module("open_spiel.python.rl_environment").Environment

SUITES = {
    "open_spiel.integration_tests.api_test": ["--test_only_games=chatiere_"],
    "open_spiel.python.tests.games_sim_test": ["--", "-k", "chatiere_"],
}


@pytest.fixture(params=each("table", TABLES), ids=TABLE_NAMES)
def table(request: pytest.FixtureRequest) -> Table:
    found: Table = request.param
    return found


def load(game: Game, players: int | None = None, **parameters: Any) -> Any:
    return pyspiel.load_game(f"chatiere_{game.name}", {"players": players or game.min_players, **parameters})


def step(state: Any, choices: random.Random) -> int:
    """Make a random move and return it."""
    if state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        move = choices.choices(outcomes, probabilities)[0]
    else:
        move = choices.choice(state.legal_actions())
    state.apply_action(move)
    return int(move)


def played(game: Any, seed: int = 1, moves: int | None = None) -> Any:
    """Return the state of a random game after some moves, or at its end."""
    state, choices = game.new_initial_state(), random.Random(seed)
    while not state.is_terminal() and (moves is None or len(state.history()) < moves):
        step(state, choices)
    return state


def at_a_decision(game: Any) -> Any:
    """Return a state early in a random game in which a player has to act."""
    return next(state for state in states(game) if state.is_player_node() and len(state.history()) > 15)


def states(game: Any, seed: int = 1, every: int = 1) -> Iterator[Any]:
    """Yield states of a random game."""
    state, choices = game.new_initial_state(), random.Random(seed)
    for number in itertools.count():
        if number % every == 0:
            yield state.clone()
        if state.is_terminal():
            return
        step(state, choices)


def position_of(state: Any) -> Position:
    """Return the engine's position after the moves of a state of a game without options."""
    name = state.get_game().get_type().short_name.removeprefix("chatiere_")
    position = engine.game(name).new_game(state.num_players())
    for move in state.history():
        position.apply(move)
    return position


def strings(state: Any) -> list[str]:
    return [state.information_state_string(player) for player in range(state.num_players())]


def sampler(seed: int) -> Callable[[], float]:
    return random.Random(seed).random


def draw(state: Any, player: int, seed: int) -> Any:
    return state.resample_from_infostate(player, sampler(seed))


@pytest.mark.parametrize("suite", SUITES)
def test_openspiels_suites_pass(suite: str) -> None:
    # Run the suite in a separate process and check its exit status, because OpenSpiel frees registered games at exit.
    program = (
        "import runpy, sys; import chatiere.envs.openspiel; "
        f"sys.argv = {['suite', *SUITES[suite]]}; runpy.run_module({suite!r}, run_name='__main__', alter_sys=True)"
    )
    run = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    for game in engine.games():
        assert f"chatiere_{game.name}" in run.stdout + run.stderr


def test_random_games_pass_openspiels_checks(table: Table) -> None:
    game, players = table
    pyspiel.random_sim_test(load(game, players), 1, True, False)


def test_a_game_has_the_engines_bounds_and_returns(table: Table) -> None:
    game, players = table
    loaded, limits = load(game, players), game.limits(players)
    assert loaded.num_players() == players
    assert loaded.num_distinct_actions() == game.num_distinct_actions
    assert (loaded.min_utility(), loaded.max_utility(), loaded.utility_sum()) == (-1, players - 1, 0)
    assert loaded.max_game_length() == limits.max_game_length
    assert loaded.max_chance_nodes_in_history() == limits.max_chance_nodes_in_history
    assert loaded.observation_tensor_shape() == [game.observation_length]
    state = played(loaded)
    position = game.new_game(players)
    for move in state.history():
        assert not any(position.returns())
        position.apply(move)
    assert state.returns() == state.rewards() == position.returns()


@over_games
def test_chance_outcomes_are_in_bounds_and_have_the_engines_probabilities(game: Game) -> None:
    # OpenSpiel's masks have the length max_chance_outcomes, and OpenSpiel writes to them without checking bounds.
    for players in range(game.min_players, game.max_players + 1):
        loaded, choices = load(game, players), random.Random(players)
        for options in ({}, *(random_options(game, players, choices) for _ in range(10))):
            position = game.new_game(players, options)
            while not position.is_terminal():
                for outcome, _ in position.chance_outcomes():
                    assert outcome < loaded.max_chance_outcomes()
                moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
                position.apply(choices.choice(moves))
    for state in states(loaded):
        if state.is_chance_node():
            position = position_of(state)
            total = sum(weight for _, weight in position.chance_outcomes())
            assert state.chance_outcomes() == [(o, weight / total) for o, weight in position.chance_outcomes()]
            assert [outcome for outcome, _ in state.chance_outcomes()] == state.legal_actions()
            assert sum(state.legal_actions_mask()) == len(state.legal_actions())


@over_games
def test_shortcuts_in_python_return_the_same_as_c_plus_plus(game: Game) -> None:
    for state in states(load(game), every=5):
        assert state.legal_actions() == pyspiel.State.legal_actions(state)
        assert state.is_chance_node() == pyspiel.State.is_chance_node(state)


@pytest.mark.parametrize("name", ["leduc_poker", *(f"chatiere_{game.name}" for game in engine.games())])
def test_only_the_current_player_has_legal_actions_as_in_games_in_c_plus_plus(name: str) -> None:
    loaded = pyspiel.load_game(name)
    for state in states(loaded, every=5):
        assert bool(state.legal_actions()) != state.is_terminal()
        for player in (-1, *range(state.num_players())):
            own = player == state.current_player()
            assert state.legal_actions(player) == (state.legal_actions() if own else [])
            mask = state.legal_actions_mask(player)
            assert [action for action, legal in enumerate(mask) if legal] == state.legal_actions(player)
            if not state.is_terminal():
                assert len(mask) == (
                    loaded.max_chance_outcomes() if own and player < 0 else loaded.num_distinct_actions()
                )


@over_games
def test_strings_of_actions_are_their_labels(game: Game) -> None:
    for state in states(load(game), every=20):
        if state.is_terminal():
            continue
        position = position_of(state)
        label = position.outcome_label if state.is_chance_node() else position.action_label
        actor = state.current_player()
        for action in state.legal_actions()[:20]:
            assert state.action_to_string(actor, action) == state.action_to_string(action) == label(action)
            if not state.is_chance_node():
                assert state.string_to_action(label(action)) == action
        for player, action in ((actor, 60000), (actor + 1, state.legal_actions()[0])):
            with pytest.raises(pyspiel.SpielError, match=f"action {action} is not legal for player {player}"):
                state.action_to_string(player, action)


@over_games
def test_refused_moves_leave_the_state_unchanged(game: Game) -> None:
    state = played(load(game), moves=40)
    before = state.serialize()
    for action in (game.num_distinct_actions, 60000, -2):
        with pytest.raises(pyspiel.SpielError, match=f"action {action}: "):
            state.apply_action(action)
    assert state.serialize() == before
    over = played(load(game))
    assert over.legal_actions() == []
    with pytest.raises(pyspiel.SpielError, match="the game is over"):
        over.apply_action(0)


# Parameters


@over_games
def test_parameters_are_the_options_with_their_defaults(game: Game) -> None:
    kind = load(game).get_type()
    specification = kind.parameter_specification
    assert set(specification) == {"players", *(option.name for option in game.description.options)}
    assert specification["players"] == game.min_players
    assert (kind.min_num_players, kind.max_num_players) == (game.min_players, game.max_players)
    # Naming the defaults is the same as omitting them.
    named, plain = load(game, **specification), load(game)
    assert str(named) == str(plain) == f"chatiere_{game.name}(players={game.min_players})"
    assert str(named.new_initial_state()) == str(plain.new_initial_state())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("chatiere_discat(players=3,first_seat=2,up_arrows=1 2 90)", {"first_seat": 2, "up_arrows": 3 | 1 << 89}),
        ("chatiere_discat(up_arrows=7 )", {"up_arrows": 64}),
        ("chatiere_discat(up_arrows=)", {"up_arrows": 0}),
        ("chatiere_chatpentiers(removed_colour=0,section_limits=1 2 2 9)",
         {"section_limits": [1, 2, 2, 9], "removed_colour": 0}),
        ("chatiere_chat_perche(dog_track=12,forward_only=True)", {"forward_only": True, "dog_track": 12}),
        ("chatiere_chat_cartonne(half_sleepers=True,players=4)", {"half_sleepers": True}),
    ],
)  # fmt: skip
def test_options_reach_the_game_and_survive_pickle(name: str, options: dict[str, Any]) -> None:
    game = pyspiel.load_game(name)
    for loaded in (game, pickle.loads(pickle.dumps(game)), pyspiel.load_game(str(game))):
        assert loaded == game
        state = loaded.new_initial_state()
        assert state._course.position.options() == options
        _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(loaded, state))
        assert again._course.position.options() == options
    assert game.max_game_length() == state._course.position.game.limits(game.num_players(), options).max_game_length


def test_a_list_of_one_number_survives_pickle() -> None:
    game = load(engine.game("discat"), up_arrows="7")
    assert pickle.loads(pickle.dumps(game)) == game == pyspiel.load_game("chatiere_discat(players=2,up_arrows=7 )")


def test_all_options_can_be_set(table: Table) -> None:
    game, players = table
    choices = random.Random(1)
    given = 0
    for _ in range(20):
        options = random_options(game, players, choices)
        filled = fill(message(game, "Options"), engine.codec(game.name).put_options, options)
        loaded = load(game, players, **{field.name: as_parameter(value) for field, value in filled.ListFields()})
        position = loaded.new_initial_state()._course.position
        assert position == game.new_game(players, options)
        given += bool(position.options())
    assert given > 5


def as_parameter(value: Any) -> bool | int | str:
    """Return the value of an option's field as an OpenSpiel parameter. Lists, and messages with a list, become text."""
    if isinstance(value, Message):
        ((_, value),) = value.ListFields()
    return value if isinstance(value, bool | int) else " ".join(map(str, value))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chatiere_discat(players=9)", "parameter players: .* from 2 to 6, not 9"),
        ("chatiere_discat(players=three)", "parameter players"),
        ("chatiere_discat(first_seat=2)", "parameter first_seat: .* from 0 to 1, not 2"),
        ("chatiere_discat(first_seat=-2)", "parameter first_seat: .*-2"),
        ("chatiere_discat(up_arrows=1 91)", "parameter up_arrows.*91 is not a card"),
        ("chatiere_discat(up_arrows=odd ones)", "parameter up_arrows: .*odd"),
        ("chatiere_discat(up_arrows=7)", "parameter up_arrows"),
        ("chatiere_chat_perche(deck=)", "parameter deck: it needs numbers"),
        ("chatiere_chat_perche(solidity=1 2)", "parameter solidity: .* 5 integers"),
        ("chatiere_chat_perche(forward_only=1)", "parameter forward_only"),
        ("chatiere_chat_perche(dog_track=0)", "parameter dog_track: .* from 1 to 99, not 0"),
        ("chatiere_discat(cards=9)", "Unknown parameter 'cards'"),
    ],
)
def test_bad_parameters_are_named(name: str, message: str) -> None:
    with pytest.raises(pyspiel.SpielError, match=message):
        pyspiel.load_game(name)


def test_the_error_without_openspiel_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "chatiere.envs.openspiel")
    with pytest.raises(ImportError, match=r"pip install chatiere\[openspiel\]"):
        import_module("chatiere.envs.openspiel")


# Clones and copies


@over_games
def test_clones_are_independent(game: Game) -> None:
    for number, state in enumerate(states(load(game), every=15)):
        if state.is_terminal():
            continue
        # Histories are cached when they are first computed. Later moves in a clone must not change them.
        before = strings(state), str(state), state.history()
        clone, other = state.clone(), state.clone()
        assert (strings(clone), str(clone), clone.history()) == before
        for copy, seed in ((clone, number), (other, number + 1)):
            choices = random.Random(seed)
            for _ in range(10):
                if not copy.is_terminal():
                    step(copy, choices)
        assert (strings(state), str(state), state.history()) == before
        for copy in (clone, other):
            replay = load(game).new_initial_state()
            for move in copy.history():
                replay.apply_action(move)
            assert strings(copy) == strings(replay)


def test_states_survive_pickle_and_serialization(table: Table) -> None:
    loaded = load(*table)
    for state in states(loaded, every=40):
        for again in (pickle.loads(pickle.dumps(state)), loaded.deserialize_state(state.serialize())):
            assert str(again) == str(state)
            assert again.history() == state.history()
            assert strings(again) == strings(state)
            assert again.legal_actions() == state.legal_actions()
            assert strings(again.clone()) == strings(state)
            assert strings(draw(again, 1, 3)) == strings(draw(state, 1, 3))


def test_long_games_survive_pickle() -> None:
    # The game is too long for pickle to follow its chain of moves recursively.
    state = played(load(engine.game("chatpentiers"), 5))
    assert len(state.history()) > 300
    assert strings(pickle.loads(pickle.dumps(state))) == strings(state)


# Knowledge of a player


def test_information_states_differ_exactly_if_the_players_information_differs(table: Table) -> None:
    game, players = table
    differed: dict[bool, int] = {True: 0, False: 0}
    for state in most_of_them_early(load(game, players)):
        actor = state.current_player()
        for (one, seen), (other, seen_by_other) in itertools.combinations(seen_after_some_moves(state), 2):
            for player in range(players):
                differs = player == actor or seen[player] != seen_by_other[player]
                differed[differs] += 1
                assert (one.information_state_string(player) != other.information_state_string(player)) == differs
    assert min(differed.values()) > 0


def most_of_them_early(game: Any) -> Iterator[Any]:
    """Yield states of a random game, most of them early, because some games hide information only at the start."""
    return (state for number, state in enumerate(states(game)) if number < 20 or number % 20 == 0)


def seen_after_some_moves(state: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield states after different moves, each with the events and the observation that the API shows each player."""
    moves, before = state.legal_actions(), position_of(state)
    for move in random.Random(1).sample(moves, min(6, len(moves))):
        position, events = before.clone(), EventLog()
        position.apply(move, events)
        seats = range(state.num_players())
        yield state.child(move), [(shown_to(position.game, events, seat), position.observation(seat)) for seat in seats]


@over_games
def test_information_states_have_perfect_recall(game: Game) -> None:
    # Each history of a player starts with its previous history, followed by the action chosen since then.
    for players in (game.min_players, game.max_players):
        state, choices = load(game, players).new_initial_state(), random.Random(3)
        histories = [""] * players
        while not state.is_terminal():
            actor = state.current_player()
            move = step(state, choices)
            for player in range(players):
                later = state._course.history(player)
                assert later.startswith(histories[player])
                if player == actor:
                    assert later[len(histories[player]) :].startswith(f"{move}! ")
                histories[player] = later
                assert state.information_state_string(player).startswith(f"{player}: {later}")


@over_games
def test_information_states_need_a_player(game: Game) -> None:
    state = load(game).new_initial_state()
    for player in (-1, state.num_players()):
        for asked in (state.information_state_string, state.observation_string, state.observation_tensor):
            with pytest.raises(pyspiel.SpielError, match="player"):
                asked(player)


# Resampling


def test_resampling_preserves_the_players_information_state(table: Table) -> None:
    for state in states(load(*table), every=11):
        for player in range(state.num_players()):
            drawn = draw(state, player, 5)
            assert drawn.information_state_string(player) == state.information_state_string(player)
            assert drawn.observation_string(player) == state.observation_string(player)
            assert drawn.current_player() == state.current_player()
            if state.current_player() == player:
                assert drawn.legal_actions() == state.legal_actions()
            # Resampling a drawn state preserves it as well, and so does the next move.
            assert draw(drawn, player, 6).information_state_string(player) == state.information_state_string(player)
            known = drawn._course.history(player)
            if not drawn.is_terminal():
                step(drawn, random.Random(1))
                assert drawn._course.history(player).startswith(known)


def test_a_drawn_state_reveals_no_hidden_information(table: Table) -> None:
    # For true histories that the player cannot distinguish, all visible properties of the states drawn from them are
    # equal.
    distinguished = 0
    for state in most_of_them_early(load(*table)):
        after = [child for child, _ in itertools.islice(seen_after_some_moves(state), 4)]
        for one, other in itertools.combinations(after, 2):
            for player in range(state.num_players()):
                if one.information_state_string(player) == other.information_state_string(player):
                    distinguished += strings(one) != strings(other)
                    first, second = draw(one, player, 7), draw(other, player, 7)
                    assert strings(first) == strings(second)
                    assert str(first) == str(second)
                    assert first.history() == second.history()
                    assert pickle.dumps(first) == pickle.dumps(second)
    assert distinguished > 0


@over_games
def test_draws_depend_on_the_sampler_whose_numbers_are_checked(game: Game) -> None:
    state = at_a_decision(load(game))
    player = state.current_player()
    assert len({str(draw(state, player, seed)) for seed in range(20)}) > 1
    assert str(draw(state, player, 1)) == str(draw(state, player, 1))
    for number in (-0.1, 1.0, float("nan")):
        with pytest.raises(pyspiel.SpielError, match="probability_sampler"):
            state.resample_from_infostate(player, lambda number=number: number)
    for seat in (-1, state.num_players()):
        with pytest.raises(pyspiel.SpielError, match="seat"):
            draw(state, seat, 1)


def test_drawn_states_can_be_played_and_copied(table: Table) -> None:
    for state in states(load(*table), every=60):
        drawn = draw(state, 0, 9)
        choices = random.Random(4)
        for _ in range(20):
            if not drawn.is_terminal():
                step(drawn, choices)
        for again in (drawn.clone(), pickle.loads(pickle.dumps(drawn))):
            assert strings(again) == strings(drawn)
            assert str(again) == str(drawn)
        while not drawn.is_terminal():
            step(drawn, choices)
        assert sum(drawn.returns()) == pytest.approx(0)


# Observers


@over_games
def test_observers_return_the_engines_observation(game: Game) -> None:
    loaded = load(game)
    observer = make_observation(loaded)
    parts = {part.name: part for part in game.description.observation}
    assert set(observer.dict) == set(parts)
    for state in states(loaded, every=30):
        position = position_of(state)
        for player in range(state.num_players()):
            numbers = np.frombuffer(position.observation(player), np.uint8)
            observer.set_from(state, player)
            np.testing.assert_array_equal(observer.tensor, numbers)
            np.testing.assert_array_equal(state.observation_tensor(player), numbers)
            assert observer.string_from(state, player) == state.observation_string(player)
            listed = dict.fromkeys(range(len(numbers)), 0)
            for line in state.observation_string(player).splitlines():
                name, *found = line.split(" ")
                for place, number in (pair.split(":") for pair in found if pair):
                    listed[parts[name].offset + int(place)] = int(number)
            assert list(listed.values()) == numbers.tolist()
            for name, part in parts.items():
                assert observer.dict[name].shape == part.shape
                assert np.shares_memory(observer.dict[name], observer.tensor)


@over_games
def test_observers_with_perfect_recall_have_only_a_string(game: Game) -> None:
    loaded = load(game)
    observer = make_observation(loaded, pyspiel.IIGObservationType(perfect_recall=True))
    state = played(loaded, moves=30)
    observer.set_from(state, 0)
    assert observer.tensor is None
    assert observer.string_from(state, 1) == state.information_state_string(1)
    assert not loaded.get_type().provides_information_state_tensor
    for ask in (
        state.information_state_tensor,
        lambda: state.information_state_tensor(0),
        loaded.information_state_tensor_shape,
        loaded.information_state_tensor_size,
    ):
        with pytest.raises(pyspiel.SpielError, match="use observation_tensor, or information_state_string"):
            ask()


def test_other_types_of_observers_do_not_exist() -> None:
    game = load(engine.games()[0])
    for public, private in itertools.product((True, False), pyspiel.PrivateInfoType.__members__.values()):
        kind = pyspiel.IIGObservationType(perfect_recall=False, public_info=public, private_info=private)
        exists = public and private == pyspiel.PrivateInfoType.SINGLE_PLAYER
        assert (make_observation(game, kind) is not None) == exists
    with pytest.raises(pyspiel.SpielError, match="no parameters, such as 'size'"):
        make_observation(game, None, {"size": 1})
    with pytest.raises(pyspiel.SpielError, match="no parameters, such as 'size'"):
        game.make_observer({"size": 1})


# OpenSpiel's algorithms


@over_games
def test_openspiels_search_bots_play(game: Game) -> None:
    loaded = load(game)
    random_state = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    bots = (
        mcts.MCTSBot(loaded, 2.0, 3, evaluator, random_state=random_state),
        ismcts.ISMCTSBot(loaded, evaluator, 2.0, 30, random_state=random_state),
    )
    # Begin near the end of a game, so that playouts are short.
    state, choices = played(loaded, moves=len(played(loaded).history()) - 30), random.Random(1)
    for number in range(6):
        while state.is_chance_node():
            step(state, choices)
        if not state.is_terminal():
            action = bots[number % 2].step(state)
            assert action in state.legal_actions()
            state.apply_action(int(action))


@over_games
def test_drawn_states_of_one_information_state_have_the_same_legal_actions(game: Game) -> None:
    # IS-MCTS shares a node among states with the same string, so their legal actions must be equal.
    known: dict[tuple[int, str], list[int]] = {}
    state = at_a_decision(load(game))
    shared = 0
    for seed in range(150):
        drawn, choices = draw(state, state.current_player(), seed), random.Random(seed % 10)
        for _ in range(8):
            if drawn.is_player_node():
                key = drawn.current_player(), drawn.information_state_string()
                shared += key in known
                assert known.setdefault(key, drawn.legal_actions()) == drawn.legal_actions()
            if not drawn.is_terminal():
                step(drawn, choices)
    assert shared > 100


@over_games
def test_regret_minimisation_and_rl_environment_run(game: Game) -> None:
    loaded = load(game)
    np.random.seed(1)
    solver = mccfr.OutcomeSamplingSolver(loaded)
    for _ in range(3):
        solver.iteration()
    state = loaded.new_initial_state()
    while state.is_chance_node():
        step(state, random.Random(1))
    assert sum(solver.average_policy().action_probabilities(state).values()) == pytest.approx(1)
    environment, choices = Environment(loaded), random.Random(1)
    time_step = environment.reset()
    while not time_step.last():
        player = time_step.observations["current_player"]
        assert len(time_step.observations["info_state"][player]) == game.observation_length
        time_step = environment.step([choices.choice(time_step.observations["legal_actions"][player])])
    assert sum(time_step.rewards) == pytest.approx(0)
