"""The gRPC service, which offers the engine's rules to clients and stores no games.

`process.supervisor.serve` runs a server with worker processes until it is asked to stop; `ports.server.create_server`
creates a server in this process. The packages form layers: `process` starts the `ports`; a port passes each call to an
`exchange`, which takes it through the `guards` to its method in `calls`; and the method uses the engine.
"""
