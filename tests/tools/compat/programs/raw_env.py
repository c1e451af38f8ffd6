"""PettingZoo's checks of our environments, created from its registry."""

import warnings

from pettingzoo import make
from pettingzoo.test import api_test, seed_test

import chatiere.envs.pettingzoo  # noqa: F401
from chatiere import engine

# PettingZoo knows which of its own environments have dict observations, and warns of all other environments.
warnings.simplefilter("ignore", UserWarning)
for game in engine.games():
    env_id = f"chatiere/{game.name}-v{game.rules_version}"
    api_test(make("aec", env_id), num_cycles=300)
    seed_test(lambda env_id=env_id: make("aec", env_id), num_cycles=50)
