"""Files that are refused when they are reread, and the end of certificates, as metrics."""

import datetime
from pathlib import Path

import pytest
import trustme
from prometheus_client import CollectorRegistry

from chatiere.service.base import files
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.tokens import Tokens, new_token
from chatiere.service.ports.server import create_server
from chatiere.service.ports.tls import ServerContext
from chatiere.service.tables.keys import Keyring

SOON = datetime.datetime(2031, 5, 1, tzinfo=datetime.UTC)
LATER = datetime.datetime(2032, 5, 1, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def look_at_files_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_INTERVAL", 0.0)


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> Metrics:
    return Metrics(registry)


def rejected(registry: CollectorRegistry, name: str) -> float | None:
    return registry.get_sample_value("chatiere_rejected_files", {"files": name})


def expiry(registry: CollectorRegistry, file: str) -> float | None:
    return registry.get_sample_value("chatiere_certificate_expiry_timestamp_seconds", {"file": file})


def issue(folder: Path, end: datetime.datetime) -> Settings:
    """Write a certificate with its chain, a key and an authority; return settings with them."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", not_after=end)
    folder.mkdir(exist_ok=True)
    (folder / "chain.pem").write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(folder / "key.pem")
    authority.cert_pem.write_to_path(folder / "authority.pem")
    return Settings(
        address="127.0.0.1:0",
        tls_certificate=folder / "chain.pem",
        tls_key=folder / "key.pem",
        client_ca=folder / "authority.pem",
    )


def test_refused_tokens_are_told_until_they_are_mended(
    tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    path = tmp_path / "tokens"
    token, line = new_token("alice")
    path.write_text(line)
    tokens = Tokens(path, metrics.rejected_files.labels("tokens"))
    for text, value in ("nonsense", 1), ("still nonsense", 1), (line, 0):
        path.write_text(text)
        assert tokens.client_of(token) == "alice"
        assert rejected(registry, "tokens") == value


def test_refused_table_keys_are_told_until_they_are_mended(
    tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    path = tmp_path / "keys"
    path.write_text("a" * 64)
    keys = Keyring(path, rejected=metrics.rejected_files.labels("table_keys"))
    for text, value in ("nonsense", 1), ("b" * 64, 0):
        path.write_text(text)
        keys.newest()
        assert rejected(registry, "table_keys") == value


def test_the_end_of_the_certificates_in_use_is_told(
    tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    settings = issue(tmp_path, SOON)
    assert settings.tls_certificate is not None
    context = ServerContext(settings, metrics)
    assert expiry(registry, "tls_certificate") == SOON.timestamp()
    authority_end = expiry(registry, "client_ca")
    assert authority_end is not None
    assert authority_end > LATER.timestamp()
    settings.tls_certificate.write_text("nonsense")
    context.renew()
    assert (rejected(registry, "certificates"), expiry(registry, "tls_certificate")) == (1, SOON.timestamp())
    issue(tmp_path, LATER)
    context.renew()
    assert (rejected(registry, "certificates"), expiry(registry, "tls_certificate")) == (0, LATER.timestamp())


def test_a_server_tells_of_the_files_that_it_uses(tmp_path: Path, registry: CollectorRegistry) -> None:
    create_server(Settings(address="127.0.0.1:0"), registry)[0].stop(grace=None).wait()
    assert [rejected(registry, name) for name in ("tokens", "table_keys", "certificates")] == [None] * 3
    assert expiry(registry, "tls_certificate") is None


def test_a_certificate_without_an_end_that_can_be_read_is_refused(
    tmp_path: Path, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = issue(tmp_path, SOON)

    def unreadable(_: bytes) -> None:
        raise ValueError("invalid year")

    monkeypatch.setattr("cryptography.x509.load_pem_x509_certificates", unreadable)
    with pytest.raises(SettingError, match=r"^client_ca: .* has a certificate that cannot be read: invalid year$"):
        ServerContext(settings, metrics)
