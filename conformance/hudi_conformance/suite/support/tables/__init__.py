"""Tables that tests write, and functions that read their files with general libraries, as the format describes them.

Each module serves one chapter or service, for example `archived_tables`, `clustered_tables`, `stored_blocks`. Modules import
`programs` and each other; only those that inspect the metadata table or plan by hand import the reference. What may be
changed here: which tables are written; cases that use them are run again.
"""
