"""`make test` runs one test of each product that `tools/over.py` makes, and all values of `parametrize`."""

import subprocess
import sys
from pathlib import Path

import pytest

from chatiere import engine

from .over import NAMES

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
IMPORTS = """
import pytest
from tools.needs import needs
from tools.over import each, over, over_games, over_names, over_tables
"""
HOOKS = (ROOT / "tests" / "conftest.py").read_text("utf-8")


def kept_of(pytester: pytest.Pytester, source: str) -> tuple[list[str], list[str]]:
    """Return the names of those tests of a module that `make test` runs, and the names of the rest."""
    pytester.makeconftest(HOOKS)
    module = pytester.makepyfile(IMPORTS + source)
    settings = ("-c", ROOT / "pyproject.toml", "--rootdir", pytester.path, "-p", "no:cacheprovider")
    items, _ = pytester.inline_genitems(*settings, module)
    kept = [item.name for item in items if item.get_closest_marker("repeated") is None]
    return kept, [item.name for item in items if item.name not in kept]


def test_one_test_of_a_product_is_kept(pytester: pytest.Pytester) -> None:
    kept, left_out = kept_of(
        pytester,
        """
@over_games
@over("door", ["grpcio", "fast", "web"])
def test_a_game_at_a_door(game, door): ...

@over_tables
def test_a_table(name, players): ...
""",
    )
    assert [name.partition("[")[0] for name in kept] == ["test_a_game_at_a_door", "test_a_table"]
    tables = sum(game.max_players - game.min_players + 1 for game in engine.games())
    assert len(left_out) == 3 * len(NAMES) - 1 + tables - 1


def test_all_values_of_other_parameters_are_kept(pytester: pytest.Pytester) -> None:
    kept, left_out = kept_of(
        pytester,
        """
@pytest.mark.parametrize("players", [-1, 0, 99, 2**64])
@pytest.mark.parametrize("seed", [-1, 2**64])
@over_names
def test_wrong_numbers(name, seed, players): ...

@pytest.mark.parametrize("game", ["tarock", ""])
@pytest.mark.parametrize(("door", "code"), [("fast", 3), ("fast", 12)])
def test_wrong_games(game, door, code): ...
""",
    )
    wrong = [(seed, players) for seed in (-1, 2**64) for players in (-1, 0, 99, 2**64)]
    (name,) = {name.partition("[")[2].partition("-")[0] for name in kept if name.startswith("test_wrong_numbers")}
    assert sorted(kept) == sorted(
        [f"test_wrong_numbers[{name}-{seed}-{players}]" for seed, players in wrong]
        + [f"test_wrong_games[{code}-{game}]" for code in ("fast-3", "fast-12") for game in ("tarock", "")]
    )
    assert len(left_out) == (len(NAMES) - 1) * len(wrong)


def test_fixtures_can_be_products(pytester: pytest.Pytester) -> None:
    kept, _ = kept_of(
        pytester,
        """
@pytest.fixture(params=each("door", ["grpcio", "fast"]))
def door(request): ...

@pytest.fixture(params=["empty", "full"])
def room(request): ...

def test_a_room_at_a_door(door, room): ...
""",
    )
    assert len(kept) == 2
    assert {name.rpartition("-")[2] for name in kept} == {"empty]", "full]"}


def test_a_test_that_lacks_a_program_is_kept_only_if_all_lack_it(pytester: pytest.Pytester) -> None:
    kept, _ = kept_of(
        pytester,
        """
missing = [pytest.param(door, marks=needs("a program that is nowhere")) for door in ("fast", "web")]
there = [pytest.param(door, marks=needs("python3")) for door in ("grpcio", "other")]
"""
        + "".join(
            f"""
@over("door", missing + there)
def test_door_{number}(door): ...

@over("door", missing)
def test_missing_{number}(door): ...
"""
            for number in range(20)
        ),
    )
    doors = [name.removesuffix("]").split("[") for name in kept]
    assert len(doors) == 40
    assert {door for name, door in doors if name.startswith("test_door")} == {"grpcio", "other"}
    assert {door for name, door in doors if name.startswith("test_missing")} == {"fast", "web"}


def test_all_games_occur_among_the_kept_tests(pytester: pytest.Pytester) -> None:
    kept, _ = kept_of(
        pytester, "".join(f"@over_names\ndef test_promise_{number}(name): ...\n\n" for number in range(100))
    )
    assert len(kept) == 100
    assert {name.partition("[")[2] for name in kept} == {f"{name}]" for name in NAMES}


def test_boundary_values_of_the_command_are_kept() -> None:
    """The tests of a module that `make test` runs."""
    test = "tests/command/test_command_perft.py::test_an_unsupported_number_of_players_is_refused"
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    listed = subprocess.run(
        [*collect, "-m", "not repeated and not long", test], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    kept = [line.partition("[")[2] for line in listed.splitlines() if line.startswith(test)]
    (name,) = {ids.rpartition("-")[2] for ids in kept}
    assert sorted(kept) == sorted(f"{players}-{name}" for players in (-1, 0, 99, 2**64))


def test_the_shares_of_commits_together_contain_all_repeated_tests(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(HOOKS)
    module = pytester.makepyfile(IMPORTS + "@over('value', range(40))\ndef test_a_value(value): ...\n")
    settings = ("-c", ROOT / "pyproject.toml", "--rootdir", pytester.path, "-p", "no:cacheprovider")

    def names(*options: str) -> set[str]:
        (collected,) = pytester.inline_run(*settings, *options, "--collect-only", module).getcalls(
            "pytest_collection_finish"
        )
        return {item.name for item in collected.session.items}

    shares = [names("--share", f"2/{commit}") for commit in range(20)]
    (kept,) = set.intersection(*shares)
    assert set.union(*shares) == names()
    assert names("-m", "not repeated", "--share", "2/0") == {kept}
    assert all(5 < len(share) < 35 for share in shares)
    assert names("--share", "2/0") == shares[0] != shares[1]


@pytest.mark.parametrize("share", ["0/a", "/a", "-1/a", "half"])
def test_a_wrong_share_is_refused(pytester: pytest.Pytester, share: str) -> None:
    pytester.makeconftest(HOOKS)
    module = pytester.makepyfile("def test_it(): ...")
    settings = ("-c", ROOT / "pyproject.toml", "--rootdir", pytester.path, "-p", "no:cacheprovider")
    assert pytester.inline_run(*settings, "--share", share, module).ret == pytest.ExitCode.USAGE_ERROR
