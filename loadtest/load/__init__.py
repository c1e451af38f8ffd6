"""Load on a running service with Locust: kinds of users, scenarios and their budgets."""
