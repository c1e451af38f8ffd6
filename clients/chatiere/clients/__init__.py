"""Python clients of the service, and functions that play whole games between bots.

    from chatiere.clients import Client
    from chatiere.v1.game_pb2 import Include

    with Client("localhost:50051") as client:
        position = client.new_game("discat", 3, seed=7, include=Include(legal_actions=True))
        position = client.apply(position.state, position.legal_actions[0])

Clients do not apply the rules of games. They call the service, which does. Only the bots (`chatiere.bots`) and
`chatiere.clients.records` run the engine in this process. `AsyncClient` and `AsyncRoom` are for asyncio.
"""

from chatiere.clients.aio import AsyncClient
from chatiere.clients.aio_room import AsyncRoom
from chatiere.clients.batch_client import BatchClient
from chatiere.clients.calls.errors import ChatiereError, FieldViolation, TransportError
from chatiere.clients.client import Client
from chatiere.clients.match import Step, begin, play
from chatiere.clients.room import Room, new_room_id
from chatiere.clients.sealed_seat import ForkError, SealedSeat
from chatiere.clients.transport.batch_stream import BatchStream
from chatiere.clients.transport.channel import CHANNEL_OPTIONS
from chatiere.clients.transport.fast_stream import FastStream
from chatiere.clients.vector_env import VectorEnv
from chatiere.engine.core.compact import CompactObservations
from chatiere.engine.core.observation import ObservationLayout
from chatiere.envs.batch import Batch, Ended, observation_part

__all__ = [
    "CHANNEL_OPTIONS",
    "AsyncClient",
    "AsyncRoom",
    "Batch",
    "BatchClient",
    "BatchStream",
    "ChatiereError",
    "Client",
    "CompactObservations",
    "Ended",
    "FastStream",
    "FieldViolation",
    "ForkError",
    "ObservationLayout",
    "Room",
    "SealedSeat",
    "Step",
    "TransportError",
    "VectorEnv",
    "begin",
    "new_room_id",
    "observation_part",
    "play",
]
