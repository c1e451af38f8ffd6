"""Discat: the numbers of the packed state (state.pxd), for Python."""
