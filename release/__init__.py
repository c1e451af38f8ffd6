"""Releases: the packages as they are published (make wheel)."""
