"""The accounts of the fast door. Each address has an account. The IPv6 addresses of a /64 share an account."""

import ctypes
import importlib
import socket
from collections.abc import Iterator

import pytest
from tools.needs import require

from chatiere.engine import memory

require("libnghttp2")
server = importlib.import_module("chatiere.http2.server")


class Accounts:
    """The accounts in C. `open` returns a handle to an account."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(server.__file__)
        self._library.accounts_new.restype = self._library.account_open.restype = ctypes.c_void_p
        self._library.accounts_new.argtypes = [ctypes.c_double] * 2
        self._library.accounts_free.argtypes = [ctypes.c_void_p]
        self._library.account_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self._library.account_close.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._library.account_connections.argtypes = [ctypes.c_void_p]
        self._library.account_connections.restype = ctypes.c_size_t
        self._library.account_owed.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_double]
        self._library.account_owed.restype = ctypes.c_double
        self._library.accounts_sweep.argtypes = [ctypes.c_void_p, ctypes.c_double]
        self._accounts = self._library.accounts_new(1000, 100)

    def close(self) -> None:
        self._library.accounts_free(self._accounts)

    def open(self, address: str) -> int:
        found: int = self._library.account_open(self._accounts, socket.inet_pton(socket.AF_INET6, address))
        assert found
        return found

    def leave(self, account: int) -> None:
        self._library.account_close(self._accounts, account)

    def connections(self, account: int) -> int:
        return int(self._library.account_connections(account))

    def owed(self, account: int, cost: float, now: float) -> float:
        return float(self._library.account_owed(self._accounts, account, cost, now))

    def sweep(self, now: float) -> None:
        self._library.accounts_sweep(self._accounts, now)


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts()
    yield accounts
    accounts.close()


def test_neighbours_have_separate_accounts(accounts: Accounts) -> None:
    opened = [accounts.open(f"::ffff:192.0.{i >> 8}.{i & 255}") for i in range(2**13)]
    assert len(set(opened)) == len(opened)
    assert {accounts.connections(each) for each in opened} == {1}
    assert accounts.open("::ffff:192.0.0.7") == opened[7]
    assert accounts.connections(opened[7]) == 2


def test_a_64_network_has_one_account(accounts: Accounts) -> None:
    opened = {accounts.open(f"2001:db8:1:2:{i:x}:{i:x}:{i:x}:{i:x}") for i in range(200)}
    assert len(opened) == 1
    assert accounts.connections(*opened) == 200
    assert accounts.open("2001:db8:1:3::1") not in opened


def test_a_debt_is_paid_only_by_time(accounts: Accounts) -> None:
    account = accounts.open("2001:db8::1")
    assert accounts.owed(account, 500, 10.0) == 500
    accounts.leave(account)
    assert accounts.open("2001:db8::2") == account
    assert accounts.owed(account, 0, 10.25) == 250
    accounts.leave(account)
    # A sweep does not remove an account that is in debt.
    accounts.sweep(10.3)
    assert accounts.open("2001:db8::1") == account
    assert accounts.owed(account, 0, 10.3) == pytest.approx(200)


def test_an_account_without_debt_and_connections_is_forgotten(accounts: Accounts) -> None:
    before = memory.allocated_bytes()
    if before is None:
        pytest.skip("this C library does not report allocated memory")
    opened = [accounts.open(f"2001:db8:{i >> 8:x}:{i & 255:x}::1") for i in range(2**14)]
    for each in opened:
        accounts.leave(each)
    held = memory.allocated_bytes()
    accounts.sweep(2.0)
    assert held is not None
    assert (left := memory.allocated_bytes()) is not None
    # An account has places in lists, a group, connections and a debt.
    assert held - left >= 2**14 * 48
