"""OpenSpiel in process: the peer with which Chatière is compared.

There are two kinds of loops. `plain` loops follow OpenSpiel's own examples, but use random numbers of the standard
library, because NumPy's would take twice as long. The bounds refer to these loops. `tuned` loops are as fast as is
reasonable in Python. Their figures are listed separately.
"""

import random
from collections.abc import Callable
from typing import Any

from loadtest.bench.measure import Run, repeat

try:
    import pyspiel
    from open_spiel.python.observation import make_observation
except ImportError:
    pyspiel = None

# The card games of OpenSpiel that are most similar to ours. Bounds refer to the fastest one.
NAMES = ("hearts", "crazy_eights", "go_fish")
_CHANCE, _OVER = -1, -4


def installed() -> bool:
    """Return True if OpenSpiel is installed."""
    return pyspiel is not None


def load(name: str) -> Any:
    """Load a game of OpenSpiel."""
    return pyspiel.load_game(name)


def resolve_chance(state: Any, rng: random.Random) -> None:
    """Draw chance outcomes up to the next decision, or to the end of the game."""
    while state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, probabilities)[0])


def plain_loop(name: str) -> Callable[[float], Run]:
    """Return a loop that plays random games: it lists the legal actions and applies one of them."""

    def act(state: Any, rng: random.Random) -> None:
        state.apply_action(rng.choice(state.legal_actions()))

    return _random_play(name, act)


def plain_learner_loop(name: str) -> Callable[[float], Run]:
    """Return a plain loop with the tensor and the mask that a learner needs."""
    game = load(name)
    observe = "observation_tensor" if game.get_type().provides_observation_tensor else "information_state_tensor"

    def act(state: Any, rng: random.Random) -> None:
        getattr(state, observe)(state.current_player())
        state.legal_actions_mask()
        state.apply_action(rng.choice(state.legal_actions()))

    return _random_play(name, act)


def tuned_learner_loop(name: str) -> Callable[[float], Run]:
    """Return a learner's loop that uses the game's observer, if the game has one. Observers reuse a NumPy array."""
    game = load(name)
    if not game.get_type().provides_observation_tensor:
        return plain_learner_loop(name)
    observer = make_observation(game)

    def act(state: Any, rng: random.Random) -> None:
        observer.set_from(state, state.current_player())
        state.legal_actions_mask()
        state.apply_action(rng.choice(state.legal_actions()))

    return _random_play(name, act)


def _random_play(name: str, act: Callable[[Any, random.Random], None]) -> Callable[[float], Run]:
    game = load(name)
    rng = random.Random(7)

    def one_game() -> int:
        moves = 0
        state = game.new_initial_state()
        resolve_chance(state, rng)
        while not state.is_terminal():
            act(state, rng)
            resolve_chance(state, rng)
            moves += 1
        return moves

    return lambda seconds: repeat(one_game, seconds)


def tuned_loop(name: str) -> Callable[[float], Run]:
    """Return a loop of random games with as few function calls as possible, and one random number per draw."""
    game = load(name)
    draw = random.Random(7).random

    def one_game() -> int:
        moves = 0
        state = game.new_initial_state()
        apply, legal, player = state.apply_action, state.legal_actions, state.current_player
        while (actor := player()) != _OVER:
            if actor == _CHANCE:
                left = draw()
                for outcome, probability in state.chance_outcomes():  # noqa: B007
                    left -= probability
                    if left < 0:
                        break
                apply(outcome)
            else:
                actions = legal()
                apply(actions[int(draw() * len(actions))])
                moves += 1
        return moves

    return lambda seconds: repeat(one_game, seconds)


def rollouts(name: str) -> Callable[[float], Run]:
    """Return a loop of random playouts in C++, by an MCTSBot that only evaluates its states by rollouts.

    The bot does not report its number of moves. The number is estimated by the mean length of random games from the
    same states.
    """
    starts_count, rollouts_each, games_each = 16, 64, 64
    game = load(name)
    rng = random.Random(7)
    starts = []
    moves = 0
    for _ in range(starts_count):
        start = game.new_initial_state()
        resolve_chance(start, rng)
        starts.append(start)
        for _ in range(games_each):
            state = start.clone()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
                resolve_chance(state, rng)
                moves += 1
    moves_a_rollout = moves / (starts_count * games_each)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts_each, 7)
    bot = pyspiel.MCTSBot(
        game,
        evaluator,
        uct_c=2.0,
        max_simulations=1,
        max_memory_mb=100,
        solve=False,
        seed=7,
        verbose=False,
    )

    def all_starts() -> float:
        for start in starts:
            bot.step(start)
        return starts_count * rollouts_each * moves_a_rollout

    return lambda seconds: repeat(all_starts, seconds)


def tree_search(name: str) -> Callable[[float], Run]:
    """Return a loop of decisions by ISMCTSBot, in C++. The amount of work is the number of simulations."""
    starts_count, simulations = 4, 1000
    game = load(name)
    rng = random.Random(7)
    starts = [game.new_initial_state() for _ in range(starts_count)]
    for start in starts:
        resolve_chance(start, rng)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
    bot = pyspiel.ISMCTSBot(7, evaluator, uct_c=2.0, max_simulations=simulations)

    def all_starts() -> int:
        for start in starts:
            bot.step(start)
        return starts_count * simulations

    return lambda seconds: repeat(all_starts, seconds)
