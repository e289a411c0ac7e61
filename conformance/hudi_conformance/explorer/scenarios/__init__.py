"""What is explored: tables, the programs that run on them at the same time, and bounds of the search.

To add a scenario, add a `Definition` to `scenarios.SCENARIOS`. This package may import all others of the explorer except
`s3`. What may be changed here: which processes run together, and the bounds of the search.
"""
