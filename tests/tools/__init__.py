"""Programs of the Makefile, and helpers shared by tests of several folders."""
