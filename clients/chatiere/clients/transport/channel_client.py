"""The base of the synchronous clients."""

from collections.abc import Callable, Sequence
from typing import Any

import grpc

from chatiere.clients.calls.errors import error_of
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import CallMetadata, open_channel
from chatiere.engine.closing import Closing


class ChannelClient(Closing):
    """A client that calls a service over a channel. Use it in a `with` statement, or close it."""

    channel: grpc.Channel
    """The channel that the calls go over; other clients may share it."""
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

        `target`: "HOST:PORT" or "unix:/PATH"; or several servers, as a list of "IP:PORT" or as "dns:///NAME:PORT" for
        all addresses of a name: calls go to the healthy ones in turn. Or a channel of your own, for instance with
        interceptors: create it with CHANNEL_OPTIONS to have calls balanced and retried, and close it yourself.
        `timeout`: the seconds that a call may take, including retries, unless it has a timeout of its own.
        `credentials`: grpc.ssl_channel_credentials(…) for TLS; None: not encrypted. Ignored if `target` is a channel.
        `token`: the bearer token, if the service requires one. It should not be sent unencrypted.
        `new_request_id`: returns the id of each call, under which the service logs it: up to 128 of A-Z a-z 0-9
        . _ : / + = -. None: the service makes one; ChatiereError.request_id has it.
        `language`: the languages wanted for labels and ChatiereError.localized, as in HTTP: "fr", or "fr-CA, en;q=0.5".
        The service speaks English and French. None: labels are in English, and errors are not localized.
        """
        self._own_channel = None
        if isinstance(target, grpc.Channel):
            self.channel = target
        else:
            self.channel = self._own_channel = open_channel(target, credentials)
        self._timeout = timeout
        self._metadata = CallMetadata(token, new_request_id, language)

    def close(self) -> None:
        """Close the client's own channel; calls in flight fail."""
        if self._own_channel is not None:
            self._own_channel.close()

    def _call(self, method: Any, request: Any, timeout: float | None) -> Any:
        # `method`: a method of a stub.
        try:
            return method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata.of_call(),
            )
        except grpc.RpcError as error:
            raise error_of(error) from error
