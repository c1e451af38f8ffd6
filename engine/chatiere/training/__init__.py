"""Training of networks in integers by self-play, in JAX: it needs the extra `chatiere[train]`."""
