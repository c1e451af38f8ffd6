"""The games as environments for learners. No environment contains rules of a game.

`TableEnv` plays many games at a time in this process. Its positions are NumPy arrays. `text.TextEnv` plays in words.
The other environments have the interfaces of well-known libraries. Each of them needs an extra: chatiere[pettingzoo],
chatiere[openspiel], chatiere[gymnasium], chatiere[textarena], chatiere[openenv] or chatiere[verifiers].
"""

from chatiere.engine.core.compact import CompactObservations
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs.batch import Batch, Ended, observation_part
from chatiere.envs.table_env import TableEnv

__all__ = ["Batch", "CompactObservations", "Ended", "ObservationLayout", "TableEnv", "observation_part"]
