"""The fast door keeps to HTTP/2 as h2spec asks it to."""

from collections.abc import Iterator

import pytest
from played_frames import FRAME_SIZE, LARGEST_FRAME

from ..process import Served, served
from .h2spec import CASES, NOT_WANTED
from .h2spec_steps import Case
from .peer import OK, TAKES_ALL, Bystander, Peer

# Without libnghttp2 there is no fast door.
pytest.importorskip("chatiere.http2.server", reason="the fast door was not built: libnghttp2 was not there")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--fast-address", "127.0.0.1:0") as server:
        yield server


@pytest.fixture
def bystander(server: Served) -> Iterator[Bystander]:
    with Bystander(server) as bystander:
        yield bystander


def test_the_cases_are_those_of_h2spec() -> None:
    names = {case.name for case in CASES}
    # 146, and one that only its strict mode has.
    assert len(names) == len(CASES) == 147
    assert names > NOT_WANTED.keys()


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in NOT_WANTED], ids=lambda case: case.name)
def test_h2spec(case: Case, server: Served, bystander: Bystander) -> None:
    with Peer(server, *case.greeting, greets=case.greets) as peer:
        if case.greets:
            # The server's settings hold once they are acknowledged.
            peer.ping()
        for step in case.steps(peer):
            if callable(step):
                step(peer)
            else:
                peer.send(step)
        case.then(peer)
    bystander.is_served()


def test_frames_may_be_as_large_as_http2_has_them(server: Served) -> None:
    with Peer(server) as peer:
        peer.ping()
        assert peer.settings[FRAME_SIZE] == LARGEST_FRAME


def test_a_stream_below_the_last_is_passed_over(server: Served) -> None:
    with Peer(server, *TAKES_ALL) as peer:
        peer.send(*peer.call(5), *peer.call(3), *peer.call(7))
        assert peer.end(7) == peer.end(5) == OK
        peer.ping()
        assert 3 not in peer.ends | peer.resets
