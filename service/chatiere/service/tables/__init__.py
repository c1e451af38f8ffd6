"""Sealed tables: encrypted and authenticated games that the players keep; independent of gRPC.

This package contains the cryptography: keys, the seal, the root. `calls/table_service.py` plays the games.
"""
