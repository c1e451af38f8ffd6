"""The methods of GameService and BatchService: requests to responses in wire format, without gRPC."""
