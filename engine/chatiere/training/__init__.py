"""Training of networks in integers by self-play, in JAX. Needs the extra `chatiere[train]`."""
