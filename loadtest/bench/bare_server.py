"""A grpcio server without application code: `python -m loadtest.bench.bare_server PORT GAME:PLAYERS…`.

Its methods, GameService/<game>, accept requests for Apply and send a precomputed response, both as bytes. The server
makes no checks, creates no messages, and uses grpcio's default settings.
"""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

from chatiere import engine
from chatiere.service.ports.methods import GAME_SERVICE
from loadtest.bench.apply_call import apply_request, response_to
from loadtest.bench.servers import LOOPBACK


def main(port: str, *tables: str) -> None:
    """Serve until SIGTERM."""
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {}
    for table in tables:
        name, _, players = table.partition(":")
        response = response_to(apply_request(engine.game(name), int(players)))
        # Without serialisers, requests and responses are bytes.
        handlers[name] = grpc.unary_unary_rpc_method_handler(lambda request, context, response=response: response)
    server = grpc.server(ThreadPoolExecutor())
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(GAME_SERVICE, handlers),))
    server.add_insecure_port(f"{LOOPBACK}:{port}")
    server.start()
    signal.sigwait({signal.SIGTERM})
    server.stop(grace=None).wait()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main(*sys.argv[1:])
