"""Migration of tables from version 6 to version 8.

What may be changed here: how properties and instants are converted. Imports `compaction`, `legacy` and what is below them.
"""
