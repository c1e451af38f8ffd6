"""The gRPC service. It applies the rules of the engine for clients, and stores no games.

`process.supervisor.serve` runs a server with worker processes until it is asked to stop. `ports.server.create_server`
creates a server in this process. The packages form layers. `process` starts the `ports`. They listen for connections,
and create an `exchange` for each call. The exchange checks the call with the `guards` (tokens, limits, log) and passes
the request to a method in `calls`, which uses the engine.
"""
