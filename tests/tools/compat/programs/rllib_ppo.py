"""RLlib's PPO in our PettingZoo environment: one policy plays all seats, and has to learn the legal actions."""

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from chatiere.envs import pettingzoo

ray.init(num_cpus=1, include_dashboard=False)
register_env("discat", lambda _: PettingZooEnv(pettingzoo.env("discat", players=2)))
config = (
    PPOConfig()
    .environment("discat")
    .env_runners(
        num_env_runners=0,
        env_to_module_connector=lambda *_, **__: FlattenObservations(multi_agent=True),
    )
    .multi_agent(policies={"any"}, policy_mapping_fn=lambda *_, **__: "any")
    .training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1)
)
algorithm = config.build_algo()
found = algorithm.train()
assert found["env_runners"]["num_episodes"] > 0, found
algorithm.stop()
ray.shutdown()
