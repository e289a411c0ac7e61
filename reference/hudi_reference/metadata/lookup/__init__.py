"""The metadata table in queries: which of its entries describe a state of the table, and what a query skips because of them.

`index_snapshot` reads entries by key and by prefix, `query_indexes` implements the protocol of queries, `column_bounds` decides
what statistics say of a comparison, `key_lookup` finds the file groups of record keys. What may be changed here: which files a
query skips; a file that has a matching row is never skipped. Imports `metadata`, `query` and what is below them.
"""
