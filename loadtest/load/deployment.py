"""The deployment under test: its addresses, and the settings with which the simulated users make calls.

`loadtest.run` passes it to Locust's process in an environment variable. In contrast to a command's arguments, other
users of the machine cannot read this variable, so the token stays secret.
"""

from __future__ import annotations

import json
import os
import ssl
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any

import grpc

from chatiere import engine
from chatiere.clients import CHANNEL_OPTIONS

_VARIABLE = "CHATIERE_LOAD"


@dataclass(frozen=True)
class Deployment:
    """A service from the point of view of its clients.

    Attributes:
        token: The bearer token of all calls.
        has_tls: True if connections are encrypted.
        tls_ca: The file of the trusted certificate authorities; None to trust the system's authorities.
        tls_certificate: The file of the client's certificate, for mutual TLS.
        tls_key: The file of the certificate's private key.
        games: The names of the games that are played; empty to play all games.
        web_address: HOST:PORT of the web door.
    """

    token: str | None = None
    has_tls: bool = False
    tls_ca: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    games: tuple[str, ...] = ()
    web_address: str | None = None

    @classmethod
    def of_environment(cls) -> Deployment:
        """Return the deployment that the environment variable describes, or the default deployment."""
        found: dict[str, Any] = json.loads(os.environ.get(_VARIABLE, "{}"))
        return cls(**found | {"games": tuple(found.get("games", ()))})

    def environment(self) -> dict[str, str]:
        """Return the environment of a process that loads the deployment."""
        return os.environ | {_VARIABLE: json.dumps(asdict(self))}

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the metadata of a call."""
        return () if self.token is None else (("authorization", f"Bearer {self.token}"),)

    def open_channel(self, address: str) -> grpc.Channel:
        """Open a channel to HOST:PORT."""
        if not self.has_tls:
            return grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        credentials = grpc.ssl_channel_credentials(_read(self.tls_ca), _read(self.tls_key), _read(self.tls_certificate))
        return grpc.secure_channel(address, credentials, options=CHANNEL_OPTIONS)

    def ssl_context(self) -> ssl.SSLContext:
        """Return the TLS context of connections to the web door."""
        context = ssl.create_default_context(cafile=self.tls_ca)
        if self.tls_certificate is not None:
            context.load_cert_chain(self.tls_certificate, self.tls_key)
        return context

    def open_web_connection(self) -> HTTPConnection:
        """Open a connection to the web door."""
        assert self.web_address is not None
        host, _, port = self.web_address.rpartition(":")
        if not self.has_tls:
            return HTTPConnection(host.strip("[]"), int(port))
        return HTTPSConnection(host.strip("[]"), int(port), context=self.ssl_context())

    def played(self) -> list[engine.Game]:
        """Return the games that are played."""
        return [game for game in engine.games() if not self.games or game.name in self.games]


def _read(file: str | None) -> bytes | None:
    return None if file is None else Path(file).read_bytes()
