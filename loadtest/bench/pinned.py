"""Contenders in separate processes, each on one core: `python -m loadtest.bench.pinned KIND …`.

A process prints "ready" when it has started. It reads lines that contain a number of seconds, and plays for this time.
Then it prints a line of JSON: the number of moves, the wall time and the processor time.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from chatiere import engine
from chatiere.engine import Columns, Restart, Table
from chatiere.engine.core.choices import random_masked_actions
from chatiere.engine.memory import keep_freed_memory
from chatiere.envs import TableEnv
from loadtest.bench.measure import Run
from loadtest.bench.self_play import SEED, choose, seeds_and_numbers

ROOT = Path(__file__).parents[2]
# The number of steps in one compiled scan of pgx.
SCAN = 100
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pgx_installed() -> bool:
    """Return True if pgx is installed."""
    return importlib.util.find_spec("pgx") is not None


class Pinned:
    """A contender in a separate process. `cores` has the numbers of the cores that the process may use."""

    def __init__(self, kind: str, *arguments: object, cores: list[int] = CORES[-1:]) -> None:
        """Start the process, without waiting until it is ready."""
        command = [sys.executable, "-m", "loadtest.bench.pinned", kind, *map(str, arguments)]
        environment = os.environ | {"BENCH_CORES": " ".join(map(str, cores)), "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._is_ready = False

    def start(self, seconds: float) -> None:
        """Start a run, once the process is ready."""
        assert self._process.stdin is not None
        if not self._is_ready:
            self._read()
            self._is_ready = True
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()

    def finish(self) -> Run:
        """Wait for the end of the run, and return it."""
        count, wall, cpu = json.loads(self._read())
        return Run(count, wall, cpu)

    def run(self, seconds: float) -> Run:
        """Make a run, and return it."""
        self.start(seconds)
        return self.finish()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} has ended: {self._process.wait()}")
        return line


def table_env(name: str, batch: str, warm_up: str) -> Callable[[float], Run]:
    """Return a function that plays a game with TableEnv, with observations and the minimum number of players.

    The function draws random actions from masks.
    """
    env = TableEnv(name, engine.game(name).min_players, int(batch), seed=SEED, observations=True, mask="bits")
    last = env.reset()

    def step() -> int:
        nonlocal last
        last = env.step(random_masked_actions(last.mask, last.luck(), last.info.num_actions))
        return len(last)

    for _ in range(int(warm_up)):
        step()

    def play(seconds: float) -> Run:
        moves = 0
        wall, cpu = time.perf_counter(), time.process_time()
        while moves == 0 or time.perf_counter() < wall + seconds:
            moves += step()
        return Run(moves, time.perf_counter() - wall, time.process_time() - cpu)

    return play


def steps(name: str, batch: str, warm_up: str, num_threads: str) -> Callable[[float], Run]:
    """Return a function that makes random moves with Table.step in several threads.

    The time in which the function chooses the moves does not count.
    """
    keep_freed_memory()
    table = Table(engine.game(name), engine.game(name).min_players)
    columns, restart = Columns(legal=True, observations=True, final_scores=True), Restart(stride=int(batch))
    seeds, numbers = seeds_and_numbers(0, int(batch))
    positions = table.new_games(seeds=seeds, game_numbers=numbers, columns=columns)
    random = np.random.default_rng(SEED)

    def play(seconds: float, most: float = float("inf")) -> Run:
        nonlocal positions
        count = 0
        choosing_wall = choosing_cpu = 0.0
        wall, cpu = time.perf_counter(), time.process_time()
        while count == 0 or (count < most and time.perf_counter() < wall + seconds):
            # Only this thread works here, so that its time is the time to choose the moves.
            began, began_cpu = time.perf_counter(), time.thread_time()
            moves = choose(positions.legal_offsets, positions.legal_ids, random)
            choosing_wall += time.perf_counter() - began
            choosing_cpu += time.thread_time() - began_cpu
            positions, _ = table.step(
                positions.states, moves, columns=columns, restart=restart, num_threads=int(num_threads)
            )
            count += 1
        wall, cpu = time.perf_counter() - wall - choosing_wall, time.process_time() - cpu - choosing_cpu
        return Run(count * int(batch), wall, cpu)

    play(float("inf"), int(warm_up))
    return play


def pgx(name: str, batch: str) -> Callable[[float], Run]:
    """Return a function that plays a game of pgx in compiled scans, with the game's observations.

    The function draws random actions from the game's masks. Games that end are restarted.
    """
    import jax
    from jax import numpy as jnp
    from pgx import make  # type: ignore[import-not-found]
    from pgx.experimental import auto_reset  # type: ignore[import-not-found]

    games = int(batch)
    env = make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def scan(state, key):  # type: ignore[no-untyped-def]
        def move(carry, _):  # type: ignore[no-untyped-def]
            state, key, seen = carry
            key, for_action, for_step = jax.random.split(key, 3)
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            action = jax.random.categorical(for_action, logits, axis=-1)
            state = step(state, action, jax.random.split(for_step, games))
            # The sum prevents the compiler from eliminating the observations.
            return (state, key, seen + state.observation.sum()), None

        return jax.lax.scan(move, (state, key, jnp.float32(0)), None, length=SCAN)[0]

    key = jax.random.PRNGKey(SEED)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, games))
    state, key, _ = jax.block_until_ready(scan(state, key))

    def play(seconds: float) -> Run:
        nonlocal state, key
        moves = 0
        wall, cpu = time.perf_counter(), time.process_time()
        while moves == 0 or time.perf_counter() < wall + seconds:
            state, key, _ = jax.block_until_ready(scan(state, key))
            moves += SCAN * games
        return Run(moves, time.perf_counter() - wall, time.process_time() - cpu)

    return play


KINDS: dict[str, Callable[..., Callable[[float], Run]]] = {"table_env": table_env, "steps": steps, "pgx": pgx}


def main(kind: str, *arguments: str) -> None:
    """Run a contender."""
    cores = [int(core) for core in os.environ["BENCH_CORES"].split()]
    if cores:
        os.sched_setaffinity(0, cores)
    play = KINDS[kind](*arguments)
    print("ready", flush=True)
    for line in sys.stdin:
        run = play(float(line))
        print(json.dumps([run.amount, run.wall, run.cpu]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
