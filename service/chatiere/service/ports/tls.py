"""TLS: the server's certificate and, for mutual TLS, the authorities that sign the clients' certificates."""

import logging
import ssl
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import grpc

from chatiere.service.base.files import WatchedFiles, read_file
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings

_log = logging.getLogger(__name__)


class Certificates(NamedTuple):
    """The certificates for new connections, in the forms that the ports need."""

    context: ssl.SSLContext
    """The certificates for the web door."""
    configuration: grpc.ServerCertificateConfiguration
    """The certificates for gRPC's port."""


def watched_certificates(settings: Settings, metrics: Metrics) -> WatchedFiles[Certificates] | None:
    """Return the certificates of the settings, for all ports, or None without TLS. Raises SettingError.

    The files are reread when they change. If they are then invalid, the error is logged, and the old certificates
    remain in use.
    """
    certificate, key, authorities = settings.tls_certificate, settings.tls_key, settings.client_ca
    if certificate is None or key is None:
        return None
    read = partial(_certificates, metrics, certificate, key, authorities)
    rejected = metrics.rejected_files.labels("certificates")
    return WatchedFiles("certificates", read, certificate, key, authorities, rejected=rejected)


def server_credentials(settings: Settings, certificates: WatchedFiles[Certificates]) -> grpc.ServerCredentials:
    """Return gRPC's credentials, with the current certificates for each new connection."""
    given = certificates.current().configuration

    def changed() -> grpc.ServerCertificateConfiguration | None:
        nonlocal given
        before, given = given, certificates.current().configuration
        return None if given is before else given

    return grpc.dynamic_ssl_server_credentials(
        given,
        changed,  # type: ignore[arg-type]  # gRPC accepts None for no change.
        require_client_authentication=settings.client_ca is not None,
    )


def _certificates(metrics: Metrics, certificate: Path, key: Path, authorities: Path | None) -> Certificates:
    chain, private = read_file("tls_certificate", certificate), read_file("tls_key", key)
    roots = None if authorities is None else read_file("client_ca", authorities)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # The empty password makes an encrypted key an error. Otherwise OpenSSL would prompt for a password.
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        raise SettingError("tls_certificate", f"{certificate} is not a certificate for {key}: {error}") from error
    if authorities is not None and roots is not None:
        try:
            context.load_verify_locations(cadata=roots.decode("ascii", errors="replace"))
        except ssl.SSLError as error:
            raise SettingError("client_ca", f"{authorities} has no valid certificates: {error}") from error
        context.verify_mode = ssl.CERT_REQUIRED
        _check_times(metrics, "client_ca", authorities, roots)
    _check_times(metrics, "tls_certificate", certificate, chain)
    pair = [(private, chain)]
    return Certificates(context, grpc.ssl_server_certificate_configuration(pair, root_certificates=roots))


def _check_times(metrics: Metrics, setting: str, path: Path, content: bytes) -> None:
    # Report when the first certificate of a file expires, and warn of certificates that are not valid now. The library
    # is imported here, because a worker without TLS does not need it.
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificates(content)
        begin = max(each.not_valid_before_utc for each in found)
        end = min(each.not_valid_after_utc for each in found)
    except ValueError as error:
        raise SettingError(setting, f"{path} has a certificate that cannot be read: {error}") from error
    metrics.certificate_expiry.labels(setting).set(end.timestamp())
    now = datetime.now(UTC)
    if end < now:
        _log.warning("%s: %s has a certificate that expired at %s", setting, path, end.isoformat())
    if begin > now:
        _log.warning("%s: %s has a certificate that is not valid before %s", setting, path, begin.isoformat())
