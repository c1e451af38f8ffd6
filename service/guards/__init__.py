"""Guards around every call, whatever its port: tokens, limits, memory; and its metrics, log line and trace."""
