"""The ports that a worker or its supervisor listens on, and the way of a call from its headers to its method."""
