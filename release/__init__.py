"""Releases: the published packages (make wheel), and the whole release (make release)."""
