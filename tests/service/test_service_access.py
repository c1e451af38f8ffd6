"""Access: tokens, TLS, mutual TLS, and optional services."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from prometheus_client import CollectorRegistry

from chatiere.service.base import files
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.tokens import Tokens, new_token
from chatiere.service.ports.server import create_server
from chatiere.v1 import game_service_pb2
from chatiere.v1.batch_service_pb2 import PlayRequest

from .process import served, wait_until
from .support import (
    PATIENCE,
    Door,
    LogLines,
    Running,
    batch_stub,
    code_of,
    game_stub,
    only_grpcio,
    running,
)

pytestmark = pytest.mark.long

LIST_GAMES = game_service_pb2.ListGamesRequest()
OK, UNAUTHENTICATED, UNAVAILABLE = grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE


@pytest.fixture(autouse=True)
def look_at_files_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_INTERVAL", 0.0)


def bearer(token: str) -> Any:
    return (("authorization", f"Bearer {token}"),)


# Tokens


def write_tokens(path: Path, *names: str) -> list[str]:
    """Write a tokens file with a new token for each name. Return the tokens."""
    made = [new_token(name) for name in names]
    path.write_text("# our clients\n\n" + "".join(f"{line}\n" for _, line in made))
    return [token for token, _ in made]


def test_tokens_have_names(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    alice, alice_too, bob = write_tokens(path, "alice", "alice", "bob")
    assert len({alice, alice_too, bob}) == 3
    tokens = Tokens(path)
    assert [tokens.client_of(each) for each in (alice, alice_too, bob)] == ["alice", "alice", "bob"]
    for wrong in "", alice[:-1], alice + "a", alice.swapcase(), "é\udc80", path.read_text().split()[-1]:
        assert tokens.client_of(wrong) is None
    assert alice not in path.read_text()


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "#1", "a\nb", "é"])
def test_an_invalid_name_gets_no_token(name: str) -> None:
    with pytest.raises(ValueError, match=r"^a name must be 1 to 64 letters"):
        new_token(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no tokens"),
        ("# nobody\n", "has no tokens"),
        ("alice\n", "line 1: not a name and a SHA-256"),
        ("\nalice 12ab\n", "line 2: not a name and a SHA-256"),
        (f"alice {'A' * 64}", "line 1: not a name and a SHA-256"),
        (f"al ice {'a' * 64}", "line 1: not a name and a SHA-256"),
        ("\udcff", "cannot read"),
    ],
)
def test_a_wrong_tokens_file_stops_the_start(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SettingError, match=f"^tokens: .*{message}"):
        create_server(Settings(address="127.0.0.1:0", tokens=path), CollectorRegistry())


def test_tokens_are_reread_unless_the_file_is_invalid(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    (alice,) = write_tokens(path, "alice")
    tokens = Tokens(path)
    (bob,) = write_tokens(path, "bob")
    assert (tokens.client_of(alice), tokens.client_of(bob)) == (None, "bob")
    with LogLines() as log:
        path.write_text("nonsense")
        assert tokens.client_of(bob) == "bob"
        path.unlink()
        assert tokens.client_of(bob) == "bob"
    assert len([line for line in log.lines if "cannot reread the tokens, keeping the old ones" in line]) == 2
    # A file without tokens lets an operator lock out all clients immediately.
    path.write_text("# closed\n")
    assert tokens.client_of(bob) is None


@pytest.fixture
def guarded(tmp_path: Path, door: Door) -> Iterator[tuple[Running, str]]:
    """Run a server that requires tokens. Yield the server and a token."""
    (token,) = write_tokens(tmp_path / "tokens", "alice")
    settings = Settings(address="127.0.0.1:0", tokens=tmp_path / "tokens", channelz=True)
    with running(settings, door) as server:
        yield server, token


def test_a_call_needs_a_token(guarded: tuple[Running, str]) -> None:
    server, token = guarded
    call = server.stub.ListGames
    assert code_of(call, LIST_GAMES, metadata=bearer(token)) is OK
    assert code_of(call, LIST_GAMES, metadata=(("authorization", f"bearer {token}"),)) is OK
    wrong: list[Any] = [
        (),
        bearer(""),
        bearer(token[:-1]),
        bearer(token) * 2,
        (("authorization", token),),
        (("authorization", f"Basic {token}"),),
        (("authorization-bin", token.encode()),),
    ]
    for metadata in wrong:
        assert code_of(call, LIST_GAMES, metadata=metadata) is UNAUTHENTICATED


def test_a_running_server_reads_its_tokens_again(guarded: tuple[Running, str], tmp_path: Path) -> None:
    server, alice = guarded
    (bob,) = write_tokens(tmp_path / "tokens", "bob")
    assert code_of(server.stub.ListGames, LIST_GAMES, metadata=bearer(bob)) is OK
    assert code_of(server.stub.ListGames, LIST_GAMES, metadata=bearer(alice)) is UNAUTHENTICATED


def test_the_log_has_only_the_names_of_tokens(guarded: tuple[Running, str]) -> None:
    server, token = guarded
    with LogLines() as log:
        code_of(server.stub.GetScore, game_service_pb2.GetScoreRequest(), metadata=bearer(token))
        code_of(server.stub.ListGames, LIST_GAMES, metadata=bearer("wrong-token"))
    assert log.lines[0].endswith(" client alice")
    assert log.lines[1].endswith(" client -")
    assert not [line for line in log.lines if token in line or "wrong-token" in line]


def test_health_needs_no_token(guarded: tuple[Running, str]) -> None:
    server, _ = guarded
    health: Any = health_pb2_grpc.HealthStub(server.channel)
    assert code_of(health.Check, health_pb2.HealthCheckRequest()) is OK
    watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()


def test_streams_need_a_token(guarded: tuple[Running, str]) -> None:
    server, token = guarded
    play = batch_stub(server.channel).Play
    assert code_of(next, play(iter([PlayRequest()]))) is UNAUTHENTICATED
    assert code_of(next, play(iter([PlayRequest()]), metadata=bearer(token))) is OK


@only_grpcio
def test_channelz_and_reflection_need_a_token(guarded: tuple[Running, str]) -> None:
    server, token = guarded
    channelz: Any = channelz_pb2_grpc.ChannelzStub(server.channel)
    reflection: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)

    def reflect(metadata: Any) -> None:
        list(reflection.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest()]), metadata=metadata))

    for metadata, code in ((), UNAUTHENTICATED), (bearer(token), OK):
        assert code_of(channelz.GetServers, channelz_pb2.GetServersRequest(), metadata=metadata) is code
        assert code_of(reflect, metadata) is code


@pytest.mark.parametrize(("address", "warned"), [("127.0.0.1:0", False), ("localhost:0", False), ("0.0.0.0:0", True)])
def test_tokens_without_tls_cause_a_warning(tmp_path: Path, address: str, warned: bool) -> None:
    write_tokens(tmp_path / "tokens", "alice")
    with served("--address", address, "--tokens", str(tmp_path / "tokens")) as server:
        assert server.address
        assert bool([line for line in server.lines if "WARNING" in line and "tokens without TLS" in line]) is warned


# Optional services


def test_reflection_can_be_turned_off_and_channelz_is_off() -> None:
    with running(Settings(address="127.0.0.1:0", reflection=False)) as server:
        channelz: Any = channelz_pb2_grpc.ChannelzStub(server.channel)
        assert code_of(channelz.GetServers, channelz_pb2.GetServersRequest()) is grpc.StatusCode.UNIMPLEMENTED
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        call = reflection.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest()]))
        assert code_of(list, call) is grpc.StatusCode.UNIMPLEMENTED
        assert code_of(server.stub.ListGames, LIST_GAMES) is OK


# TLS


class Authority:
    """A certificate authority, its files, and the certificates that it issues."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir()
        self._authority = trustme.CA()
        self.file = directory / "ca.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(self, name: str, **details: Any) -> tuple[Path, Path]:
        """Make a certificate for localhost, and its key."""
        certificate, key = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        issued = self._authority.issue_cert("localhost", **details)
        certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return certificate, key

    def settings(self, name: str = "server", **details: Any) -> dict[str, Any]:
        """Return settings with a new certificate."""
        certificate, key = self.issue(name, **details)
        return {"address": "127.0.0.1:0", "tls_certificate": certificate, "tls_key": key}


