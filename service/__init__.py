"""The gRPC service: a stateless door to the engine's rules.

`server.create_server` makes a server in one process; `supervisor.serve` runs one with workers until it is told to
stop. A call comes in through `interceptors` (metrics, log line, errors) and `servicer` (transport) to one of
`handlers`, or of the methods of `batch`, which know nothing of gRPC. Streams of batches may come in through `play_port`
instead.
"""
