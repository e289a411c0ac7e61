"""Queries over a window of completion times, spec "Query types": which records changed, and how.

`incremental` gives each record that was written in the window once, in its state at the window's end; `cdc` gives every change
with its images. What may be changed here: how changes are found; no query changes storage. Imports the file groups and readers
of `query`; `query.table` calls it.
"""
