"""Recipes for the layout of a table: folders, file names, properties, keys and partition paths."""
