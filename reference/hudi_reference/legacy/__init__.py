"""Tables of version 6, which are read and migrated but never written: the rules that differ from version 8.

`versions` loads the timeline of either version and finds the slice of a log file by its name, `archived_log` reads the
archive of version 6. Code for version 6 belongs here, not into `query` or `timeline`. Imports `files`, `timeline`, `layout`.
What may be changed here: how tables of version 6 are read.
"""
