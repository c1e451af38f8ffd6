"""The methods of the services. They convert requests to responses in wire format, and are independent of gRPC."""
