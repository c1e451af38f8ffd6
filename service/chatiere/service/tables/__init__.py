"""Sealed tables: encrypted and authenticated games that the players' programs store; independent of gRPC.

This package contains the cryptography: the keys, the seal and the root. `calls/table_service.py` plays the games.
"""
