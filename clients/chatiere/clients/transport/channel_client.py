"""The base class of the synchronous clients."""

from collections.abc import Callable, Sequence
from typing import Any

import grpc

from chatiere.clients.calls.errors import error_of
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import Pickled, open_channel
from chatiere.engine.closing import Closing


class ChannelClient(Closing, Pickled):
    """A client that calls a service over a channel. Use it in a `with` statement, or close it."""

    channel: grpc.Channel
    """The channel over which the client makes its calls. Other clients may share it."""
    _own_channel: grpc.Channel | None

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        new_request_id: Callable[[], str] | None = None,
        language: str | None = None,
    ) -> None:
        """Create a client of the service at `target`.

        Args:
            target: "HOST:PORT", "unix:/PATH", or your own channel, for instance with interceptors. For several servers,
                pass a list of "IP:PORT", or "dns:///NAME:PORT" for all addresses of a name. Calls are made in turn to
                the servers that are healthy. Create your own channel with CHANNEL_OPTIONS for load balancing and
                retries, and close it yourself.
            timeout: The time limit in seconds of each call without its own timeout. It includes retries.
            credentials: grpc.ssl_channel_credentials(…) for TLS, or None for no encryption. Ignored if `target` is a
                channel.
            token: The bearer token, if the service requires one. It should not be sent unencrypted.
            new_request_id: A function that returns the id of each call, for the log of the service. An id has at most
                128 characters from A-Z a-z 0-9 . _ : / + = -. None means that the service generates ids.
                ChatiereError.request_id contains the id.
            language: The requested languages for labels and ChatiereError.localized, in the syntax of HTTP's
                Accept-Language: "fr", or "fr-CA, en;q=0.5". The service supports English and French. None means that
                labels are in English, and errors are not localized.
        """
        self._own_channel = None
        if isinstance(target, grpc.Channel):
            self.channel = target
        else:
            self.channel = self._own_channel = open_channel(target, credentials)
        self._set_up(target, timeout, credentials, token, new_request_id, language)

    def close(self) -> None:
        """Close the client's own channel. Calls in flight fail."""
        if self._own_channel is not None:
            self._own_channel.close()

    def _call(self, method: Any, request: Any, timeout: float | None) -> Any:
        # `method` is a method of a stub.
        try:
            return method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata.of_call(),
            )
        except grpc.RpcError as error:
            raise error_of(error) from error
