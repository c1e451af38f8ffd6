"""How long tests wait for what has to come, however busy the machine is."""

PATIENCE = 90.0
"""Seconds that a test waits for an event before it fails."""
