"""The fuzzer itself: it sends every kind of message, and detects wrong responses of the service."""

import random
from itertools import islice

import pytest

from tools.needs import require

from . import wire

require("libnghttp2")

pytestmark = pytest.mark.long


def test_a_server_handles_thousands_of_messages() -> None:
    fuzzer = wire.fuzz(4_000, float("inf"), seed=2)
    assert fuzzer.states >= 3_000
    assert fuzzer.messages >= 1_000
    assert fuzzer.conversations >= 250
    # Some messages are valid by chance, but most are not. Both kinds occur.
    assert fuzzer.codes["OK"] > 0
    assert fuzzer.codes["INVALID_ARGUMENT"] > fuzzer.codes["OK"]
    assert fuzzer.reasons["ERROR_REASON_INVALID_STATE"] > 0


def test_the_same_seed_sends_the_same_messages() -> None:
    for make in (wire.bad_messages, wire.bad_conversations):
        first, second = (list(islice(make(random.Random(5)), 40)) for _ in range(2))
        assert first == second


def test_every_method_with_one_request_is_called() -> None:
    methods = {path for path, _ in islice(wire.bad_messages(random.Random(5)), 3_000)}
    unary = [method for service in wire.SERVICES for method in service.methods if not method.client_streaming]
    assert len(methods) == len(unary)


def test_a_fault_of_the_service_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ANSWERS", set())
    with pytest.raises(wire.Finding, match="ended as"):
        wire.fuzz(4_000, float("inf"), seed=2)
