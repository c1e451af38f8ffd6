"""OpenEnv's checks of our server and of the package in examples/openenv, and 64 episodes at the same time."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import uvicorn
from openenv.cli.__main__ import app as openenv
from openenv.core import GenericEnvClient
from openenv.validation import Level, run_validation

from chatiere.envs.openenv import create_app
from chatiere.envs.text import TextEnv

PACKAGE = Path(__file__).parents[4] / "examples" / "openenv"
EPISODES = 64


class Server(uvicorn.Server):
    """A server on a free port of the loopback interface, in a thread."""

    def __init__(self, app: Any) -> None:
        """Start the server."""
        super().__init__(uvicorn.Config(app, port=0, log_level="warning"))
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self.run, daemon=True)
        self._thread.start()
        self._ready.wait()
        self.base_url = f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and let the constructor continue."""
        await super().startup(sockets)
        self._ready.set()

    def inspect(self) -> dict[str, Any]:
        """Return nothing, because no container runs."""
        return {}

    def stop(self) -> None:
        """Stop the server."""
        self.should_exit = True
        self._thread.join()


class InProcess:
    """A provider of OpenEnv that starts the package's application in this process instead of a container."""

    name = "in-process"
    capabilities = frozenset(["image_build"])
    supported_network_modes = frozenset(["public"])

    def build(self, root: Path, _: Any) -> str:
        """Return a name for the image, which is not built."""
        self._root = root
        return "sha256:" + "0" * 64

    def start(self, _: Any) -> Server:
        """Start the application."""
        found: dict[str, Any] = {}
        exec((self._root / "app.py").read_text("utf-8"), found)
        return Server(found["app"])


async def episode(url: str, seed: int, everyone: asyncio.Barrier) -> list[tuple[Any, ...]]:
    """Play a game with the first action, while all other games are in progress, and return all responses."""
    async with GenericEnvClient(base_url=url) as client:
        result = await client.reset(seed=seed, episode_id=f"game {seed}")
        told = [result]
        await everyone.wait()
        while not result.done:
            result = await client.step({"text": "1"})
            told.append(result)
        assert await client.state() == {"episode_id": f"game {seed}", "step_count": len(told) - 1}
        await everyone.wait()
        return [(each.observation["text"], each.reward, each.done, each.observation["is_refused"]) for each in told]


async def episodes(url: str) -> list[list[tuple[Any, ...]]]:
    """Play games at the same time."""
    everyone = asyncio.Barrier(EPISODES)
    return await asyncio.gather(*(episode(url, seed, everyone) for seed in range(EPISODES)))


def alone(seed: int) -> list[tuple[Any, ...]]:
    """Play the same game without a server."""
    env = TextEnv("discat", opponents="largest")
    told = [env.reset(seed)]
    while not env.is_over:
        told.append(env.step("1"))
    return [tuple(each) for each in told]


server = Server(create_app("discat", opponents="largest"))
for arguments in (["--url", server.base_url], [str(PACKAGE), "--level", "static"]):
    assert not openenv(["validate", *arguments], standalone_mode=False)
assert asyncio.run(episodes(server.base_url)) == [alone(seed) for seed in range(EPISODES)]
server.stop()

report = run_validation(PACKAGE, max_level=Level.RUNTIME, provider=InProcess())
for result in report.results:
    print(result.check_id, result.status.value, *result.evidence)
passed = {result.check_id for result in report.results if result.status.value == "pass"}
assert {
    f"runtime.{name}" for name in ("startup", "reward_well_formed", "observation_schema", "state_contract")
} <= passed
assert not any(result.status.value in ("fail", "error") for result in report.results)
print("verdict:", report.verdict.value)
