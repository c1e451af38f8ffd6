"""Pickling and copying of clients by their address and settings, and the errors of clients that cannot be pickled."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from chatiere.clients import AsyncClient, AsyncRoom, BatchClient, Client, Room, SealedSeat, VectorEnv
from chatiere.v1.batch_service_pb2 import BatchSetup
from chatiere.v1.game_pb2 import Include, Options


def through_pickle(client: Any) -> Any:
    return pickle.loads(pickle.dumps(client))


@pytest.mark.parametrize("copied", [through_pickle, copy.copy])
def test_a_copied_client_has_the_settings_and_outlives_the_original(address: str, copied: Callable[[Any], Any]) -> None:
    with Client(address, language="fr") as client:
        other = copied(client)
    with other:
        position = other.new_game("discat", 2, seed=7, include=Include(legal_actions=True))
        assert position.legal_actions[0].label.startswith("jouer")


def test_a_batch_client_can_be_pickled(address: str) -> None:
    with BatchClient([address]) as client, through_pickle(client) as other:
        assert len(other.new_games(BatchSetup(game="discat", players=2), [1, 2]).states) == 2


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("asked", [{}, {"states": False}, {"observations": True, "batches": 3}], ids=str)
@pytest.mark.parametrize("is_fast", [False, True])
def test_a_copied_environment_continues_with_the_same_games(
    address: str, copied: Callable[[Any], Any], asked: dict[str, Any], is_fast: bool
) -> None:
    asked = asked | {"options": Options(), "fast_address": address if is_fast else None}
    with VectorEnv(address, "discat", 2, num_envs=6, **asked) as env:
        batch = env.reset(seed=7)
        for _ in range(30):
            batch = env.step(batch.random_actions())
        with copied(env) as other:
            found = expected = batch
            for _ in range(150):
                found, expected = other.step(found.random_actions()), env.step(expected.random_actions())
                for name in ("envs", "game_numbers", "decisions", "legal_ids", "states", "observations"):
                    assert np.array_equal(getattr(found, name), getattr(expected, name))
                assert np.array_equal(found.ended.returns, expected.ended.returns)
    with pytest.raises(ValueError, match="the environment is closed"):
        pickle.dumps(env)


def test_a_client_for_asyncio_can_be_pickled(address: str) -> None:
    async def play() -> None:
        async with AsyncClient(address) as client, through_pickle(client) as other:
            assert (await other.new_game("discat", 2, seed=7)).state.HasField("discat")

    asyncio.run(play())


def refuse(client: Any, why: str) -> None:
    with client, pytest.raises(TypeError, match=f"^{type(client).__name__} cannot be pickled[:;] {why}"):
        pickle.dumps(client)


def test_clients_with_other_resources_cannot_be_pickled(address: str, tmp_path: Path) -> None:
    with grpc.insecure_channel(address) as channel:
        refuse(Client(channel), "it uses a channel of the caller")
    refuse(Client(address, credentials=grpc.ssl_channel_credentials()), "it has credentials")
    refuse(Room(address, bytes(16)), "it follows the room")
    refuse(SealedSeat(address, tmp_path / "seat"), "it locks its file")
    with (
        grpc.insecure_channel(address) as channel,
        VectorEnv(channel, "discat", 2, num_envs=2) as env,
        pytest.raises(TypeError, match="it uses a channel of the caller"),
    ):
        pickle.dumps(env)
    with BatchClient(address) as client:
        refuse(client.stream(), "open one in each process")


def test_a_room_for_asyncio_is_refused(address: str) -> None:
    async def enter() -> None:
        async with AsyncRoom(address, bytes(16)) as room:
            with pytest.raises(TypeError, match="AsyncRoom cannot be pickled: it follows the room"):
                pickle.dumps(room)

    asyncio.run(enter())
