"""The pytest plugin of the suite: items, selection, results, lists of expected failures, and runs with mutants.

What may be changed here: how cases are selected, run and compared with lists of expected failures. Imports `report`, `cases`,
`contract`, `engines` and what is below them.
"""
