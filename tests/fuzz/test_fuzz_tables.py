"""A short run of the fuzzer of sealed tables."""

from . import tables

CALLS = 2_000


def test_nothing_is_told() -> None:
    ends = tables.fuzz(CALLS)
    assert ends["calls"] == CALLS
    for name in "Look", "Move", "Acknowledge", "SuggestMove", "GetRecord":
        assert ends[f"{name} OK"]
        assert ends[f"{name} INVALID_ARGUMENT"]
    assert ends["Look at two tables"] > 10
    assert ends["SuggestMove at two tables"]
    assert ends["Move at two tables"]
