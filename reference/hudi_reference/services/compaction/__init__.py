"""Compaction and log compaction of merge-on-read tables.

What may be changed here: which slices are compacted, and when. Imports `planning`, `write` and what is below them.
"""
