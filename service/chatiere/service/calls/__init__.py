"""The methods of the services, which convert requests to responses, both in wire format; independent of gRPC."""
