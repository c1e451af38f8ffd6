"""Gymnasium's checks of SeatEnv and SeatVectorEnv, and a few games of each."""

import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from chatiere import engine

warnings.simplefilter("error")
for game in engine.games():
    env_id = f"chatiere.envs.gymnasium:chatiere/{game.name}-v{game.rules_version}"
    for in_observation in (False, True):
        check_env(gymnasium.make(env_id, mask_in_observation=in_observation, render_mode="ansi").unwrapped)
    for mode in ("NextStep", "SameStep"):
        envs = gymnasium.make_vec(env_id, num_envs=8, autoreset_mode=mode)
        _, info = envs.reset(seed=7)
        ended = 0
        for _ in range(200):
            *_, terminated, truncated, info = envs.step(info["action_mask"].argmax(axis=1))
            assert np.all(info["illegal_action"] == -1)
            assert not truncated.any()
            ended += int(terminated.sum())
        assert ended > 0, f"no game of {game.name} has ended"
