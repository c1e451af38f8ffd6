"""OpenSpiel's outcome-sampling MCCFR and ISMCTS on every game."""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver

import chatiere.envs.openspiel  # noqa: F401
from chatiere import engine

for known in engine.games():
    game = pyspiel.load_game(f"chatiere_{known.name}")
    np.random.seed(1)
    solver = OutcomeSamplingSolver(game)
    for _ in range(3):
        solver.iteration()
    random = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, random), 2.0, 20, random_state=random)
    state = game.new_initial_state()
    decisions = 0
    while decisions < 5 and not state.is_terminal():
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(random.choice(outcomes, p=probabilities)))
            continue
        assert abs(sum(solver.average_policy().action_probabilities(state).values()) - 1) < 1e-6
        action = bot.step(state)
        assert action in state.legal_actions()
        state.apply_action(int(action))
        decisions += 1
