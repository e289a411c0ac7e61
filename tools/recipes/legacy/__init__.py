"""Recipes for tables of version 6.

What may be changed here: recipes may be added. Imports `recipes` only.
"""
