"""Sealed tables: games that the players carry, encrypted and authenticated; without gRPC.

What hides and binds a game is here: keys, the seal, the root. `calls/table_service.py` plays.
"""
