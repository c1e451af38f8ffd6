"""Load tests and benchmarks of the service; not part of the package."""
