"""Rollback, restore and savepoint.

`failed_writes` decides which pending writes have failed. What may be changed here: which actions may be rolled back, and in
which order files are removed. Imports `planning`, `write` and what is below them.
"""
