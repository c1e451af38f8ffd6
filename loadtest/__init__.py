"""What loads and measures the service; not part of the package."""
