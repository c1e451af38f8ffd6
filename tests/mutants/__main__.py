"""Plant faults in the compiled engine, one at a time, and see which of them the tests see: `make mutants`.

The faults are a sample, the same for the same seed. A fault that no test sees is a hole in the tests, or it changes
nothing that anybody could see: then explained.toml says why. Fails if one is neither, or if fewer than 95 % are seen.
"""

import json
import os
import random
import resource
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

import click

from .faults import Fault, faults_in, flat
from .trial import COMPILER, ROOT, prepare, try_fault

ROOMS = (*sorted(path.name for path in (ROOT / "engine" / "games").iterdir() if (path / "kernel.pyx").exists()), "core")
# What turns messages into states and back has tests of another kind, and most of it is no kernel.
_NO_KERNELS = ("codec", "words")
_OF_THE_CORE = ("bits.pxd", "loops.pyx", "play.pyx", "stream.pxd", "stream.pyx", "weights.pxd")
REPORT = ROOT / "build" / "mutants.json"
LOWEST_SHARE = 0.95
MOST_MEMORY = 8 << 30
SEEN, EXPLAINED, SURVIVED, NO_CYTHON = "seen", "explained", "SURVIVED", "does not compile"


def sources(room: str) -> list[Path]:
    """The files of a game's room, or of the core, in which faults are planted."""
    if room == "core":
        return [ROOT / "engine" / "core" / name for name in _OF_THE_CORE]
    paths = (ROOT / "engine" / "games" / room).glob("*.p[xy][dx]")
    return sorted(path for path in paths if path.stem not in _NO_KERNELS)


def all_faults(room: str) -> list[list[Fault]]:
    """Those of a room, statement by statement."""
    return [listed for path in sources(room) for listed in faults_in(path, ROOT)]


def sample(statements: list[list[Fault]], seed: str) -> Iterator[Fault]:
    """Faults in random order, one a statement."""
    choices = random.Random(seed)
    for listed in choices.sample(statements, len(statements)):
        yield choices.choice(listed)


def explanations() -> dict[tuple[str, str, str, str], str]:
    """Why nobody can see a fault, by the fault's key."""
    text = Path(__file__).with_name("explained.toml").read_text(encoding="utf-8")
    return {
        (entry["file"], entry["function"], flat(entry["before"]), flat(entry["after"])): entry["why"]
        for entry in tomllib.loads(text).get("fault", [])
    }


def survivors() -> set[tuple[str, ...]]:
    """The keys of those that the last run's tests did not see."""
    if not REPORT.exists():
        raise click.ClickException("there is no report of an earlier run")
    return {tuple(found["key"]) for found in json.loads(REPORT.read_text()) if found["verdict"] == SURVIVED}


def try_all(
    room: str, faults: Iterator[Fault], count: int, pool: ThreadPoolExecutor
) -> Iterator[tuple[Fault, str | None]]:
    """The next faults, with what saw each, until `count` of them have compiled."""
    while batch := list(islice(faults, count)):
        for fault, seen_by in zip(batch, pool.map(partial(try_fault, room=room), batch), strict=True):
            count -= seen_by != COMPILER
            yield fault, seen_by


@click.command()
@click.option("--count", default=30, show_default=True, help="Faults planted in each game, and in the core.")
@click.option("--seed", default=1, show_default=True, help="Of the sample.")
@click.option("--only", "rooms", multiple=True, type=click.Choice(ROOMS), help="These games, or the core; else all.")
@click.option("--again", is_flag=True, help="Those that survived the last run, in place of a sample.")
@click.option("--processes", default=os.cpu_count(), show_default=True, help="Faults that are tried at a time.")
def main(count: int, seed: int, rooms: tuple[str, ...], again: bool, processes: int) -> None:
    """Plant faults in the compiled engine and see which of them the tests see."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    there = {room: all_faults(room) for room in ROOMS}
    explained = explanations()
    stale = set(explained) - {fault.key for statements in there.values() for listed in statements for fault in listed}
    wanted = survivors() if again else set()
    report = []
    totals: Counter[str] = Counter()
    prepare()
    with ThreadPoolExecutor(processes) as pool:
        for room in rooms or ROOMS:
            if (failed := try_fault(None, room)) is not None:
                raise click.ClickException(f"without a fault: {failed} fails")
            if again:
                faults = [fault for listed in there[room] for fault in listed if fault.key in wanted]
                tried = try_all(room, iter(faults), len(faults), pool)
            else:
                tried = try_all(room, sample(there[room], f"{seed} {room}"), count, pool)
            verdicts: Counter[str] = Counter()
            for fault, seen_by in tried:
                why = explained.get(fault.key)
                verdict = verdict_of(seen_by, why)
                verdicts[verdict] += 1
                click.echo(f"{verdict}: {fault} ({seen_by or why or 'by no test'})")
                report.append({"verdict": verdict, "key": fault.key, "by": seen_by})
            totals += verdicts
            click.echo(f"{room}: {said(verdicts)}")
            REPORT.write_text(json.dumps(report, indent=1))
    click.echo(f"together: {said(totals)}")
    for key in sorted(stale):
        click.echo(f"explained.toml names what is not there: {' '.join(key)}")
    sys.exit(bool(stale or totals[SURVIVED] or totals[SEEN] < LOWEST_SHARE * compiled(totals)))


def verdict_of(seen_by: str | None, why: str | None) -> str:
    """What is to be said of a fault."""
    if seen_by:
        return NO_CYTHON if seen_by == COMPILER else SEEN
    return EXPLAINED if why else SURVIVED


def compiled(verdicts: Counter[str]) -> int:
    """How many faults there were, without those that are no Cython."""
    return verdicts.total() - verdicts[NO_CYTHON]


def said(verdicts: Counter[str]) -> str:
    """How many came to which verdict."""
    others = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (EXPLAINED, SURVIVED, NO_CYTHON))
    return f"{verdicts[SEEN]} of {compiled(verdicts)} seen, {others}"


if __name__ == "__main__":
    main()
