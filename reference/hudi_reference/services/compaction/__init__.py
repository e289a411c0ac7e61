"""Compaction and log compaction of merge-on-read tables.

`trigger` decides when a compaction is due. What may be changed here: which slices are compacted, and when. Imports `planning`,
`write` and what is below them.
"""
