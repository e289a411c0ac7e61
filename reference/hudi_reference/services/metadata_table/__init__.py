"""The metadata table as a service: its synchronization with the data table, and its own services.

What may be changed here: when entries are added, and when the metadata table is compacted; records and indexes are in
`metadata`. Imports `archive`, `clean`, `compaction`, `metadata` and what is below them.
"""
