"""The time that tests wait for an expected event. It is long enough for a busy machine."""

PATIENCE = 90.0
"""The number of seconds that a test waits for an event before it fails."""
