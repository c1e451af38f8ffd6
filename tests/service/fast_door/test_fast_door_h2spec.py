"""The fast door passes the tests of h2spec for HTTP/2."""

from collections.abc import Iterator

import pytest
from tools.needs import require
from tools.played_frames import PROTOCOL_ERROR, Frame, data, priority, window

from ..process import Served, served
from .h2spec import CASES
from .h2spec_steps import CLOSED_WINDOW, COMMON, LAST, MESSAGE, Case
from .peer import LIST_GAMES, OK, Bystander, Peer

require("libnghttp2")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--fast-address", "127.0.0.1:0") as server:
        yield server


def test_the_cases_match_h2spec_s() -> None:
    names = {case.name for case in CASES}
    # h2spec has 146 cases, and one more case in its strict mode.
    assert len(names) == len(CASES) == 147


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_h2spec(case: Case, server: Served, bystander: Bystander) -> None:
    with Peer(server, *case.greeting, greets=case.greets) as peer:
        if case.greets:
            # The server's settings are in force once they are acknowledged.
            peer.ping()
        for step in case.steps(peer):
            if callable(step):
                step(peer)
            else:
                peer.send(step)
        case.then(peer)
    bystander.is_served()


@pytest.mark.parametrize("skipped", [1, 3, 9, 11])
def test_a_skipped_stream_is_closed(server: Served, bystander: Bystander, skipped: int) -> None:
    with Peer(server) as peer:
        peer.send(*peer.call(5), *peer.call(7), *peer.call(13))
        assert peer.end(5) == peer.end(7) == peer.end(13) == OK
        peer.send(*peer.call(skipped))
        assert peer.goodbye()[0] == PROTOCOL_ERROR
    bystander.is_served()


def test_trailers_of_an_earlier_stream_do_not_open_a_new_one(server: Served) -> None:
    with Peer(server) as peer:
        peer.send(peer.headers(1, path=LIST_GAMES), *peer.call(7), data(MESSAGE))
        assert peer.end(7) == OK
        peer.send(peer.block([("x-test", "ok")], flags=LAST))
        assert peer.end() == OK


@pytest.mark.parametrize("frame", [window(1, 1), priority(1)], ids=["WINDOW_UPDATE", "PRIORITY"])
def test_a_response_without_data_needs_no_window(server: Served, frame: Frame) -> None:
    with Peer(server, *CLOSED_WINDOW) as peer:
        peer.send(peer.block([(":method", "GET"), *COMMON[1:]], flags=LAST), frame)
        assert peer.trailers()[":status"] == "405"
        peer.ping()
