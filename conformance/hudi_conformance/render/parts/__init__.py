"""Building blocks of pages: time axis, picture of a file, hex dump, heading and facts, rows.

What may be changed here: how these parts look. Imports `console`, and `files.inspection` and `layout` of the reference.
"""
