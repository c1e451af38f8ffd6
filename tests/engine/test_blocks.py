"""Blocks reuse memory that no object refers to. Areas carry messages between two processes."""

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools.needs import needs
from tools.over import over_games

from chatiere.engine import Game
from chatiere.engine.core.batch import Table
from chatiere.engine.core.blocks import Area, Block, BlockPool, receive_packet, send_packet
from chatiere.engine.core.choices import random_actions
from chatiere.engine.core.columns import Columns, PositionColumns, Restart

HUGE = 1 << 21
COLUMNS = Columns(legal=True, observations=True, final_scores=True)
GAMES, STEPS = 9, 30
# What keeps a block in use, made of the block.
HOLDERS = (
    lambda block: block,
    memoryview,
    lambda block: np.frombuffer(block, np.uint8),
    lambda block: np.frombuffer(block, np.uint8).reshape(1, -1)[:, :1],
    lambda block: np.ndarray((len(block),), np.uint8, block)[1:],
    lambda block: np.frombuffer(block, np.uint8).data,
)


def address(block: Block) -> int:
    return np.frombuffer(memoryview(block), np.uint8).ctypes.data


@given(st.lists(st.tuples(st.integers(1, 300), st.sampled_from(HOLDERS), st.integers(0, 8)), max_size=40))
def test_a_block_in_use_is_not_changed(taken: list[tuple[int, Any, int]]) -> None:
    pool = BlockPool(3)
    held: list[tuple[Any, bytes]] = []
    for number, (size, hold, kept) in enumerate(taken):
        block = pool.take(size, writable=True)
        np.frombuffer(memoryview(block), np.uint8)[:] = number
        holder = hold(block)
        del block
        held = [*held, (holder, bytes(holder))][-kept:] if kept else []
        del holder
        assert all(bytes(holder) == expected for holder, expected in held)


@pytest.mark.parametrize("size", [0, 1, 1000, HUGE - 1, HUGE, 3 * HUGE])
def test_a_block_is_used_again_once_it_is_released(size: int) -> None:
    pool = BlockPool()
    first = pool.take(size)
    assert len(first) == len(memoryview(first)) == size
    assert address(first) % (HUGE if size >= HUGE else 64) == 0
    second = pool.take(size)
    places = {address(first), address(second)}
    assert len(places) == 2
    view = memoryview(first)
    del first
    third = address(pool.take(size))
    assert third not in places
    del second, view
    again = [pool.take(size) for _ in range(3)]
    assert set(map(address, again)) == {*places, third}


def test_a_smaller_size_uses_the_same_memory_and_a_larger_one_has_a_margin() -> None:
    pool = BlockPool(1)
    first, smaller, same, larger, again = (address(pool.take(size)) for size in (1000, 1, 1000, 100_000, 125_000))
    assert first == smaller == same
    assert larger == again


def test_only_writable_blocks_have_writable_arrays() -> None:
    pool = BlockPool()
    assert memoryview(pool.take(8)).readonly
    assert not memoryview(pool.take(8, writable=True)).readonly
    assert not np.frombuffer(memoryview(pool.take(8)), np.uint8).flags.writeable


def test_a_pool_forgets_the_oldest_of_its_blocks() -> None:
    pool = BlockPool(2)
    held = [pool.take(64) for _ in range(5)]
    places = [address(block) for block in held]
    assert len(set(places)) == 5
    del held[3:]
    again = [pool.take(64), pool.take(64)]
    assert sorted(map(address, again)) == sorted(places[3:])


# Tables


def played(table: Table, steps: int) -> Iterator[PositionColumns]:
    """Play random games. Each game that ends is replaced by a new one. Yield the positions without keeping them."""
    positions = table.new_games(seeds=np.arange(GAMES, dtype=np.uint64), columns=COLUMNS)
    yield positions
    for step in range(steps):
        luck = np.arange(GAMES, dtype=np.uint64) * np.uint64(2**60) + np.uint64(step)
        offsets = np.frombuffer(positions.legal_offsets, np.uint32)
        moves = random_actions(offsets, np.frombuffer(positions.legal_ids, np.uint16), luck)
        positions, faults = table.step(positions.states, moves, columns=COLUMNS, restart=Restart(stride=GAMES))
        assert not faults.items
        yield positions


@over_games
@given(rounds=st.lists(st.sets(st.integers(0, STEPS)), min_size=1, max_size=3))
@settings(max_examples=20)
def test_columns_that_are_kept_never_change(game: Game, rounds: list[set[int]]) -> None:
    expected = [tuple(map(bytes, positions)) for positions in played(Table(game, game.min_players), STEPS)]
    table = Table(game, game.min_players, reuse_memory=True)
    for kept in rounds:
        found = {step: positions for step, positions in enumerate(played(table, STEPS)) if step in kept}
        for step, positions in found.items():
            assert tuple(map(bytes, positions)) == expected[step]


@over_games
def test_a_table_reuses_the_memory_of_its_columns(game: Game) -> None:
    table = Table(game, game.min_players, reuse_memory=True)
    places: dict[str, set[int]] = {name: set() for name in PositionColumns._fields if name != "weights"}
    # The first round enlarges the columns of varying size.
    for round in range(2):
        for positions in played(table, 150):
            for name, found in places.items() if round else ():
                found.add(address(getattr(positions, name)))
    assert all(2 <= len(found) <= 4 for found in places.values()), places


