"""Commands of the suite: run, explore, fixtures, coverage, mutants, explain.

What may be changed here: options and texts of these commands. Imports `runner`, `report`, `mutants`, `explorer` and `cases`.
"""
