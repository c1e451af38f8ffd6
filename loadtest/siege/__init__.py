"""Attacks on a server, and their effect on other clients and on the server's memory."""
