"""Rooms for the posts of players at sealed tables. A room stores posts and sends them to all of its followers."""
