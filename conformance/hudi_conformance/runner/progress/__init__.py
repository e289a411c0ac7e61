"""The progress of a run in the terminal: a bar with the time left, and the matrix of the golden cases before all cases end.

What may be changed here: what is shown during a run. Imports `runner`, `report` and `cases`.
"""
