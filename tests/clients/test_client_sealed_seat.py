"""The client of sealed tables: its seat's file, forks, retries, text."""

import json
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from chatiere.clients import ChatiereError, ForkError, SealedSeat
from chatiere.clients.sealed_seat import awaited, hash_of, header_of, missing_seats, table_of, text_of, to_send
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1 import table_service_pb2 as pb

NONE, NEXT = pb.ACKNOWLEDGEMENT_NONE, pb.ACKNOWLEDGEMENT_NEXT


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


@pytest.fixture
def seats(address: str, tmp_path: Path) -> Iterator[list[SealedSeat]]:
    with ExitStack() as stack:
        yield [stack.enter_context(SealedSeat(address, tmp_path / f"seat {number}")) for number in range(2)]


@pytest.fixture
def three_seats(seats: list[SealedSeat], address: str, tmp_path: Path) -> Iterator[list[SealedSeat]]:
    with SealedSeat(address, tmp_path / "seat 2") as third:
        yield [*seats, third]


def begun(seats: list[SealedSeat], mode: pb.Acknowledgement) -> tuple[bytes, int]:
    """Return an open table at which a seat can choose, and the seat."""
    table = seats[0].new_table("chat_perche", [each.seat for each in seats], mode).table
    while True:
        if mode == NEXT:
            for each in seats:
                table = each.acknowledge(table)
        actor = seats[0].look(table).view.turn.seat
        legal = seats[actor].look(table).legal_actions
        if len(legal) > 1:
            return table, actor
        table = seats[actor].move(table, legal[0]).table


