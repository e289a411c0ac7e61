"""Recipes for the layout of a table: folders, file names, properties, keys and partition paths.

What may be changed here: recipes may be added. Imports `recipes` only.
"""
