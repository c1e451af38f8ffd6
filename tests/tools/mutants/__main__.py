"""Plant faults in the sources, one at a time, and report which of them the tests detect: `make mutants`.

The faults are a sample that the seed determines. A fault that no test detects is a gap in the tests, unless
explained.toml explains the fault. Either the fault has no effect (then another fault replaces it in the sample), or no
test should fail for it. The command fails if fewer than 97 % of the faults are detected, or if an undetected fault has
no explanation.

With --resume, each verdict is written to verdicts.jsonl immediately. The file is committed, so that later runs can
continue from it, even on other machines. A fault whose test no longer exists is tried again. --report counts the
verdicts in the file on faults that the current sources can have.
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
from .trial import COMPILER, TrialError, check, gone, prepare, try_fault

VERDICTS = Path(__file__).with_name("verdicts.jsonl")
LOWEST_SHARE = 0.97
MAX_MEMORY = 8 << 30
SEEN, EXPLAINED, SURVIVED = "seen", "explained", "SURVIVED"
# The verdicts on changes that are not faults.
NO_CHANGE, NOT_COMPILED = "without effect", "not compiled"

Key = tuple[str, str, str, str]


def drawn_by(seed: int, *of: object) -> bytes:
    """Return a random sort key. The key of a fault does not depend on other faults."""
    return hashlib.sha256(repr((seed, *of)).encode()).digest()


def sample(statements: Iterable[list[Fault]], seed: int) -> list[Fault]:
    """Return faults in random order, one for each statement. The order in one file does not depend on other files."""
    chosen = [min(listed, key=lambda fault: drawn_by(seed, fault.key)) for listed in statements]
    return sorted(chosen, key=lambda fault: drawn_by(seed, fault.key[:3]))


class Explanation(NamedTuple):
    """The reason why no test detects a fault."""

    changes: bool  # False: no test could detect an effect of the fault
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
    """The verdicts on the faults that were tried, stored in a file."""

    def __init__(self, path: Path | None) -> None:
        """Read the file if it exists. None: do not store the verdicts."""
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
        """Store the test that detected a fault, or None if no test did."""
        self._seen_by[fault.key] = seen_by
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": fault.key, "seen_by": seen_by}) + "\n")

    def forget(self, fault: Fault) -> None:
        """Allow a fault to be tried again."""
        del self._seen_by[fault.key]

    def forget_gone(self) -> None:
        """Allow faults to be tried again if the tests that detected them no longer exist."""
        missing = gone(test for test in self._seen_by.values() if test not in (None, COMPILER))
        self._seen_by = {key: test for key, test in self._seen_by.items() if test not in missing}

    def of(self, fault: Fault, explanation: Explanation | None) -> tuple[str, str]:
        """Return the verdict on a fault that was tried, with the detecting test or the explanation."""
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
@click.option("--only", "chosen", multiple=True, type=click.Choice([*parts()]), help="Only these parts (default: all).")
@click.option("--resume", is_flag=True, help="Continue the stored run, and store more verdicts.")
@click.option("--again", is_flag=True, help="Try the undetected faults of the stored run again.")
@click.option("--report", is_flag=True, help="Only count the stored verdicts.")
@click.option("--no-bound", is_flag=True, help="Do not fail for faults that no test detects.")
@click.option("--processes", default=os.cpu_count(), show_default=True, help="Number of faults tried at the same time.")
def main(
    count: int,
    seed: int,
    chosen: tuple[str, ...],
    resume: bool,
    again: bool,
    report: bool,
    no_bound: bool,
    processes: int,
) -> None:
    """Plant faults in the sources and report which of them the tests detect."""
    # Set only the soft limit, because sanitizers reserve terabytes of address space.
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    there = {name: part for name, part in parts().items() if not chosen or name in chosen}
    if not is_built():
        there.pop("http2", None)
    name_of = {str(path.relative_to(ROOT)): name for name, part in there.items() for path in part.sources}
    owners = {file: there[name] for file, name in name_of.items()}
    statements = [listed for part in there.values() for listed in part.faults()]
    explained = explanations()
    verdicts = Verdicts(VERDICTS if resume or again or report else None)
    verdicts.forget_gone()

    def verdict_on(fault: Fault) -> tuple[str, str]:
        return verdicts.of(fault, explained.get(fault.key))

    if again or report:
        known = {fault.key: fault for listed in statements for fault in listed if fault in verdicts}
        wanted = [fault for fault in known.values() if report or verdict_on(fault)[0] == SURVIVED]
        count = len(wanted)
    else:
        wanted = sample(statements, seed)
        click.echo(f"seed {seed}: {count} of {len(wanted)} statements")
    if again:
        for fault in wanted:
            verdicts.forget(fault)
    totals: dict[str, Counter[str]] = {name: Counter() for name in there} if report else {}
    detecting = set()
    faults = iter(wanted)
    try:
        if not report:
            prepare()
        while batch := list(islice(faults, count - in_sample(sum(totals.values(), Counter())))):
            for fault in tried(batch, owners, verdicts, processes):
                verdict, why = verdict_on(fault)
                totals.setdefault(name_of[fault.file], Counter())[verdict] += 1
                if verdict == SEEN:
                    detecting.add(why)
                if not report:
                    click.echo(f"{verdict}: {fault} ({why})")
        if not report:
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
    """Count the verdicts on real faults."""
    return verdicts[SEEN] + verdicts[EXPLAINED] + verdicts[SURVIVED]


def summary(verdicts: Counter[str]) -> str:
    """Describe the number of faults by verdict."""
    unseen = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (EXPLAINED, SURVIVED))
    others = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in (NO_CHANGE, NOT_COMPILED))
    return f"{verdicts[SEEN]} of {in_sample(verdicts)} seen, {unseen}; besides {others}"


if __name__ == "__main__":
    main()
