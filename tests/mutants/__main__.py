"""Plant faults in the compiled engine, one at a time, and report those that the tests detect: `make mutants`.

The faults are a sample, the same for the same seed. One that no test detects is a gap in the tests, or is explained in
explained.toml: because nobody could see it (then it is not a fault, and another one takes its place in the sample), or
because no test should mind. Fails if fewer than 95 % are detected, or an undetected one is not explained.
"""

import hashlib
import json
import os
import resource
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, repeat
from pathlib import Path
from typing import NamedTuple

import click

from .faults import Fault, faults_in, flat
from .trial import COMPILER, ROOT, prepare, try_fault

ROOMS = (*sorted(path.name for path in (ROOT / "engine" / "games").iterdir() if (path / "kernel.pyx").exists()), "core")
# The conversion between messages and states has tests of another kind, and most of it is not kernel code.
_NO_KERNELS = ("codec", "words")
_OF_THE_CORE = ("bits.pxd", "loops.pyx", "moves.pyx", "packed.pxd", "stream.pxd", "stream.pyx", "weights.pxd")
REPORT = ROOT / "build" / "mutants.json"
LOWEST_SHARE = 0.95
MOST_MEMORY = 8 << 30
SEEN, EXPLAINED, SURVIVED = "seen", "explained", "SURVIVED"
# Verdicts on changes that are not faults.
NO_CHANGE, NO_CYTHON = "changes nothing", "does not compile"


def sources(room: str) -> list[Path]:
    """Return the files of a room, or of the core, in which faults are planted."""
    if room == "core":
        return [ROOT / "engine" / "core" / name for name in _OF_THE_CORE]
    paths = (ROOT / "engine" / "games" / room).glob("*.p[xy][dx]")
    return sorted(path for path in paths if path.stem not in _NO_KERNELS)


def all_faults(room: str) -> list[list[Fault]]:
    """Return the faults of a room, statement by statement."""
    return [listed for path in sources(room) for listed in faults_in(path, ROOT)]


def drawn_by(seed: int, *of: object) -> bytes:
    """Return a random sort key: the same for the same fault, whatever other faults there are."""
    return hashlib.sha256(repr((seed, *of)).encode()).digest()


def sample(statements: list[list[Fault]], seed: int) -> Iterator[Fault]:
    """Yield faults in random order, one per statement. The order in one file does not depend on other files."""
    chosen = [min(listed, key=lambda fault: drawn_by(seed, fault.key)) for listed in statements]
    yield from sorted(chosen, key=lambda fault: drawn_by(seed, fault.key[:3]))


class Explanation(NamedTuple):
    """The reason for which no test detects a fault."""

    changes: bool  # False: nobody could see it, whatever is played
    why: str


def explanations() -> dict[tuple[str, str, str, str], Explanation]:
    """Return the explanations in explained.toml, by the fault's key."""
    text = Path(__file__).with_name("explained.toml").read_text(encoding="utf-8")
    return {
        (entry["file"], entry["function"], flat(entry["before"]), flat(entry["after"])): Explanation(
            entry["changes"], entry["why"]
        )
        for entry in tomllib.loads(text)["fault"]
    }


def survivors() -> set[tuple[str, ...]]:
    """Return the keys of the faults that the last run did not detect."""
    if not REPORT.exists():
        raise click.ClickException("there is no report of an earlier run")
    return {tuple(found["key"]) for found in json.loads(REPORT.read_text()) if found["verdict"] == SURVIVED}


def verdict_on(fault: Fault, room: str, explanation: Explanation | None) -> tuple[Fault, str, str]:
    """Try a fault; return it with the verdict, and the test that detected it or the reason why none did."""
    seen_by = try_fault(fault, room)
    if seen_by:
        return fault, NO_CYTHON if seen_by == COMPILER else SEEN, seen_by
    if explanation is None:
        return fault, SURVIVED, "by no test"
    return fault, EXPLAINED if explanation.changes else NO_CHANGE, explanation.why


@click.command()
@click.option("--count", default=25, show_default=True, help="Faults planted in each game, and in the core.")
@click.option("--seed", default=1, show_default=True, help="Of the sample.")
@click.option("--only", "rooms", multiple=True, type=click.Choice(ROOMS), help="These games, or the core; else all.")
@click.option("--again", is_flag=True, help="Those that survived the last run, in place of a sample.")
@click.option("--processes", default=os.cpu_count(), show_default=True, help="Faults that are tried at a time.")
def main(count: int, seed: int, rooms: tuple[str, ...], again: bool, processes: int) -> None:
    """Plant faults in the compiled engine and report those that the tests detect."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    there = {room: all_faults(room) for room in ROOMS}
    explained = explanations()
    wanted = survivors() if again else set()
    report = []
    totals: Counter[str] = Counter()
    prepare()
    with ThreadPoolExecutor(processes) as pool:
        for room in rooms or ROOMS:
            if (failed := try_fault(None, room)) is not None:
                raise click.ClickException(f"without a fault: {failed} fails")
            if again:
                faults = iter([fault for listed in there[room] for fault in listed if fault.key in wanted])
            else:
                faults = sample(there[room], seed)
            verdicts: Counter[str] = Counter()
            while batch := list(islice(faults, count - in_sample(verdicts))):
                explanations_of = [explained.get(fault.key) for fault in batch]
                for fault, verdict, why in pool.map(verdict_on, batch, repeat(room), explanations_of):
                    verdicts[verdict] += 1
                    click.echo(f"{verdict}: {fault} ({why})")
                    report.append({"verdict": verdict, "key": fault.key, "why": why})
            totals += verdicts
            click.echo(f"{room}: {said(verdicts)}")
            REPORT.write_text(json.dumps(report, indent=1))
    click.echo(f"together: {said(totals)}")
    sys.exit(bool(totals[SURVIVED] or totals[SEEN] < LOWEST_SHARE * in_sample(totals)))


def in_sample(verdicts: Counter[str]) -> int:
    """Count the faults, without those that are not."""
    return verdicts[SEEN] + verdicts[EXPLAINED] + verdicts[SURVIVED]


def said(verdicts: Counter[str]) -> str:
    """Describe the number of faults by verdict."""
    unseen = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (EXPLAINED, SURVIVED))
    others = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (NO_CHANGE, NO_CYTHON))
    return f"{verdicts[SEEN]} of {in_sample(verdicts)} seen, {unseen}; besides {others}"


if __name__ == "__main__":
    main()
