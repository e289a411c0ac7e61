"""Recipes for tables of version 6."""
