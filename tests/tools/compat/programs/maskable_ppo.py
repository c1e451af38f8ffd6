"""MaskablePPO of sb3-contrib with SeatEnv, with the mask as a method and with the mask in the observation."""

import gymnasium
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

for policy, in_observation in (("MlpPolicy", False), ("MultiInputPolicy", True)):
    env = gymnasium.make(
        "chatiere.envs.gymnasium:chatiere/discat-v1", illegal="raise", mask_in_observation=in_observation
    )
    model = MaskablePPO(policy, env, n_steps=128, n_epochs=2, seed=1, device="cpu")
    assert is_masking_supported(model.get_env())
    # An illegal action would raise an error.
    model.learn(256)
    observation = env.reset(seed=1)[0]
    for _ in range(30):
        action, _ = model.predict(observation, action_masks=get_action_masks(env))
        observation = env.step(action)[0]
        if not get_action_masks(env).any():
            observation = env.reset()[0]
