"""Chatpentiers: the numbers of the packed state, for Python."""
