"""The state machine of calls, from their headers to their ends; shared by all ports."""
