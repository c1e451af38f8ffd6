"""Rooms, which store the posts of players at sealed tables and send them to all followers; independent of gRPC."""
