"""Releases: the packages as they are published (make wheel), and all that a release is (make release)."""
