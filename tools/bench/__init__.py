"""Benchmarks: the reference against peers and against the raw Arrow scan, in one run, as ratios.

`python -m tools.bench` makes the tables, starts a worker process for each engine, compares the rows of all of them, then runs
the same tasks in turn, five rounds, and prints medians of CPU seconds and wall seconds. No test depends on a time.
"""
