"""An option for pytest: --share runs a part of the tests with the mark `repeated` (see `over.py`), to save time.

`--share 4/abc` runs about one in four of them. `abc` and the name of a test determine whether it runs. `.ci/run` uses
the commit as `abc`, so that consecutive commits run different parts.
"""

import hashlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """See pytest."""
    parser.addoption("--share", metavar="N/SEED", help="run one in N of the repeated tests, chosen by SEED")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the repeated tests outside the share."""
    if not (share := config.getoption("--share")):
        return
    one_in, _, seed = share.partition("/")
    if not (one_in.isdecimal() and int(one_in)):
        raise pytest.UsageError(f"--share: N must be a whole number above 0, not {one_in!r}")
    left_out = [
        item for item in items if item.get_closest_marker("repeated") and _number(f"{seed} {item.nodeid}") % int(one_in)
    ]
    config.hook.pytest_deselected(items=left_out)
    dropped = set(left_out)
    items[:] = [item for item in items if item not in dropped]


def _number(text: str) -> int:
    # A checksum would not be suitable: another seed would change the checksums of all texts in the same way.
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
