"""Bots against each other in process: many games at a time, tournaments, and what their games were like.

Imports neither gRPC nor the clients.
"""
