"""Recipes for queries: projection, filters, types, schema evolution, incremental windows."""
