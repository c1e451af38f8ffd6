"""The examples in docstrings run and print the documented results."""

import doctest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service.support import running

from chatiere import engine
from chatiere.clients import Client, SealedSeat, records
from chatiere.envs import TableEnv

DOCUMENTED = [engine.Game, engine.Position, TableEnv, Client, SealedSeat, records]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as server:
        yield server.address


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda documented: documented.__name__)
def test_the_examples_of_a_docstring_run(documented: Any, address: str, tmp_path: Path) -> None:
    names = {"address": address, "folder": tmp_path}
    test = doctest.DocTestParser().get_doctest(documented.__doc__, names, documented.__name__, None, None)
    assert len(test.examples) > 2
    runner = doctest.DocTestRunner()
    said: list[str] = []
    assert runner.run(test, out=said.append).failed == 0, "".join(said)
