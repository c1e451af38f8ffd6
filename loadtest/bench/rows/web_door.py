"""Single calls to Apply with legal actions at the web door, binary and JSON, compared with grpcio's port."""

from typing import Any

from google.protobuf import json_format

from chatiere.engine import Game
from loadtest.bench import h2load
from loadtest.bench.apply_call import Call, apply_call, apply_request, response_to
from loadtest.bench.h2load import CONNECT, JSON, Contender
from loadtest.bench.measure import BenchPlan, Result
from loadtest.bench.rows.unary import APPLY, cpu_row
from loadtest.bench.servers import chatiere, web_door_built

# The number of calls in flight, each on a separate connection.
IN_FLIGHT = 16
GRPCIO = "grpcio's port"
# Map each encoding to the name of its bound.
FORMS = {CONNECT: "web_binary", JSON: "web_json"}


def measure(plan: BenchPlan) -> Result:
    """Measure the server's processor time for Apply in each game."""
    if not web_door_built():
        return Result(tables={"Apply, web door: not measured without the packages of chatiere[web]": []})
    if not h2load.installed():
        return Result(tables={"Apply, web door: not measured without h2load": []})
    result = Result()
    lines: list[dict[str, Any]] = result.tables.setdefault("Apply, web door and grpcio's port", [])
    with chatiere() as server:
        for game, players in plan.games.items():
            call = apply_call(game, players)
            contenders = {
                GRPCIO: (Contender(server, server.address, APPLY), call),
                CONNECT.name: (Contender(server, server.web_address, APPLY, CONNECT), call),
                JSON.name: (Contender(server, server.web_address, APPLY, JSON), _as_json(game, players)),
            }
            runs = h2load.take_turns_with(contenders, IN_FLIGHT, plan)
            loads = h2load.medians(runs, lambda load: load.per_cpu_second)
            for form, bound in FORMS.items():
                row = f"Apply, web door, {form.name}, {IN_FLIGHT} in flight"
                result.rows.append(cpu_row(row, game.name, loads[form.name], loads[GRPCIO], bound, GRPCIO))
            lines += [
                {
                    "game": game.name,
                    "server": name,
                    "calls/server CPU-s": load.per_cpu_second,
                    "server CPU µs a call": 1e6 / load.per_cpu_second,
                    "calls/s": load.rate,
                    "p50 ms": load.p50,
                    "p99 ms": load.p99,
                }
                for name, load in loads.items()
            ]
    return result


def _as_json(game: Game, players: int) -> Call:
    # Use the server's own encoder, because it determines the size of the response.
    from chatiere.service.ports.web.json_form import JsonForm

    request = apply_request(game, players)
    form = JsonForm("chatiere.v1.ApplyRequest", "chatiere.v1.ApplyResponse")
    return Call(json_format.MessageToJson(request, indent=None).encode(), len(form.write(response_to(request))))
