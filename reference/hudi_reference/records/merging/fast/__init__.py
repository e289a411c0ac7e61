"""Merging of whole columns. `merge_slice` chooses between this code and its own.

What may be changed here: the speed; the rows are those of the plain code. Imports `records` and `mergers`.
"""
