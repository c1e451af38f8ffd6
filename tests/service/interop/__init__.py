"""Other clients of gRPC than ours."""
