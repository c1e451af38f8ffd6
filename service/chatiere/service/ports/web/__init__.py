"""The port for browsers: Connect, gRPC-Web and JSON over HTTP/1.1. Needs the extra `chatiere[web]`."""
