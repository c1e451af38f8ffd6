"""The state machine of a call, from its headers to its end. All ports share it."""