@over_games
def test_threads_that_share_a_table_have_separate_memory(game: Game) -> None:
    expected = [tuple(map(bytes, positions)) for positions in played(Table(game, game.min_players), STEPS)]
    table = Table(game, game.min_players, reuse_memory=True)
    with ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(lambda: [tuple(map(bytes, found)) for found in played(table, STEPS)]) for _ in range(8)]
    assert all(run.result() == expected for run in runs)


@over_games
def test_a_table_that_reuses_memory_reports_the_same_faults(game: Game) -> None:
    tables = [Table(game, game.min_players), Table(game, game.min_players, reuse_memory=True)]
    states = b"".join(game.new_game(game.min_players, seed=seed).pack() for seed in range(3))
    broken = bytes(len(states) // 3) + states[len(states) // 3 :]
    moves = np.full(3, 0xFFFF, np.uint16)
    (positions, faults), (others, same) = [table.step(broken, moves, columns=COLUMNS) for table in tables]
    assert faults == same
    assert len(faults.items) == 3
    assert tuple(map(bytes, positions)) == tuple(map(bytes, others))
    # The table checks states that it has not made.
    assert tables[1].step(others.states, moves)[1].items[0].reason == faults.items[0].reason


# Shared memory


@given(st.lists(st.binary(max_size=40), max_size=6), st.sampled_from([1, 16]), st.integers(0, 5))
def test_a_message_in_an_area_is_read_as_it_was_written(pieces: list[bytes], alignment: int, number: int) -> None:
    memory = bytearray(2 * 512)
    area = Area(memory)
    size = area.put(number, pieces, alignment)
    assert size == sum(-(-len(piece) // alignment) * alignment for piece in pieces) <= area.half == 512
    assert area.take(number, map(len, pieces), alignment) == pieces
    # The other half is unchanged.
    begin = 512 * (number % 2)
    assert not any(memory[:begin] + memory[begin + size :])
    assert Area(bytes(memory)).take(number, map(len, pieces), alignment) == pieces


def test_a_message_larger_than_half_of_an_area_is_not_written_beyond_it() -> None:
    area = Area(bytearray(64))
    assert area.put(0, [b"x" * 30, b"y" * 3], 1) == 33
    assert area.take(1, [32], 1) == [bytes(32)]
    assert (len(area), area.half, area.memory) == (64, 32, b"x" * 30 + bytes(34))
    # Each number has a half, even a negative one.
    assert area.put(-1, [b"z"], 1) == 1
    assert area.memory == b"x" * 30 + bytes(2) + b"z" + bytes(31)


@pytest.mark.parametrize("sizes", [[33], [2**64 - 1], [30, 3], [32, 2**64 - 1]])
@pytest.mark.parametrize("number", [0, 1])
def test_no_more_than_half_of_an_area_is_read(sizes: list[int], number: int) -> None:
    with pytest.raises(ValueError, match="the message is larger than its memory"):
        Area(bytearray(64)).take(number, sizes, 1)


def test_alignment_does_not_pass_the_end_of_an_area() -> None:
    with pytest.raises(ValueError, match="the message is larger than its memory"):
        Area(bytearray(60)).take(1, [30, 0], 16)


def test_nothing_is_written_into_an_area_that_is_read_only() -> None:
    area = Area(bytes(64))
    assert area.put(0, [b"x"], 1) == 1
    assert area.memory == bytes(64)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        yield one, other


@needs("/proc")
def test_packets_arrive_in_order(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = (each.fileno() for each in ends)
    assert receive_packet(other, 3, False) is None
    send_packet(one, (1, 2**64 - 1, 0), False)
    send_packet(one, range(12), True)
    assert receive_packet(other, 3, True) == (1, 2**64 - 1, 0)
    assert receive_packet(other, 12, False) == tuple(range(12))
    ends[0].close()
    assert receive_packet(other, 3, True) == ()
    with pytest.raises(BrokenPipeError):
        send_packet(other, (1,), False)
    with pytest.raises(OSError, match="Bad file descriptor"):
        receive_packet(-1, 3, False)


@needs("/proc")
@pytest.mark.parametrize("numbers", [(1, 2), (1, 2, 3, 4)])
def test_a_packet_of_another_size_is_an_error(
    ends: tuple[socket.socket, socket.socket], numbers: tuple[int, ...]
) -> None:
    send_packet(ends[0].fileno(), numbers, False)
    with pytest.raises(ValueError, match="unexpected size"):
        receive_packet(ends[1].fileno(), 3, False)


@needs("/proc")
def test_a_packet_has_at_most_twelve_numbers(ends: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(ValueError, match="too many numbers"):
        send_packet(ends[0].fileno(), range(13), False)
    send_packet(ends[0].fileno(), range(12), False)
    with pytest.raises(ValueError, match="unexpected size"):
        receive_packet(ends[1].fileno(), 13, False)


@needs("/proc")
def test_waiting_for_a_packet_continues_after_a_signal(ends: tuple[socket.socket, socket.socket]) -> None:
    signals = count()

    def handle(*_: object) -> None:
        # The first signal may arrive before the wait begins. A later one interrupts it.
        if next(signals):
            send_packet(ends[0].fileno(), (7,), False)

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        assert receive_packet(ends[1].fileno(), 1, True) == (7,)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
