"""Attacks on a server, and their effect on its other clients and its memory."""
