"""Players, from random to search. Each knows what its seat may know, and nothing else."""
