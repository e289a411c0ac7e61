"""Recipes for merging: merge modes, ordering values, payload classes, truth tables."""
