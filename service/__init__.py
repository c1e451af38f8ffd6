"""The gRPC service: a stateless door to the engine's rules.

`server.create_server` makes a server, `server.serve` runs one until it is told to stop. A call comes in through
`interceptors` (metrics, log line, errors) and `servicer` (transport) to one of `handlers`, which know nothing of gRPC.
"""
