"""Indexing: builds partitions of the metadata table while writers continue.

What may be changed here: how an index is built; the indexes themselves are in `metadata/indexes`. Imports `metadata_table`,
`planning` and what is below them.
"""
