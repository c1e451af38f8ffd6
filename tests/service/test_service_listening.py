"""The sockets at which ports listen, for each kind of address."""

import errno
import socket

import pytest

from chatiere.service.base.settings import SettingError
from chatiere.service.ports.listening import HeldPort, listening_sockets


@pytest.mark.parametrize("address", ["no-such-host.invalid:1", "192.0.2.1:0", "a..b:0", f"{'a' * 64}:0"])
def test_an_address_that_is_not_this_machine_s_is_refused(address: str) -> None:
    for listen in (
        lambda: HeldPort(address, "fast_address"),
        lambda: listening_sockets("fast_address", address),
    ):
        with pytest.raises(SettingError, match=f"^fast_address: cannot listen on {address}: ."):
            listen()


def test_a_machine_without_one_of_the_families_listens_on_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    make = socket.socket

    def refuse(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return make(family, kind)

    places = [
        (family, socket.SOCK_STREAM, 0, "", (host, 0))
        for family, host in ((socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.1"))
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    monkeypatch.setattr(socket, "socket", refuse)
    (listening,) = listening_sockets("fast_address", "localhost:0")
    assert listening.getsockname()[0] == "127.0.0.1"
    listening.close()


def test_all_addresses_of_a_name_have_the_same_port() -> None:
    with HeldPort("localhost:0", "fast_address") as held:
        number = int(held.address.removeprefix("localhost:"))
        assert number
        found = listening_sockets("fast_address", held.address, share_port=True)
        assert {each.getsockname()[1] for each in found} == {number}
        for each in found:
            each.close()
