"""Recipes for merging: merge modes, ordering values, payload classes, truth tables.

What may be changed here: recipes may be added. Imports `recipes`, the model, and types of log blocks from the reference.
"""
