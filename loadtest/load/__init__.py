"""Load on a running service, by Locust: users of every kind, scenarios of them, and a budget that each has to keep."""
