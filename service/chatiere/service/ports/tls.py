"""TLS: the server's certificate and, for mutual TLS, the authorities of its clients' certificates."""

import logging
import ssl
from pathlib import Path

import grpc

from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.settings import SettingError, Settings

_log = logging.getLogger(__name__)


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """Return the credentials that the settings ask for; None without TLS. Raises SettingError.

    The files are reread when they change: new connections get the new certificate. If they are invalid then, that is
    logged and the old ones stay in use.
    """
    certificate, key, authorities = settings.tls_certificate, settings.tls_key, settings.client_ca
    if certificate is None or key is None:
        return None
    files = WatchedFiles(certificate, key, *([authorities] if authorities else []))

    def if_changed() -> grpc.ServerCertificateConfiguration | None:
        if not files.have_changed():
            return None
        try:
            configuration = _configuration(certificate, key, authorities)
        except SettingError as error:
            _log.error("cannot reread the certificates, keeping the old ones: %s", error)
            return None
        _log.info("certificates reread")
        return configuration

    return grpc.dynamic_ssl_server_credentials(
        _configuration(certificate, key, authorities),
        if_changed,  # type: ignore[arg-type]  # None is gRPC's word for no change.
        require_client_authentication=authorities is not None,
    )


class ServerContext:
    """The TLS of a port that is not gRPC's, by the same files; `current`: of new connections."""

    def __init__(self, settings: Settings) -> None:
        """Read the files of settings with a certificate. Raises SettingError."""
        assert settings.tls_certificate is not None
        assert settings.tls_key is not None
        self._certificate, self._key, self._authorities = settings.tls_certificate, settings.tls_key, settings.client_ca
        self._files = WatchedFiles(self._certificate, self._key, *([self._authorities] if self._authorities else []))
        self.current = _context(self._certificate, self._key, self._authorities)

    def renew(self) -> None:
        """Read files that have changed, for another `current`. Invalid files change nothing."""
        if not self._files.have_changed():
            return
        try:
            self.current = _context(self._certificate, self._key, self._authorities)
        except SettingError as error:
            _log.error("cannot reread the certificates, keeping the old ones: %s", error)
            return
        _log.info("certificates reread")


def _context(certificate: Path, key: Path, authorities: Path | None) -> ssl.SSLContext:
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
    return context


def _configuration(certificate: Path, key: Path, authorities: Path | None) -> grpc.ServerCertificateConfiguration:
    # gRPC would report an error only when a client connects.
    _context(certificate, key, authorities)
    pairs = [(_read("tls_key", key), _read("tls_certificate", certificate))]
    if authorities is None:
        return grpc.ssl_server_certificate_configuration(pairs)
    return grpc.ssl_server_certificate_configuration(pairs, root_certificates=_read("client_ca", authorities))


def _read(setting: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingError(setting, f"cannot read {path}: {error.strerror}") from error
