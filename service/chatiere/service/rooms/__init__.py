"""Rooms, which send the posts of players at sealed tables to all followers and keep them; independent of gRPC."""
