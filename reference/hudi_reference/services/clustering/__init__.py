"""Clustering: moves rows to new file groups.

`settings`, `partitions` and `groups` choose what is clustered, `order` sorts rows. What may be changed here: which slices are
clustered, and how rows are sorted. Imports `compaction`, `rollback`, `planning` and what is below them.
"""
