"""Metrics of files that were refused when they were read again, and of the expiry of certificates."""

import datetime
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from prometheus_client import CollectorRegistry

from chatiere.service.base import files
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.tokens import Tokens, new_token
from chatiere.service.ports.server import create_server
from chatiere.service.ports.tls import watched_certificates
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


def issue(folder: Path, end: datetime.datetime, begin: datetime.datetime | None = None) -> Settings:
    """Write a certificate with its chain, a key and an authority. Return settings that use them."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", not_after=end, not_before=begin)
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


def test_refused_tokens_are_reported_until_they_are_corrected(
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


@pytest.fixture(params=["fifo", "device", "folder"])
def odd(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a path that is not a regular file. Reading one of the first two kinds would never end."""
    path = tmp_path / "odd"
    match request.param:
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    return path


def test_a_path_that_is_no_longer_a_file_leaves_the_content_in_use(
    odd: Path, tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    path = tmp_path / "secrets"
    token, line = new_token("alice")
    path.write_text(line)
    tokens = Tokens(path, metrics.rejected_files.labels("tokens"))
    path.write_text("a" * 64)
    keys = Keyring(path, rejected=metrics.rejected_files.labels("table_keys"))
    first = keys.newest()
    path.unlink()
    odd.rename(path)
    assert tokens.client_of(token) == "alice"
    assert keys.newest() == first
    assert (rejected(registry, "tokens"), rejected(registry, "table_keys")) == (1, 1)


def test_refused_table_keys_are_reported_until_they_are_corrected(
    tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    path = tmp_path / "keys"
    path.write_text("a" * 64)
    keys = Keyring(path, rejected=metrics.rejected_files.labels("table_keys"))
    for text, value in ("nonsense", 1), ("b" * 64, 0):
        path.write_text(text)
        keys.newest()
        assert rejected(registry, "table_keys") == value


def test_the_expiry_of_the_certificates_in_use_is_reported(
    tmp_path: Path, registry: CollectorRegistry, metrics: Metrics
) -> None:
    settings = issue(tmp_path, SOON)
    assert settings.tls_certificate is not None
    certificates = watched_certificates(settings, metrics)
    assert certificates is not None
    assert expiry(registry, "tls_certificate") == SOON.timestamp()
    authority_end = expiry(registry, "client_ca")
    assert authority_end is not None
    assert authority_end > LATER.timestamp()
    settings.tls_certificate.write_text("nonsense")
    certificates.current()
    assert (rejected(registry, "certificates"), expiry(registry, "tls_certificate")) == (1, SOON.timestamp())
    issue(tmp_path, LATER)
    certificates.current()
    assert (rejected(registry, "certificates"), expiry(registry, "tls_certificate")) == (0, LATER.timestamp())


def test_unused_files_have_no_metrics(tmp_path: Path, registry: CollectorRegistry) -> None:
    create_server(Settings(address="127.0.0.1:0"), registry)[0].stop(grace=None).wait()
    assert [rejected(registry, name) for name in ("tokens", "table_keys", "certificates")] == [None] * 3
    assert expiry(registry, "tls_certificate") is None


def test_a_certificate_with_an_unreadable_expiry_is_refused(
    tmp_path: Path, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = issue(tmp_path, SOON)

    def unreadable(_: bytes) -> None:
        raise ValueError("invalid year")

    monkeypatch.setattr("cryptography.x509.load_pem_x509_certificates", unreadable)
    with pytest.raises(SettingError, match=r"^client_ca: .* has a certificate that cannot be read: invalid year$"):
        watched_certificates(settings, metrics)


def test_certificates_that_are_not_valid_now_are_reported_and_used(
    tmp_path: Path, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    now = datetime.datetime.now(datetime.UTC)
    settings = issue(tmp_path, now - datetime.timedelta(days=1))
    certificates = watched_certificates(settings, metrics)
    assert certificates is not None
    assert ["tls_certificate: " in line and "expired at" in line for line in caplog.messages] == [True]
    caplog.clear()
    before = certificates.current()
    issue(tmp_path, LATER, now + datetime.timedelta(days=1))
    assert certificates.current() is not before
    assert ["tls_certificate: " in line and "not valid before" in line for line in caplog.messages] == [True]


@pytest.mark.parametrize("setting", ["tokens", "table_keys", "tls_certificate", "tls_key", "client_ca"])
def test_files_that_cannot_be_read_whole_are_refused(tmp_path: Path, setting: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    for path, problem in (("fifo", "not a regular file"), ("large", "larger than"), ("missing", "No such file")):
        given: dict[str, Any] = {setting: tmp_path / path}
        settings = issue(tmp_path, LATER)
        if setting in ("tokens", "table_keys"):
            settings = Settings(address="127.0.0.1:0")
        with pytest.raises(SettingError, match=f"^{setting}: cannot read {tmp_path / path}: {problem}"):
            create_server(replace(settings, **given), CollectorRegistry())
