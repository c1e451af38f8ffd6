"""The gRPC service: the engine's rules for clients; it stores nothing.

`process.supervisor.serve` runs a server with workers until it is told to stop; `ports.server.create_server` makes one
in this process. A call's way goes down the floors: `process` starts what `ports` listens on, a port has an `exchange`
take the call through `guards` to its method in `calls`, and that asks the engine.
"""