PAST = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "stranger")


@contextmanager
def connected(address: str, roots: Path, client: tuple[Path, Path] | None = None) -> Iterator[Any]:
    """Return a stub over TLS whose calls are not retried."""
    certificate, key = (None, None) if client is None else (path.read_bytes() for path in client)
    credentials = grpc.ssl_channel_credentials(roots.read_bytes(), key, certificate)
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.secure_channel(address.replace("127.0.0.1", "localhost"), credentials, options) as channel:
        yield game_stub(channel)


def test_tls(authority: Authority, stranger: Authority) -> None:
    with running(Settings(**authority.settings())) as server:
        with connected(server.address, authority.file) as stub:
            assert code_of(stub.ListGames, LIST_GAMES) is OK
        with connected(server.address, stranger.file) as stub:
            assert code_of(stub.ListGames, LIST_GAMES) is UNAVAILABLE
        # This channel does not use TLS.
        assert code_of(server.stub.ListGames, LIST_GAMES) is UNAVAILABLE


def test_mutual_tls(authority: Authority, stranger: Authority) -> None:
    good, expired = authority.issue("client"), authority.issue("expired", not_after=PAST)
    with running(Settings(**authority.settings(), client_ca=authority.file)) as server:
        for client, code in (
            (good, OK),
            (None, UNAVAILABLE),
            (stranger.issue("other"), UNAVAILABLE),
            (expired, UNAVAILABLE),
        ):
            with connected(server.address, authority.file, client) as stub:
                assert code_of(stub.ListGames, LIST_GAMES) is code


OPEN, LOCAL = "0.0.0.0:0", "127.0.0.1:0"


