"""The threads that divide a batch: when they work, sleep and end."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.needs import needs
from tools.patience import PATIENCE

from chatiere.engine import Columns, EngineError, Game, Table
from chatiere.engine.core.cancellation import Cancellation, Cancelled

TASKS = Path("/proc/self/task")

pytestmark = [pytest.mark.threads, needs("/proc")]


def tasks() -> set[str]:
    """Return the numbers of the threads of this process, including those that Python does not know."""
    return {each.name for each in TASKS.iterdir()}


def sleeps(task: str) -> bool:
    """Return True if a thread sleeps, False if it runs or waits for a processor."""
    return (TASKS / task / "stat").read_text().rpartition(")")[2].split()[0] == "S"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        os.sched_yield()


def begin(table: Table, num_threads: int, **named: Any) -> bytes | memoryview:
    return table.new_games(seeds=range(40), columns=Columns(legal=True), num_threads=num_threads, **named).legal_ids


def test_threads_live_as_long_as_the_table(game: Game) -> None:
    others = tasks()
    table = Table(game, game.min_players)
    begin(table, 1)
    assert tasks() <= others
    begin(table, 3)
    three = tasks() - others
    assert len(three) == 2
    # More threads are started when they are needed. Smaller batches use some of them.
    begin(table, 5)
    five = tasks() - others
    assert three < five
    assert len(five) == 4
    begin(table, 2)
    assert tasks() - others == five
    del table
    wait_for(lambda: tasks() <= others)


def test_many_tables_leave_no_threads(game: Game) -> None:
    others = tasks()
    for _ in range(100):
        begin(Table(game, game.min_players, reuse_memory=True), 4)
    wait_for(lambda: tasks() <= others)


def test_errors_leave_no_threads(game: Game) -> None:
    others = tasks()
    table = Table(game, game.min_players)
    cancellation = Cancellation()
    cancellation.cancel()
    expected = begin(table, 1)
    for _ in range(20):
        with pytest.raises(EngineError):
            begin(table, 3, max_bytes=40 * game.packed_size + 500)
        with pytest.raises(Cancelled):
            begin(table, 3, cancellation=cancellation)
        assert begin(table, 3) == expected
    wait_for(lambda: len(tasks() - others) == 2)
    del table
    wait_for(lambda: tasks() <= others)


def test_threads_without_work_sleep(game: Game) -> None:
    others = tasks()
    table = Table(game, game.min_players)
    begin(table, 3)
    for task in tasks() - others:
        wait_for(lambda: sleeps(task))  # noqa: B023


class Held(Cancellation):
    """A cancellation that stops a thread other than the caller, until the caller sleeps."""

    def __init__(self) -> None:
        self.caller = threading.get_native_id()
        self.is_held = False

    def give_way(self) -> None:
        """Ask again until another thread calls this method."""
        if threading.get_native_id() == self.caller:
            self.ask_to_give_way()
        else:
            self.is_held = True
            wait_for(lambda: sleeps(str(self.caller)))


def test_the_caller_sleeps_while_it_waits_for_another_thread(game: Game) -> None:
    table = Table(game, game.min_players)
    expected = begin(table, 1)
    while True:
        held = Held()
        held.ask_to_give_way()
        assert begin(table, 2, cancellation=held) == expected
        if held.is_held:
            break


def run(program: str, name: str) -> None:
    """Run a program in a separate process, with the name of a game as its argument."""
    prelude = "import os, sys, threading\nfrom chatiere.engine import Columns, Table, game\n" + BEGIN
    subprocess.run((sys.executable, "-c", prelude + program, name), check=True, timeout=PATIENCE)


BEGIN = """
def begin(table, num_threads):
    columns = Columns(legal=True, observations=True)
    return table.new_games(seeds=range(40), columns=columns, num_threads=num_threads)

played = game(sys.argv[1])
table = Table(played, played.min_players)
expected = begin(table, 1)
assert begin(table, 3) == expected
"""

FORKS = """
def grow(generations):
    # A forked process has only one thread, and starts others when it uses the table.
    if generations == 0:
        return
    unused = Table(played, played.min_players)
    begin(unused, 3)
    child = os.fork()
    if not child:
        assert len(os.listdir("/proc/self/task")) == 1
        del unused
        assert begin(table, 3) == expected
        assert len(os.listdir("/proc/self/task")) == 3
        grow(generations - 1)
        sys.exit()
    assert begin(table, 3) == expected
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

grow(3)
"""


@pytest.mark.release_only  # AddressSanitizer's locks stay locked in a forked process
def test_a_forked_process_starts_threads_of_its_own(game: Game) -> None:
    run(FORKS, game.name)


FORKS_DURING_A_BATCH = """
from chatiere.engine.core.cancellation import Cancellation

class Held(Cancellation):
    def give_way(self):
        inside.set()
        forked.wait()

inside, forked = threading.Event(), threading.Event()
held = Held()
held.ask_to_give_way()
thread = threading.Thread(target=lambda: table.new_games(count=40, num_threads=3, cancellation=held))
thread.start()
inside.wait()
child = os.fork()
if not child:
    assert begin(table, 3) == expected
    sys.exit()
forked.set()
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert begin(table, 3) == expected
"""


@pytest.mark.release_only  # AddressSanitizer's locks stay locked in a forked process
def test_a_process_can_be_forked_while_threads_work(game: Game) -> None:
    run(FORKS_DURING_A_BATCH, game.name)


ENDS = """
def play():
    while True:
        begin(table, 3)
        first.set()

first = threading.Event()
threading.Thread(target=play, daemon=True).start()
first.wait()
"""


def test_the_interpreter_ends_while_threads_exist(game: Game) -> None:
    run("", game.name)
    run(ENDS, game.name)
