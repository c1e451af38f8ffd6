"""Guards around every call, whatever its port: tokens, limits, memory; and its log line and trace."""
