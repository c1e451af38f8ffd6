"""Third-party clients of gRPC."""
