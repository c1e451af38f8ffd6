"""Data sets of games between bots for training, played in this process, by a service, or on a Ray cluster."""
