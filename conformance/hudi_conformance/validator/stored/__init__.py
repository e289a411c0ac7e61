"""A table as found on storage. Each part is read once and without raising an error for damage.

table, history          StoredTable: properties, timeline, contents of actions and data files, each with its error
listing, read_only      one listing of everything below the base path; a storage without requests that write
scope                   the partitions, rules and number of files that a validation is limited to
file_views, removals    the file groups in two views, and the files that actions removed
pending                 the pending actions: their age, their heartbeats, and what waits for them
opened                  the table as the reference reads it: its rows, and its metadata table
damaged_table           a damaged table in the form of a `Table`, for `hudi-conformance inspect`

What may be changed here: what is read of a table, and how its damage is kept. Imports the reference.
"""
