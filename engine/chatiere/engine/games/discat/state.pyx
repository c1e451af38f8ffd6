"""Discat: the constants of the packed state (state.pxd), for Python."""
