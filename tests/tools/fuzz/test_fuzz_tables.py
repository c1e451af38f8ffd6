"""A short run of the fuzzer of sealed tables."""

import pytest

from . import tables

pytestmark = pytest.mark.long

CALLS = 2_000


def test_no_secret_is_revealed() -> None:
    ends = tables.fuzz(CALLS)
    assert ends["calls"] == CALLS
    for name in "Look", "Move", "Acknowledge", "Amend", "SuggestMove", "GetRecord":
        assert ends[f"{name} OK"]
        assert ends[f"{name} INVALID_ARGUMENT"]
    assert ends["Look at two tables"] > 10
    assert ends["SuggestMove at two tables"]
    assert ends["Move at two tables"]
