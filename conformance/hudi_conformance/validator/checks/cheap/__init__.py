"""Checks of the cheap tier: from listing, timeline, footers and the headers of log blocks.

What may be changed here: what is checked without reading rows. Imports `checks`, `stored` and the reference.
"""
