"""Recipes for log files: blocks, partial updates, record positions, task attempts, file slices.

What may be changed here: recipes may be added. Imports `recipes`, and types of log blocks from the reference.
"""
