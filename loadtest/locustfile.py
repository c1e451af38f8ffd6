"""Load on a running service: `locust -f loadtest/locustfile.py --scenario frontend --host HOST:PORT --headless`.

The scenario determines the users and the duration, and its budget determines the exit code. Without --scenario, this is
an ordinary locustfile with all users.
"""

# Locust patches the standard library for gevent before it reads this file. gRPC must be patched before its first use.
import grpc.experimental.gevent

grpc.experimental.gevent.init_gevent()

import logging  # noqa: E402
import sys  # noqa: E402
from argparse import ArgumentParser  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from locust import LoadTestShape, events  # noqa: E402
from locust.env import Environment  # noqa: E402
from locust.runners import WorkerRunner  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1]))

from loadtest.load.budget import broken, read_scenario, scenario_names  # noqa: E402
from loadtest.load.ramp import Ramp  # noqa: E402
from loadtest.load.table_users import BotUser, BrowserUser, RoomUser, TableUser  # noqa: E402
from loadtest.load.users import FrontendUser, LearnerUser, MisbehavingUser, SpectatorUser  # noqa: E402

__all__ = [
    "BotUser",
    "BrowserUser",
    "FrontendUser",
    "LearnerUser",
    "MisbehavingUser",
    "RoomUser",
    "SpectatorUser",
    "TableUser",
]

_log = logging.getLogger(__name__)


class RampShape(LoadTestShape):
    """A ramp as a Locust load shape."""

    # Locust would use a shape that is not abstract in every run, also without --ramp.
    abstract = True

    def __init__(self, ramp: Ramp) -> None:
        """Use the steps of a ramp."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.ramp = ramp

    def tick(self) -> tuple[int, float] | None:
        """See LoadTestShape."""
        return self.ramp.tick()


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]
def add_scenario(parser: ArgumentParser, **_: Any) -> None:
    """Add the options --scenario and --ramp."""
    parser.add_argument(
        "--scenario",
        choices=scenario_names(),
        default=None,
        help="file of loadtest/scenarios: users, duration, budget",
    )
    parser.add_argument("--ramp", action="store_true", help="increase the number of users until the budget is exceeded")


@events.init.add_listener  # type: ignore[untyped-decorator]
def take_scenario(environment: Environment, **_: Any) -> None:
    """Take the users and the duration from the scenario."""
    options = environment.parsed_options
    if options is None or options.scenario is None:
        return
    scenario = read_scenario(options.scenario)
    environment.user_classes = [user for user in environment.user_classes if user.__name__ in scenario.users]
    if options.ramp:
        for user in environment.user_classes:
            user.weight = scenario.users[user.__name__]
        environment.shape_class = RampShape(Ramp(environment, scenario))
        return
    for user in environment.user_classes:
        user.fixed_count = scenario.users[user.__name__]
    options.num_users = sum(scenario.users.values())
    options.spawn_rate = scenario.spawn_rate
    options.run_time = options.run_time or scenario.seconds


@events.quitting.add_listener  # type: ignore[untyped-decorator]
def judge(environment: Environment, **_: Any) -> None:
    """Log the violations of the budget, and set the exit code to 1 if there are any."""
    options = environment.parsed_options
    if options is None or options.scenario is None or isinstance(environment.runner, WorkerRunner):
        return
    if isinstance(environment.shape_class, RampShape):
        print(environment.shape_class.ramp.table())
        environment.process_exit_code = 0
        return
    found = broken(read_scenario(options.scenario), environment)
    for line in found:
        _log.error("budget: %s", line)
    _log.info("scenario %s: %s", options.scenario, "budget broken" if found else "within its budget")
    environment.process_exit_code = 1 if found else 0
