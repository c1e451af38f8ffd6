"""A deterministic simulation of the service above its wires: clock, network, threads and faults come from one seed."""
