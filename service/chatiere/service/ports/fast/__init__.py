"""The fast door: gRPC over HTTP/2 by libnghttp2."""
