"""Tianshou's DQN against its random policy, in our PettingZoo environment."""

from tianshou.algorithm import DQN, MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from chatiere.envs import pettingzoo


def make() -> PettingZooEnv:
    """Return the environment in Tianshou's wrapper."""
    return PettingZooEnv(pettingzoo.env("discat", players=2))


env = make()
space = env.observation_space["observation"]
net = Net(state_shape=space.shape, action_shape=env.action_space.n, hidden_sizes=[32])
policy = DiscreteQLearningPolicy(
    model=net, action_space=env.action_space, observation_space=space, eps_training=0.1, eps_inference=0.1
)
learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=100)
other = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space)
algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner, other], env=env)
envs = DummyVectorEnv([make] * 4)
buffer = VectorReplayBuffer(2000, 4)
collector = Collector(algorithm, envs, buffer, exploration_noise=True)
collector.reset()
collected = collector.collect(n_episode=8)
# No seat has lost by an illegal action: an illegal action would give returns of -1 and 0.
assert (collected.returns.sum(axis=1) == 0).all(), collected.returns
with policy_within_training_step(algorithm.policy):
    for _ in range(10):
        algorithm.update(buffer=buffer, sample_size=64)
