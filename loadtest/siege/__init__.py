"""Attacks on a server, one after the other, and what they do to its other clients and its memory."""
