"""Games between bots in one process: many games at a time, tournaments, and statistics.

This package imports neither gRPC nor the clients.
"""
