"""Calls from their headers to their ends, whatever carries them: one state machine for all ports."""