def test_a_seat_is_identified_by_its_file(address: str, tmp_path: Path) -> None:
    path = tmp_path / "seat"
    with SealedSeat(address, path) as me:
        seat = me.seat
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with SealedSeat(address, path) as again, SealedSeat(address, tmp_path / "other") as other:
        assert again.seat == seat
        assert other.seat != seat
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other", "seat"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"secret": "00", "tables": {}}', '{"secret": 5, "tables": {}}'])
def test_other_files_are_refused(address: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "seat"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not the file of a seat"):
        SealedSeat(address, path)
    assert path.read_text() == text


def test_a_player_can_use_a_secret_generated_by_the_service(
    address: str, seats: list[SealedSeat], tmp_path: Path
) -> None:
    response = seats[0].new_table("discat", [seats[0].seat, pb.TableSeat()], NONE)
    (made,) = response.secrets
    path = tmp_path / "theirs"
    with SealedSeat(address, path, secret=made.secret) as theirs:
        assert theirs.look(response.table).seat == made.seat == 1
        seat = theirs.seat
    with SealedSeat(address, path) as again:
        assert again.seat == seat
    with SealedSeat(address, path, secret=made.secret) as again:
        assert again.seat == seat
    text = path.read_text()
    with pytest.raises(ValueError, match="theirs is the file of another seat"):
        SealedSeat(address, path, secret=bytes(16))
    assert path.read_text() == text
    with pytest.raises(ValueError, match="a secret has 16 bytes, not 15"):
        SealedSeat(address, tmp_path / "short", secret=bytes(15))
    assert not (tmp_path / "short").exists()


def test_a_game_by_hand(seats: list[SealedSeat]) -> None:
    table, actor = begun(seats, NONE)
    update = seats[actor].look(table)
    assert update.seat == actor
    assert not seats[1 - actor].look(table).legal_actions
    assert not seats[actor].look(table, as_spectator=True).HasField("seat")
    response = seats[actor].move(table, update.legal_actions[0].id)
    assert response.update == seats[actor].look(response.table)
    assert seats[actor].move(table, update.legal_actions[0]).table == response.table
    assert seats[actor].suggest(table, "random", seed=3).seat == actor
    with pytest.raises(ChatiereError) as error:
        seats[0].get_record([table])
    assert error.value.reason in ("INVALID_HISTORY", "GAME_NOT_OVER")


def test_one_child_per_parent(seats: list[SealedSeat], address: str, tmp_path: Path) -> None:
    """This is also true after a restart, because the child is stored before the acknowledgement is returned."""
    table, actor = begun(seats, NEXT)
    legal = seats[actor].look(table).legal_actions
    child = seats[actor].move(table, legal[0]).table
    acknowledged = seats[1 - actor].acknowledge(child)
    assert seats[1 - actor].acknowledge(child) == acknowledged
    assert hash_of(acknowledged) == hash_of(child)
    # The mover's own client does not make a fork either.
    assert seats[actor].move(table, legal[0]).table == child
    with pytest.raises(ForkError):
        seats[actor].move(table, legal[1])
    # A client with another file and the same secret makes a fork.
    stored = json.loads((tmp_path / f"seat {actor}").read_text())
    (tmp_path / "cheat").write_text(json.dumps(stored | {"tables": {}}))
    with SealedSeat(address, tmp_path / "cheat") as cheat:
        fork = cheat.move(table, legal[1]).table
    assert hash_of(fork) != hash_of(child)
    seats[1 - actor].close()
    with SealedSeat(address, tmp_path / f"seat {1 - actor}") as restarted:
        with pytest.raises(ForkError, match="two tables of ply"):
            restarted.acknowledge(fork)
        assert restarted.acknowledge(child) == acknowledged


def test_one_table_per_ply(three_seats: list[SealedSeat], address: str, tmp_path: Path) -> None:
    """If a mover and the next seat conspire to make two branches, the third seat acknowledges only one branch."""
    table = three_seats[0].new_table("discat", [each.seat for each in three_seats], NEXT).table
    for each in three_seats:
        table = each.acknowledge(table)
    mover = three_seats[0].look(table).view.turn.seat
    helper, honest = (mover + 1) % 3, (mover + 2) % 3
    branches = []
    for place in range(2):
        # The conspirators have a file for each branch.
        for seat in mover, helper:
            stored = json.loads((tmp_path / f"seat {seat}").read_text())
            (tmp_path / f"cheat {place} {seat}").write_text(json.dumps(stored))
        with SealedSeat(address, tmp_path / f"cheat {place} {mover}") as one:
            child = one.move(table, one.look(table).legal_actions[place]).table
        with SealedSeat(address, tmp_path / f"cheat {place} {helper}") as other:
            child = other.acknowledge(child)
            branches.append(other.move(child, other.look(child).legal_actions[0]).table)
    first, second = map(header_of, branches)
    assert first.ply == second.ply
    assert first.parent != second.parent
    assert three_seats[honest].acknowledge(branches[0])
    with pytest.raises(ForkError, match="two tables of ply 2"):
        three_seats[honest].acknowledge(branches[1])


def test_a_seat_consents_to_one_table_per_ply(three_seats: list[SealedSeat]) -> None:
    """A seat that has consented to an amendment neither acknowledges another amendment nor moves."""
    one, two, three = three_seats
    table = one.new_table("chat_perche", [one.seat, two.seat], NEXT, allows_replacement=True).table
    table = two.acknowledge(one.acknowledge(table))
    bot = pb.TableSeat(bot="random")
    first = one.replace(table, 0, bot)
    assert header_of(first).allows_replacement
    assert (missing_seats(first), awaited(first), to_send([table, first], [0]).seats) == ([1], [1], [1])
    with pytest.raises(ForkError):
        one.replace(table, 0, three.seat)
    assert missing_seats(two.acknowledge(first)) == []
    for seat in range(2):
        with pytest.raises(ForkError):
            two.replace(table, seat, bot)


def test_decisions_are_taken_back_if_all_agree(seats: list[SealedSeat]) -> None:
    one, two = seats
    tables = [one.new_table("chat_perche", [one.seat, two.seat], NONE).table]
    for _ in range(4):
        mover = seats[one.look(tables[-1]).view.turn.seat]
        tables.append(mover.move(tables[-1], mover.look(tables[-1]).legal_actions[0]).table)
    made = one.take_back(tables[1:])
    assert (header_of(made).mover, missing_seats(made)) == (-1, [1])
    assert two.look(two.acknowledge(made)) == two.look(tables[1])
    with pytest.raises(ValueError, match="no tables were given"):
        one.take_back([])


def test_only_one_process_at_a_time_has_a_seat(address: str, tmp_path: Path) -> None:
    """This is also true for a rewritten file and for a new file."""
    program = "import sys; from chatiere.clients import SealedSeat; SealedSeat(*sys.argv[1:]).close()"
    other = [sys.executable, "-c", program, address, str(tmp_path / "seat 0")]
    with SealedSeat(address, tmp_path / "seat 0") as me, SealedSeat(address, tmp_path / "seat 1") as next_seat:
        for _ in range(2):
            with pytest.raises(BlockingIOError, match="the seat is in use by another SealedSeat"):
                SealedSeat(address, tmp_path / "seat 0")
            begun([me, next_seat], NEXT)
        ended = subprocess.run(other, capture_output=True, text=True, timeout=60)
        assert ended.stderr.rstrip().endswith(f"the seat is in use by another SealedSeat: '{tmp_path / 'seat 0'}'")
    assert subprocess.run(other, timeout=60).returncode == 0


def test_of_many_simultaneous_creators_one_gets_the_seat(address: str, tmp_path: Path) -> None:
    made: list[SealedSeat] = []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        try:
            made.append(SealedSeat(address, tmp_path / "seat"))
        except BlockingIOError as error:
            assert "the seat is in use by another SealedSeat" in str(error)

    with ThreadPoolExecutor(8) as threads:
        for attempt in [threads.submit(make) for _ in range(8)]:
            attempt.result()
    (first,) = made
    seat = first.seat
    first.close()
    assert [each.name for each in tmp_path.iterdir()] == ["seat"]
    with SealedSeat(address, tmp_path / "seat") as again:
        assert again.seat == seat


def test_refused_tables_are_not_kept(seats: list[SealedSeat], tmp_path: Path) -> None:
    """Otherwise a forged child would keep a seat from acknowledging the true child."""
    table, actor = begun(seats, NEXT)
    child = seats[actor].move(table, seats[actor].look(table).legal_actions[0]).table
    before = (tmp_path / f"seat {1 - actor}").read_text()
    with pytest.raises(ChatiereError, match=r"INVALID_TABLE|no table"):
        seats[1 - actor].acknowledge(child[:-1] + bytes([child[-1] ^ 1]))
    assert (tmp_path / f"seat {1 - actor}").read_text() == before
    assert seats[1 - actor].acknowledge(child)


def test_without_acknowledgement_a_move_can_be_taken_back(seats: list[SealedSeat]) -> None:
    table, actor = begun(seats, NONE)
    legal = seats[actor].look(table).legal_actions
    assert seats[actor].move(table, legal[0]).table != seats[actor].move(table, legal[1]).table


def test_the_file_stays_intact_if_it_cannot_be_written(seats: list[SealedSeat], tmp_path: Path) -> None:
    table, actor = begun(seats, NEXT)
    child = seats[actor].move(table, seats[actor].look(table).legal_actions[0]).table
    path = tmp_path / f"seat {1 - actor}"
    before = path.read_text()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The limit on the size of files is below this file's size. This has the same effect as a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            seats[1 - actor].acknowledge(child)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == before
    assert len(list(tmp_path.iterdir())) == 2


@given(st.binary(max_size=60))
def test_tables_as_text(table: bytes) -> None:
    text = text_of(table)
    assert not set(text) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert table_of(f" {text}\n") == table


@pytest.mark.parametrize("text", ["é", "a b", "a=b", "abcde", "+/+/"])
def test_invalid_texts_of_tables(text: str) -> None:
    with pytest.raises(ValueError, match="a table as text is base64url"):
        table_of(text)


def test_invalid_bytes_of_tables() -> None:
    for read in header_of, hash_of:
        with pytest.raises(ValueError, match="not a sealed table"):
            read(b"\xff")
