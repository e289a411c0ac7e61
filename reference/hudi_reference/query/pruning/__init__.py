"""Filters of queries, and what a query skips because of them: partitions by their paths, files by the metadata table.

`predicates` are the comparisons, `partition_pruning` and `folder_listing` skip partitions, `table_indexes` is the protocol of
the indexes of the metadata table, which the package `metadata` implements. What may be changed here: which files are skipped;
a file that has a matching row is never skipped. Imports `layout`, `records` and what is below them.
"""
