"""The attacks of the siege and the server's budget: scenarios/siege.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "siege"
_FILE = Path(__file__).parent.parent / "scenarios" / f"{NAME}.toml"


@dataclass(frozen=True)
class Budget:
    """The budget of an attack.

    - `onset_ms`: the longest duration of another client's calls in the first moments of the attack.
    - `game_p99_ms`, `batch_p99_ms`, `health_p99_ms`: the longest duration of 99 % of its calls from then on, while the
      attack lasts: calls of GameService; of BatchService, including streams; health checks.
    - `peak_mib`, `kept_mib`: the largest growth of each process beyond its idle size, in MiB: at its peak, and after
      the attackers have left.
    """

    onset_ms: float
    game_p99_ms: float
    batch_p99_ms: float
    health_p99_ms: float
    peak_mib: float
    kept_mib: float


@dataclass(frozen=True)
class Attack:
    """An attack.

    - `kind`: a function of attacks.py, which describes `count`. `method`: the path without its slash, for kinds that
      can attack several methods.
    - `connections`, `addresses`: the number of connections, and of addresses that they come from.
    - `seconds`: the duration. `onset`: the part of it until all attackers have come.
    - `has_tokens`: True if the server requires tokens; attackers never have one.
    - `is_fast`: True if both the attackers and the other client come to the fast door.
    - `is_web`: True if the attackers come to the door for browsers; the other client stays at gRPC's port.
    """

    name: str
    kind: str
    count: int
    seconds: float
    budget: Budget
    onset: float = 2.0
    connections: int = 1
    addresses: int = 1
    method: str = ""
    has_tokens: bool = False
    is_fast: bool = False
    is_web: bool = False


@dataclass(frozen=True)
class Plan:
    """The attacks, and a description of the whole."""

    meaning: str
    attacks: list[Attack]


def read_plan() -> Plan:
    """Read the plan."""
    content = tomllib.loads(_FILE.read_text())
    return Plan(content["meaning"], [_attack(each, content["budget"]) for each in content["attacks"]])


def _attack(values: dict[str, Any], budget: dict[str, float]) -> Attack:
    own = values.pop("budget", {})
    return Attack(**values, budget=Budget(**(budget | own)))
