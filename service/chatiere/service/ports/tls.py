"""TLS: the server's certificate and, for mutual TLS, the authorities of its clients' certificates."""

import ssl
from functools import partial
from pathlib import Path

import grpc
from cryptography import x509

from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings


def server_credentials(settings: Settings, metrics: Metrics) -> grpc.ServerCredentials | None:
    """Return the credentials that the settings ask for; None without TLS. Raises SettingError.

    The files are reread when they change: new connections get the new certificate. If they are invalid then, that is
    logged and the old ones stay in use.
    """
    certificate, key, authorities = settings.tls_certificate, settings.tls_key, settings.client_ca
    if certificate is None or key is None:
        return None
    files = _watched(metrics, certificate, key, authorities)
    read = partial(_configuration, metrics, certificate, key, authorities)
    return grpc.dynamic_ssl_server_credentials(
        read(),
        partial(files.reread, read),  # type: ignore[arg-type]  # None is gRPC's word for no change.
        require_client_authentication=authorities is not None,
    )


class ServerContext:
    """The TLS of a port that is not gRPC's, by the same files; `current`: of new connections."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Read the files of settings with a certificate. Raises SettingError."""
        certificate, key, authorities = settings.tls_certificate, settings.tls_key, settings.client_ca
        assert certificate is not None
        assert key is not None
        self._files = _watched(metrics, certificate, key, authorities)
        self._read = partial(_context, metrics, certificate, key, authorities)
        self.current = self._read()

    def renew(self) -> None:
        """Read files that have changed, for another `current`. Invalid files change nothing."""
        self.current = self._files.reread(self._read) or self.current


def _watched(metrics: Metrics, certificate: Path, key: Path, authorities: Path | None) -> WatchedFiles:
    rejected = metrics.rejected_files.labels("certificates")
    return WatchedFiles("certificates", certificate, key, *([authorities] if authorities else []), rejected=rejected)


def _context(metrics: Metrics, certificate: Path, key: Path, authorities: Path | None) -> ssl.SSLContext:
    for setting, path in (("tls_certificate", certificate), ("tls_key", key)):
        # OpenSSL's errors do not name the file.
        _read(setting, path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # The server cannot use an encrypted key: without this OpenSSL would prompt for a password.
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, ValueError) as error:
        raise SettingError("tls_certificate", f"{certificate} is not a certificate for {key}: {error}") from error
    if authorities is not None:
        roots = _read("client_ca", authorities)
        try:
            context.load_verify_locations(cadata=roots.decode("ascii", errors="replace"))
        except ssl.SSLError as error:
            raise SettingError("client_ca", f"{authorities} has no valid certificates: {error}") from error
        context.verify_mode = ssl.CERT_REQUIRED
        metrics.certificate_expiry.labels("client_ca").set(_expiry("client_ca", authorities))
    metrics.certificate_expiry.labels("tls_certificate").set(_expiry("tls_certificate", certificate))
    return context


def _expiry(setting: str, path: Path) -> float:
    """Return when the first of a file's certificates ends, in seconds since 1970. Raises SettingError."""
    try:
        return min(
            each.not_valid_after_utc for each in x509.load_pem_x509_certificates(_read(setting, path))
        ).timestamp()
    except ValueError as error:
        raise SettingError(setting, f"{path} has a certificate that cannot be read: {error}") from error


def _configuration(
    metrics: Metrics, certificate: Path, key: Path, authorities: Path | None
) -> grpc.ServerCertificateConfiguration:
    # gRPC would report an error only when a client connects.
    _context(metrics, certificate, key, authorities)
    pairs = [(_read("tls_key", key), _read("tls_certificate", certificate))]
    if authorities is None:
        return grpc.ssl_server_certificate_configuration(pairs)
    return grpc.ssl_server_certificate_configuration(pairs, root_certificates=_read("client_ca", authorities))


def _read(setting: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingError(setting, f"cannot read {path}: {error.strerror}") from error
