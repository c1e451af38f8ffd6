"""The ports on which a worker or its supervisor listens, and the methods that each port serves."""
