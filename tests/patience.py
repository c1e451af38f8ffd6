"""The patience of tests with events that have to come, however busy the machine is."""

PATIENCE = 90.0
"""Seconds that a test waits for an event before it fails."""
