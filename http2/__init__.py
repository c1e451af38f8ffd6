"""gRPC's protocol on HTTP/2 over plain sockets, without gRPC's library: what service and clients share of it."""
