"""TorchRL's ActionMask with SeatEnv, with the mask in the info and with the mask in the observation."""

import gymnasium
from torchrl.envs import ActionMask, GymWrapper, TransformedEnv
from torchrl.envs.utils import check_env_specs

for in_observation in (False, True):
    made = gymnasium.make("chatiere.envs.gymnasium:chatiere/discat-v1", mask_in_observation=in_observation)
    env = GymWrapper(made, categorical_action_encoding=True)
    # The info is read even if the mask is in the observation, to check that no action was illegal.
    masked = TransformedEnv(env.auto_register_info_dict(), ActionMask())
    check_env_specs(masked)
    found = masked.rollout(500, break_when_any_done=False)
    assert found["next", "done"].sum() > 3
    assert (found["next", "illegal_action"] == -1).all()
