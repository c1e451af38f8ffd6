"""The attacks of the siege and what the server has to keep meanwhile: scenarios/siege.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "siege"
_FILE = Path(__file__).parent.parent / "scenarios" / f"{NAME}.toml"


@dataclass(frozen=True)
class Budget:
    """The budget of every attack that has none of its own.

    - `onset_ms`: how long any call of another client may take that is made in the first moments of the attack.
    - `game_p99_ms`, `batch_p99_ms`, `health_p99_ms`: how long 99 % of those may take that are made from then on, while
      the attack lasts: calls of GameService; of BatchService, streams included; health checks.
    - `peak_mib`, `kept_mib`: how far each process may grow beyond its idle size, in MiB: at its largest, and after the
      attackers have left.
    """

    onset_ms: float
    game_p99_ms: float
    batch_p99_ms: float
    health_p99_ms: float
    peak_mib: float
    kept_mib: float


@dataclass(frozen=True)
class Attack:
    """One attack.

    - `kind`: what the attackers do, a function of attacks.py, with `count` of what it says, at `method` (the path
      without its slash) where it can be done to several.
    - `connections`: over how many connections. `addresses`: from how many addresses.
    - `seconds`: how long it lasts. `onset`: how many of these it takes until all attackers are there.
    - `has_tokens`: whether the server wants tokens; attackers never have one.
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


@dataclass(frozen=True)
class Plan:
    """All attacks, and what they are together."""

    meaning: str
    attacks: list[Attack]


def read_plan() -> Plan:
    """The plan as the file has it."""
    content = tomllib.loads(_FILE.read_text())
    return Plan(content["meaning"], [_attack(each, content["budget"]) for each in content["attacks"]])


def _attack(values: dict[str, Any], budget: dict[str, float]) -> Attack:
    own = values.pop("budget", {})
    return Attack(**values, budget=Budget(**(budget | own)))
