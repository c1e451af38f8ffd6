"""Calls on the port for streams: through the guards to the stream of batches, in a connection's thread."""

# Some of gRPC's types can be subscripted by type checkers only.
from __future__ import annotations

from collections.abc import Callable, Iterator

import grpc

from chatiere.engine.core.batch import Cancellation
from chatiere.http2.connection import Buffer
from chatiere.service.calls.errors import CANCELLED
from chatiere.service.guards.chain import REQUEST_ID, Guards
from chatiere.service.guards.traces import traced_stream
from chatiere.service.ports.grpc_handlers import CODES, DETAILS
from chatiere.service.ports.methods import PLAY, Methods
from chatiere.service.ports.play_port import Behaviour


def play_behaviours(methods: Methods, guards: Guards, *, has_traces: bool) -> Callable[[str], Behaviour | None]:
    """Return a look-up of what answers streams, by path."""
    method = methods.play_method()

    def play(requests: Iterator[memoryview], context: grpc.ServicerContext) -> Iterator[list[Buffer]]:
        call = guards.begin(method, context.peer(), context.invocation_metadata())
        context.set_trailing_metadata(((REQUEST_ID, call.request_id),))
        try:
            guards.identify(call, context.invocation_metadata())
            guards.admit(call)
            cancellation = Cancellation()

            def cancel() -> None:
                cancellation.cancel()
                guards.end(call, CANCELLED)

            if not context.add_callback(cancel):
                cancel()
            for request in requests:
                yield methods.batch_service.play(request, cancellation)
            guards.end(call)
        except grpc.RpcError:
            # The client is gone.
            raise
        except Exception as error:
            status = guards.refuse(call, error)
            context.set_trailing_metadata(((DETAILS, status.details), (REQUEST_ID, call.request_id)))
            context.abort(CODES[status.code], status.message)
        finally:
            guards.end(call, CANCELLED)

    behaviour = traced_stream(PLAY, play) if has_traces else play

    def behaviour_of(path: str) -> Behaviour | None:
        if path == PLAY:
            return behaviour
        methods.count_unknown()
        return None

    return behaviour_of
