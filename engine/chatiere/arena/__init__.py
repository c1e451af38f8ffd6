"""Games between bots in process: many games at a time, tournaments, and statistics of the games.

Imports neither gRPC nor the clients.
"""
