"""Load on a running service, by Locust: kinds of users, scenarios of them, and the budget of each."""
