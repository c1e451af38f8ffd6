"""Rooms: what people who play at sealed tables post is told to all who follow, and kept for a while; without gRPC."""
