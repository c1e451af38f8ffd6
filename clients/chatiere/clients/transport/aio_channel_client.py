"""The base class of the asyncio clients."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import grpc

from chatiere.clients.calls.errors import error_of
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.transport.channel import Pickled, open_aio_channel


class AsyncChannelClient(Pickled):
    """A client that calls a service over a grpc.aio channel.

    Create it in a running event loop. Use it in an `async with` statement, or close it.
    """

    def __init__(
        self,
        target: str | Sequence[str] | grpc.aio.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        new_request_id: Callable[[], str] | None = None,
        language: str | None = None,
    ) -> None:
        """Create a client. Arguments are as for ChannelClient, except that a channel must be a grpc.aio channel."""
        self._own_channel: grpc.aio.Channel | None = None
        if isinstance(target, grpc.aio.Channel):
            self.channel = target
        else:
            self.channel = self._own_channel = open_aio_channel(target, credentials)
        self._set_up(target, timeout, credentials, token, new_request_id, language)

    async def close(self) -> None:
        """Close the client's own channel. This cancels the calls in flight."""
        if self._own_channel is not None:
            await self._own_channel.close()

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the client."""
        await self.close()

    async def _call(self, method: Any, request: Any, timeout: float | None) -> Any:
        # `method` is a method of a stub.
        try:
            return await method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata.of_call(),
            )
        except grpc.RpcError as error:
            raise error_of(error) from error
