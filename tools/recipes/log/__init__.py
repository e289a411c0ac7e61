"""Recipes for log files: blocks, partial updates, record positions, task attempts, file slices."""
