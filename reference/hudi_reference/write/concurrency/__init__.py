"""Concurrency control: settings, markers, heartbeats, the check for conflicts, and the update strategy.

`config` reads the settings; `conflict_resolution` holds the conflict matrix as a table. What may be changed here: which actions
conflict, and when a conflict is detected. Imports `query`, `timeline` and what is below them, nothing else of `write`.
"""
