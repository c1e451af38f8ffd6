"""The compiled modules of a call behave like their sources, run as plain Python: in responses, metrics and the log."""

import re
import subprocess
import sys
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest
from tools.over import over

from chatiere.service.calls import conversion, game_service
from chatiere.service.exchange import exchange
from chatiere.service.guards import chain, counts, limits

TESTS = Path(__file__).parents[2]
# Makes Python import the modules of these folders only from their sources.
PLAIN = """
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

def finder(path):
    if not path.endswith(("/service/guards", "/service/calls", "/service/exchange")):
        raise ImportError(path)
    return FileFinder(path, (SourceFileLoader, SOURCE_SUFFIXES))

sys.path_hooks.insert(0, finder)
"""
MAKE = """
from pathlib import Path
from chatiere.service.calls import conversion, game_service
from chatiere.service.exchange import exchange
from chatiere.service.guards import chain, counts, limits
from service.exchange.many_calls import make
modules = (chain, conversion, counts, exchange, game_service, limits)
assert {{Path(each.__file__).suffix for each in modules}} == {{"{suffix}"}}
make({seed}, {count}, Path({folder!r}), in_files={in_files}, has_tokens={has_tokens})
"""
# Patterns of lines, with the minimum number of lines that match them for 2,000 calls.
MET = {
    r" Status\(code=0,": 400,
    r"code=3,.*reason='(?!INVALID_LANGUAGE)": 20,
    "INVALID_LANGUAGE": 20,
    "calls of one client a second": 20,
    "calls of one client at a time": 5,
    "code=4,": 20,
    r"code=1,": 1,
    "code=12,": 10,
}


def make(way: str, folder: Path, **options: object) -> subprocess.Popen[str]:
    own = folder / way[1:]
    own.mkdir()
    code = (PLAIN if way == ".py" else "") + MAKE.format(suffix=way, folder=str(own), **options)
    return subprocess.Popen([sys.executable, "-c", code], cwd=TESTS, stdout=subprocess.PIPE, text=True)


def compare(seed: int, count: int, folder: Path, *, in_files: bool, has_tokens: bool) -> Counter[str]:
    """Make the same calls in both ways, and compare the lines. Return the number of lines for each pattern of MET."""
    options = {"seed": seed, "count": count, "in_files": in_files, "has_tokens": has_tokens}
    met: Counter[str] = Counter()
    with make(".so", folder, **options) as compiled, make(".py", folder, **options) as plain:
        assert compiled.stdout is not None
        assert plain.stdout is not None
        try:
            for ours, expected in zip_longest(compiled.stdout, plain.stdout):
                assert ours == expected
                met.update(part for part in MET if re.search(part, ours))
        finally:
            compiled.terminate()
            plain.terminate()
    assert (compiled.returncode, plain.returncode) == (0, 0)
    return met


def test_the_modules_are_compiled() -> None:
    modules = (chain, conversion, counts, exchange, game_service, limits)
    assert {Path(each.__file__ or "").suffix for each in modules} == {".so"}


@pytest.mark.parametrize(("in_files", "has_tokens"), [(False, True), (True, False)])
def test_compiled_modules_behave_as_their_sources(tmp_path: Path, in_files: bool, has_tokens: bool) -> None:
    met = compare(1, 2_000, tmp_path, in_files=in_files, has_tokens=has_tokens)
    assert {part: met[part] for part, least in MET.items() if met[part] < least} == {}


@pytest.mark.long
@over("seed", range(2, 6))
def test_compiled_modules_behave_as_their_sources_in_many_calls(tmp_path: Path, seed: int) -> None:
    compare(seed, 10_000, tmp_path, in_files=seed % 2 == 0, has_tokens=seed % 3 == 0)
