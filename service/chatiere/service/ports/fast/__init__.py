"""The fast door: a port that serves gRPC over HTTP/2 with libnghttp2."""
