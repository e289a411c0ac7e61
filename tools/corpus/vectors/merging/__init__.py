"""Vectors of merging: decisions for two versions of a record, mergers, payload classes, and the properties that choose them."""
