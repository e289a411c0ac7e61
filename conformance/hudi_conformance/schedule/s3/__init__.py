"""Clients of an object store, in processes of their own, that take turns: an HTTP gate in front of the store admits one request
at a time, in an order of our choice, and lets happen to it what happens on networks."""
