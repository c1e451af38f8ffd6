"""Data sets of games between bots, for training: played in process, by a service, or on a Ray cluster."""
