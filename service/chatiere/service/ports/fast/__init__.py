"""The fast door: gRPC over HTTP/2 with libnghttp2."""
