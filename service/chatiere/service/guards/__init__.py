"""The guards of every call at every port: tokens, limits, memory, and the call's log line and trace."""
