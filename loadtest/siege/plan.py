"""The siege's attacks and their budgets, as defined by scenarios/siege.toml."""

import tomllib
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

NAME = "siege"
SCENARIOS = Path(__file__).parent.parent / "scenarios"
DOORS = {"grpcio": "grpcio's port", "fast": "the fast door", "web": "the web door"}
"""The doors with TCP ports, with their names in tables."""
SHARED = "shared"
"""The fast door at a Unix socket. Clients use streams in shared memory."""
TARGETS = DOORS | {SHARED: "shared memory"}
"""The doors that can be attacked, with their names in tables."""


@dataclass(frozen=True)
class Budget:
    """The budget of an attack. The defaults set no limit.

    Attributes:
        onset_ms: The maximum duration of other clients' calls while the attackers start, in milliseconds.
        game_p99_ms: The maximum 99th percentile of the durations of calls to GameService and NewTable during the rest
            of the attack, in milliseconds.
        batch_p99_ms: The same for calls to BatchService, including streams.
        health_p99_ms: The same for health checks.
        own_p99_ms: The same for each kind of call that the client at the attackers' address makes.
        least_share: The minimum share of a second client's calls in all calls that it and the attackers completed. The
            second client makes the same calls at a different address.
        peak_mib: The maximum growth of each process from its idle size to its peak, in MiB.
        kept_mib: The maximum growth of each process that remains after the attackers have left, in MiB.
    """

    onset_ms: float = inf
    game_p99_ms: float = inf
    batch_p99_ms: float = inf
    health_p99_ms: float = inf
    own_p99_ms: float = inf
    least_share: float = 0.0
    peak_mib: float = inf
    kept_mib: float = inf


@dataclass(frozen=True)
class Attack:
    """An attack.

    Attributes:
        kind: The name of a function in attacks.py. The function's docstring describes `count`.
        method: The method to attack, for kinds that can attack several methods: SERVICE/METHOD or, for `work`, a name
            in work.py.
        field: The dotted path of the repeated field, for kinds that send large requests.
        size: The size of each large request, or of a room's tables, in bytes.
        doors: The doors to attack, each on a separate server.
        connections: The number of connections.
        addresses: The number of source addresses.
        source: The first source address.
        seconds: The duration of the attack.
        onset: The time in seconds, from the beginning of the attack, within which the attackers start.
        has_tokens: True if the server requires tokens. Attackers never have a token.
        has_tls: True if the server has a certificate.
        descriptors: The soft and the hard limit on the server's open files. 0 means the limits of the siege's process.
        has_unread_log: True if the server's log is not read.
        has_rooms: True if the server has rooms.
        is_refused: True if no call of the attackers may succeed.
    """

    name: str
    kind: str
    doors: tuple[str, ...]
    count: int
    seconds: float = 8.0
    onset: float = 2.0
    budget: Budget = Budget()
    connections: int = 1
    addresses: int = 1
    source: str = "127.0.0.2"
    method: str = ""
    field: str = ""
    size: int = 0
    has_tokens: bool = False
    has_tls: bool = False
    descriptors: int = 0
    has_unread_log: bool = False
    has_rooms: bool = False
    is_refused: bool = False


@dataclass(frozen=True)
class Plan:
    """The attacks, and a description of the plan."""

    meaning: str
    attacks: list[Attack]

    def entries(self, names: tuple[str, ...] = (), doors: tuple[str, ...] = ()) -> list[tuple[Attack, str]]:
        """Return each attack with each of its doors.

        Args:
            names: Only attacks whose names contain one of these strings are returned. Empty to return all attacks.
            doors: Only these doors are returned. Empty to return all doors.
        """
        return [
            (attack, door)
            for attack in self.attacks
            if not names or any(name in attack.name for name in names)
            for door in attack.doors
            if not doors or door in doors
        ]


def read_plan(name: str = NAME) -> Plan:
    """Read a plan from a file in the folder scenarios/."""
    content = tomllib.loads((SCENARIOS / f"{name}.toml").read_text())
    return Plan(content["meaning"], [_attack(each, content.get("budget", {})) for each in content["attacks"]])


def _attack(values: dict[str, Any], budget: dict[str, float]) -> Attack:
    own = values.pop("budget", {})
    doors = tuple(values.pop("doors"))
    return Attack(**values, doors=doors, budget=Budget(**(budget | own)))
