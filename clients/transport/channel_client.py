"""What the sync clients of both services share."""

from collections.abc import Callable, Sequence
from typing import Any

import grpc

from chatiere.clients.calls.errors import error_of
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import CallMetadata, open_channel
from chatiere.clients.transport.closing import Closing


class ChannelClient(Closing):
    """Makes a service's calls over a channel. To be used in a `with` statement, or closed."""

    channel: grpc.Channel
    """What the calls go over; other clients may share it."""
    _own_channel: grpc.Channel | None

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        new_request_id: Callable[[], str] | None = None,
    ) -> None:
        """A client of the service at `target`.

        `target`: "HOST:PORT"; or several servers: a list of "IP:PORT", or "dns:///NAME:PORT" for all addresses of a
        name. Calls go to those in turn that are healthy. Or a channel that you made, for interceptors: make it with
        CHANNEL_OPTIONS to have calls spread and retried; closing it stays with you.
        `timeout`: seconds that a call may take, retries included, unless it has a timeout of its own.
        `credentials`: for TLS, grpc.ssl_channel_credentials(…); without, nothing is encrypted. Not with a channel.
        `token`: the bearer token, if the service wants one. It should not travel unencrypted.
        `new_request_id`: makes the id of each call, by which it is found in the service's log: up to 128 of A-Z a-z 0-9
        . _ : / + = -. Without it the service makes one; ChatiereError.request_id tells it.
        """
        self._own_channel = None
        if isinstance(target, grpc.Channel):
            self.channel = target
        else:
            self.channel = self._own_channel = open_channel(target, credentials)
        self._timeout = timeout
        self._metadata = CallMetadata(token, new_request_id)

    def close(self) -> None:
        """Close the client's own channel; calls that are under way fail."""
        if self._own_channel is not None:
            self._own_channel.close()

    def _call(self, method: Any, request: Any, timeout: float | None) -> Any:
        # `method`: a stub's.
        try:
            return method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata.of_call(),
            )
        except grpc.RpcError as error:
            raise error_of(error) from error
