"""Recipes for queries: projection, filters, types, schema evolution, incremental windows.

What may be changed here: recipes may be added. Imports `recipes` only.
"""
