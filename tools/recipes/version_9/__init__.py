"""Recipes of tables of version 9: twins of recipes of version 8, and tables that only version 9 has.

What may be changed here: recipes may be added. Imports `recipes` and `requirements`.
"""