@pytest.mark.parametrize("address", [OPEN, "[::]:0", "192.0.2.1:0", "here:0"])
@pytest.mark.parametrize("name", ["address", "fast_address", "web_address"])
def test_an_address_reachable_from_other_machines_needs_tls_or_tokens(tmp_path: Path, name: str, address: str) -> None:
    open_settings: dict[str, Any] = {"address": LOCAL, name: address}
    with pytest.raises(
        SettingError, match=rf"^{name}: other machines can reach this address: use --tokens .*or --insecure"
    ):
        Settings(**open_settings)
    Settings(**open_settings, insecure=True)
    Settings(**open_settings, tokens=tmp_path)
    certificate: dict[str, Any] = {"tls_certificate": tmp_path, "tls_key": tmp_path}
    if name == "fast_address":
        # The port for metrics never uses TLS.
        with pytest.raises(
            SettingError, match=r"^fast_address: other machines can reach this address: .*this port has no TLS"
        ):
            Settings(**open_settings, **certificate, client_ca=tmp_path)
    else:
        Settings(**open_settings, **certificate)


@pytest.mark.parametrize("address", [LOCAL, "127.1.2.3:0", "[::1]:0", "localhost:0"])
def test_a_loopback_address_needs_neither_tls_nor_tokens(address: str) -> None:
    Settings(address=address, fast_address=address, web_address=address)


def test_open_access_causes_a_warning(authority: Authority) -> None:
    certificate, key = authority.issue("server")
    tls = ["--tls-certificate", str(certificate), "--tls-key", str(key)]
    for arguments, warned in ([OPEN, "--insecure"], True), ([OPEN, *tls], False), ([LOCAL, "--insecure"], False):
        with served("--address", *arguments) as server:
            assert server.address
            found = [line for line in server.lines if "WARNING" in line and f"anyone who can reach {OPEN} may" in line]
            assert bool(found) is warned


def test_an_expired_certificate_prevents_connections_until_it_is_replaced(authority: Authority) -> None:
    settings = Settings(**authority.settings(not_after=PAST))
    with running(settings) as server:
        with connected(server.address, authority.file) as stub:
            assert code_of(stub.ListGames, LIST_GAMES) is UNAVAILABLE
        # Write a new certificate and key to the same files.
        authority.settings()

        def is_answered() -> bool:
            with connected(server.address, authority.file) as stub:
                return code_of(stub.ListGames, LIST_GAMES) is OK

        wait_until(is_answered, "the new certificate is in use")


def test_invalid_new_certificates_leave_the_old_ones_in_use(authority: Authority) -> None:
    settings = Settings(**authority.settings())
    assert settings.tls_certificate is not None
    with running(settings) as server, LogLines() as log:
        settings.tls_certificate.write_text("nonsense")
        with connected(server.address, authority.file) as stub:
            assert code_of(stub.ListGames, LIST_GAMES) is OK
        log.wait_for("cannot reread the certificates, keeping the old ones: tls_certificate: ")


def refused_files(settings: dict[str, Any]) -> SettingError:
    with pytest.raises(SettingError) as refused:
        create_server(Settings(**settings), CollectorRegistry())
    return refused.value


def test_wrong_files_for_tls_stop_the_start(authority: Authority, stranger: Authority, tmp_path: Path) -> None:
    good = authority.settings()
    absent, nonsense = tmp_path / "absent", tmp_path / "nonsense"
    nonsense.write_text("nonsense")
    locked = tmp_path / "locked.key"
    key: Any = serialization.load_pem_private_key(good["tls_key"].read_bytes(), None)
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    _, other_key = stranger.issue("other")
    cases = [
        ({"tls_certificate": absent}, "tls_certificate", "No such file"),
        ({"tls_key": absent}, "tls_key", "No such file"),
        ({"client_ca": absent}, "client_ca", "No such file"),
        ({"tls_certificate": nonsense}, "tls_certificate", "is not a certificate for"),
        ({"tls_key": nonsense}, "tls_certificate", "is not a certificate for"),
        ({"tls_key": other_key}, "tls_certificate", "is not a certificate for"),
        ({"tls_key": locked}, "tls_certificate", "is not a certificate for"),
        ({"client_ca": nonsense}, "client_ca", "has no valid certificates"),
    ]
    for changes, setting, message in cases:
        error = refused_files(good | changes)
        assert error.setting == setting
        assert message in error.message


def test_tls_and_tokens_together(authority: Authority, tmp_path: Path) -> None:
    (token,) = write_tokens(tmp_path / "tokens", "alice")
    with running(Settings(**authority.settings(), tokens=tmp_path / "tokens")) as server:
        calls = grpc.access_token_call_credentials(token)
        channel = grpc.composite_channel_credentials(grpc.ssl_channel_credentials(authority.file.read_bytes()), calls)
        with grpc.secure_channel(server.address.replace("127.0.0.1", "localhost"), channel) as with_token:
            assert code_of(game_stub(with_token).ListGames, LIST_GAMES) is OK
        with connected(server.address, authority.file) as stub:
            assert code_of(stub.ListGames, LIST_GAMES) is UNAUTHENTICATED
