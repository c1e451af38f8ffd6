"""Plant faults in the sources, one at a time, and report those that the tests detect: `make mutants`.

The faults are a sample, the same for the same seed. One that no test detects is a gap in the tests, or is explained in
explained.toml: because nobody could see it (then it is not a fault, and another one takes its place in the sample), or
because no test should mind. Fails if fewer than 97 % are detected, or an undetected one is not explained.

With --resume each verdict is written down as it comes, in verdicts.jsonl, so that the run can be gone on with, on
another machine too: it is committed.
"""

import hashlib
import json
import os
import resource
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click

from chatiere.http2 import is_built

from .faults import Fault, flat
from .parts import ROOT, Part, parts
from .trial import COMPILER, TrialError, check, prepare, try_fault

VERDICTS = Path(__file__).with_name("verdicts.jsonl")
LOWEST_SHARE = 0.97
MAX_MEMORY = 8 << 30
SEEN, EXPLAINED, SURVIVED = "seen", "explained", "SURVIVED"
# Verdicts on changes that are not faults.
NO_CHANGE, NOT_COMPILED = "changes nothing", "does not compile"

Key = tuple[str, str, str, str]


def drawn_by(seed: int, *of: object) -> bytes:
    """Return a random sort key: the same for the same fault, whatever other faults there are."""
    return hashlib.sha256(repr((seed, *of)).encode()).digest()


def sample(statements: Iterable[list[Fault]], seed: int) -> list[Fault]:
    """Return faults in random order, one per statement. The order in one file does not depend on other files."""
    chosen = [min(listed, key=lambda fault: drawn_by(seed, fault.key)) for listed in statements]
    return sorted(chosen, key=lambda fault: drawn_by(seed, fault.key[:3]))


class Explanation(NamedTuple):
    """The reason for which no test detects a fault."""

    changes: bool  # False: nobody could see it, whatever is done
    why: str


def explanations() -> dict[Key, Explanation]:
    """Return the explanations in explained.toml, by the fault's key."""
    text = Path(__file__).with_name("explained.toml").read_text(encoding="utf-8")
    return {
        (entry["file"], entry["function"], flat(entry["before"]), flat(entry["after"])): Explanation(
            entry["changes"], entry["why"]
        )
        for entry in tomllib.loads(text)["fault"]
    }


class Verdicts:
    """The verdicts on the faults that were tried, kept in a file."""

    def __init__(self, path: Path | None) -> None:
        """Read a file, if there is one. None: keep nothing."""
        self._path = path
        self._seen_by: dict[Key, str | None] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._seen_by[tuple(entry["key"])] = entry["seen_by"]

    def __contains__(self, fault: Fault) -> bool:
        """Return whether a fault was tried."""
        return fault.key in self._seen_by

    def add(self, fault: Fault, seen_by: str | None) -> None:
        """Keep what detected a fault; None: nothing did."""
        self._seen_by[fault.key] = seen_by
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": fault.key, "seen_by": seen_by}) + "\n")

    def forget(self, fault: Fault) -> None:
        """Let a fault be tried again."""
        del self._seen_by[fault.key]

    def of(self, fault: Fault, explanation: Explanation | None) -> tuple[str, str]:
        """Return the verdict on a fault that was tried, and the test that detected it or the reason why none did."""
        if seen_by := self._seen_by[fault.key]:
            return (NOT_COMPILED if seen_by == COMPILER else SEEN), seen_by
        if explanation is None:
            return SURVIVED, "by no test"
        return (EXPLAINED if explanation.changes else NO_CHANGE), explanation.why


def tried(faults: list[Fault], owners: dict[str, Part], verdicts: Verdicts, processes: int) -> Iterator[Fault]:
    """Yield faults as soon as there is a verdict on them."""
    yield from [fault for fault in faults if fault in verdicts]
    pool = ThreadPoolExecutor(processes)
    try:
        running = {
            pool.submit(try_fault, fault, owners[fault.file]): fault for fault in faults if fault not in verdicts
        }
        for done in as_completed(running):
            verdicts.add(running[done], done.result())
            yield running[done]
    finally:
        pool.shutdown(cancel_futures=True)


@click.command()
@click.option("--count", default=400, show_default=True, help="Faults planted.")
@click.option("--seed", default=1, show_default=True, help="Of the sample.")
@click.option("--only", "chosen", multiple=True, type=click.Choice([*parts()]), help="These parts; else all.")
@click.option("--resume", is_flag=True, help="Go on with the run whose verdicts are kept, and keep more.")
@click.option("--again", is_flag=True, help="Try those again that survived it, in place of a sample.")
@click.option("--no-bound", is_flag=True, help="Do not fail for faults that no test detects.")
@click.option("--processes", default=os.cpu_count(), show_default=True, help="Faults that are tried at a time.")
def main(
    count: int, seed: int, chosen: tuple[str, ...], resume: bool, again: bool, no_bound: bool, processes: int
) -> None:
    """Plant faults in the sources and report those that the tests detect."""
    # Not for good: sanitizers reserve addresses for terabytes.
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    there = {name: part for name, part in parts().items() if not chosen or name in chosen}
    if not is_built():
        there.pop("http2", None)
    name_of = {str(path.relative_to(ROOT)): name for name, part in there.items() for path in part.sources}
    owners = {file: there[name] for file, name in name_of.items()}
    statements = [listed for part in there.values() for listed in part.faults()]
    explained = explanations()
    verdicts = Verdicts(VERDICTS if resume or again else None)

    def verdict_on(fault: Fault) -> tuple[str, str]:
        return verdicts.of(fault, explained.get(fault.key))

    if again:
        known = {fault.key: fault for listed in statements for fault in listed if fault in verdicts}
        wanted = [fault for fault in known.values() if verdict_on(fault)[0] == SURVIVED]
        count = len(wanted)
        for fault in wanted:
            verdicts.forget(fault)
    else:
        wanted = sample(statements, seed)
        click.echo(f"seed {seed}: {count} of {len(wanted)} statements")
    totals: dict[str, Counter[str]] = {}
    detecting = set()
    faults = iter(wanted)
    try:
        prepare()
        while batch := list(islice(faults, count - in_sample(sum(totals.values(), Counter())))):
            for fault in tried(batch, owners, verdicts, processes):
                verdict, why = verdict_on(fault)
                totals.setdefault(name_of[fault.file], Counter())[verdict] += 1
                if verdict == SEEN:
                    detecting.add(why)
                click.echo(f"{verdict}: {fault} ({why})")
        check(detecting)
    except TrialError as error:
        raise click.ClickException(str(error)) from error
    for name, counted in sorted(totals.items()):
        click.echo(f"{name}: {summary(counted)}")
    total = sum(totals.values(), Counter())
    click.echo(f"together: {summary(total)}")
    if not no_bound:
        sys.exit(bool(total[SURVIVED] or total[SEEN] < LOWEST_SHARE * in_sample(total)))


def in_sample(verdicts: Counter[str]) -> int:
    """Count the faults, without those that are not."""
    return verdicts[SEEN] + verdicts[EXPLAINED] + verdicts[SURVIVED]


def summary(verdicts: Counter[str]) -> str:
    """Describe the number of faults by verdict."""
    unseen = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (EXPLAINED, SURVIVED))
    others = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (NO_CHANGE, NOT_COMPILED))
    return f"{verdicts[SEEN]} of {in_sample(verdicts)} seen, {unseen}; besides {others}"


if __name__ == "__main__":
    main()
