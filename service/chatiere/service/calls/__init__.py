"""The methods of the services, from requests to responses in wire format; independent of gRPC."""
