"""Vectors of merging: decisions for two versions of a record, mergers, payload classes, and the properties that choose them.

What may be changed here: values may be added. Imports `corpus` only.
"""
