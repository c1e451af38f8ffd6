"""The attacks of the siege and the server's budget: scenarios/siege.toml."""

import tomllib
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

NAME = "siege"
SCENARIOS = Path(__file__).parent.parent / "scenarios"
DOORS = {"grpcio": "grpcio's port", "fast": "the fast door", "web": "the door for browsers"}
"""The doors that can be attacked, with their names in tables."""


@dataclass(frozen=True)
class Budget:
    """The budget of an attack; what it does not bound is infinite.

    - `onset_ms`: the longest duration of another client's calls in the first moments of the attack.
    - `game_p99_ms`, `batch_p99_ms`, `health_p99_ms`: the longest duration of 99 % of its calls from then on, while the
      attack lasts: calls of GameService; of BatchService, including streams; health checks.
    - `peak_mib`, `kept_mib`: the largest growth of each process beyond its idle size, in MiB: at its peak, and after
      the attackers have left.
    """

    onset_ms: float = inf
    game_p99_ms: float = inf
    batch_p99_ms: float = inf
    health_p99_ms: float = inf
    peak_mib: float = inf
    kept_mib: float = inf


@dataclass(frozen=True)
class Attack:
    """An attack.

    - `kind`: a function of attacks.py, which describes `count`. `method`: the path without its slash, for kinds that
      can attack several methods. `field`, `size`: for kinds that send large requests, the repeated field by its path
      and the number of bytes.
    - `doors`: what is attacked, one server after the other.
    - `connections`, `addresses`: the number of connections, and of addresses that they come from.
    - `seconds`: the duration. `onset`: the part of it until all attackers have come.
    - `has_tokens`: True if the server requires tokens; attackers never have one. `has_tls`: True if it has a
      certificate. `descriptors`: the soft and the hard limit of its open files; 0: those of the siege.
      `has_unread_log`: True if nobody reads its log. `has_rooms`: True if it has rooms.
    - `is_refused`: True if no call of the attackers may succeed.
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
    """The attacks, and a description of the whole."""

    meaning: str
    attacks: list[Attack]

    def entries(self, names: tuple[str, ...] = (), doors: tuple[str, ...] = ()) -> list[tuple[Attack, str]]:
        """Return each attack with each of its doors; only those with one of `names` in theirs, and of `doors`."""
        return [
            (attack, door)
            for attack in self.attacks
            if not names or any(name in attack.name for name in names)
            for door in attack.doors
            if not doors or door in doors
        ]


def read_plan(name: str = NAME) -> Plan:
    """Read a plan."""
    content = tomllib.loads((SCENARIOS / f"{name}.toml").read_text())
    return Plan(content["meaning"], [_attack(each, content.get("budget", {})) for each in content["attacks"]])


def _attack(values: dict[str, Any], budget: dict[str, float]) -> Attack:
    own = values.pop("budget", {})
    doors = tuple(values.pop("doors"))
    return Attack(**values, doors=doors, budget=Budget(**(budget | own)))
