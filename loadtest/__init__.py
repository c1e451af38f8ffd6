"""Load tests and benchmarks of the service. They are not part of the package."""
