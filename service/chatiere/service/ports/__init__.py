"""The ports on which a worker or its supervisor listens, and the path of a call from its headers to its method."""
