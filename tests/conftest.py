"""Hooks for all tests."""

import ctypes
import os
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# The time of an example, or of drawing it, says more of the machine than of the code.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("untimed", UNTIMED)
# For make mutants, which asks only which test fails: nothing is shrunk, explained or kept.
settings.register_profile("first_failure", UNTIMED, phases=(Phase.explicit, Phase.generate), database=None)
settings.load_profile("untimed")


# `make test` keeps every promise once: on one game, at one door, for one number of players, in one sample game; and
# leaves out what takes seconds. `make test-all` does the rest.
REPEATED = {
    *("game", "players", "table", "seats", "seed", "entry", "trace", "bots", "batches", "num_threads"),
    *("door", "protocol", "codec", "ask_at", "make", "theme"),
}
# Folders and modules of tests that take seconds: they start browsers, servers in processes of their own, other
# programs, load and attacks.
LONG = {
    *("deploy", "editors", "examples", "fuzz", "loadtest", "page", "training"),
    *("clients/test_arena_matches.py", "clients/test_dataset.py", "clients/test_human_terminal.py"),
    *("clients/test_typescript_package.py", "command/test_command_arena.py", "command/test_command_ladder.py"),
    *("command/test_command_play.py", "command/test_command_play_terminal.py", "command/test_command_replay.py"),
    *("command/test_web_command.py", "games/chat_cartonne/test_chat_cartonne_resampling.py"),
    *("games/discat/test_discat_resampling.py", "service/rooms/test_rooms_redis.py"),
    *("service/fast_door/test_fast_door_end.py", "service/fast_door/test_fast_door_hostile.py"),
    *("service/web/test_web_browsers.py", "service/web/test_web_hostile.py", "service/web/test_web_server.py"),
    *("service/web/test_web_streams.py", "service/test_service_idle_streams.py"),
    *("service/test_service_access.py", "service/test_service_balancing.py", "service/test_service_connections.py"),
    *("service/test_service_faults.py", "service/test_service_half_open.py", "service/test_service_log.py"),
    *("service/test_service_processes.py", "service/test_service_workers.py", "tables/test_tables_served.py"),
    "tables/test_tables_worlds.py",
}
TESTS = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes seconds, and all but one of the tests that differ only in what tests are repeated over."""
    for item in items:
        path = item.path.relative_to(TESTS)
        if path.parts[0] in LONG or path.as_posix() in LONG:
            item.add_marker("long")
    alike: dict[tuple[str, ...], list[pytest.Item]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            # The values are the same objects in all tests.
            others = [
                f"{name} {id(value)}" for name, value in item.callspec.params.items() if not is_repeated(name, value)
            ]
            alike.setdefault((item.nodeid.partition("[")[0], *others), []).append(item)
    for (name, *_), repeated in alike.items():
        # Another game or door for another test.
        kept = zlib.crc32(name.encode()) % len(repeated)
        for item in repeated[:kept] + repeated[kept + 1 :]:
            item.add_marker("repeated")


def is_repeated(name: str, value: object) -> bool:
    """Return whether tests are repeated over a parameter with this value."""
    return name in REPEATED or (isinstance(value, Path) and value.suffix == ".jsonl")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let xdist's workers write the coverage of the compiled engine: they exit without running exit()'s handlers."""
    if hasattr(config, "workerinput") and "CHATIERE_COVERAGE" in os.environ:
        ctypes.CDLL(None).exit(0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how often the battery's games met which kinds of events, if its tests that count them ran."""
    # Here, as not every run of tests needs the engine.
    from conformance.counting import EVENTS, report

    from chatiere import engine

    counts: dict[str, Counter[str]] = {}
    for finished in terminalreporter.stats.get("passed", []):
        for name, value in finished.user_properties:
            if name == EVENTS:
                counts.setdefault(value[0], Counter()).update(value[1])
    if counts:
        terminalreporter.section("kinds of events in the conformance battery")
    for name, met in counts.items():
        terminalreporter.write_line(report(engine.game(name), met))
