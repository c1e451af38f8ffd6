"""The service with an additional method that does no work: `python -m loadtest.bench.echo_server PORT GAME:PLAYERS…`.

GameService/Echo parses the same requests and sends the same responses as Apply, with protobuf objects and through the
same guards. Its responses, one for each game, are precomputed.
"""

import signal
import sys

from prometheus_client import CollectorRegistry

from chatiere import engine
from chatiere.service.base.settings import Settings
from chatiere.service.guards.logs import configure_logging
from chatiere.service.ports.methods import GAME_SERVICE
from chatiere.service.ports.server import create_server
from chatiere.v1.game_service_pb2 import ApplyRequest, ApplyResponse
from loadtest.bench.apply_call import apply_request, response_to
from loadtest.bench.rows.unary import ECHO
from loadtest.bench.servers import LOOPBACK


def main(port: str, *tables: str) -> None:
    """Serve on a port that may be shared, until SIGTERM."""
    responses = {}
    for table in tables:
        name, _, players = table.partition(":")
        request = apply_request(engine.game(name), int(players))
        responses[name] = ApplyResponse.FromString(response_to(request))

    def echo(data: bytes) -> bytes:
        request = ApplyRequest.FromString(data)
        response: bytes = responses[request.state.WhichOneof("game")].SerializeToString()
        return response

    settings = Settings(address=f"{LOOPBACK}:{port}")
    server, _ = create_server(settings, CollectorRegistry(), share_port=True)
    configure_logging(settings)
    apply = next(each for each in server.methods.singles if each.path == f"/{GAME_SERVICE}/Apply")
    server.handlers.add_unary(apply._replace(path=f"/{GAME_SERVICE}/{ECHO}", handle=echo))
    server.start()
    signal.sigwait({signal.SIGTERM})
    server.stop(grace=None).wait()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main(*sys.argv[1:])
