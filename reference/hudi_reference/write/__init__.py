"""Writes: rows become data files, and one completed action on the timeline publishes them.

`write` is the sequence of a write, `writer` stores data files, `commit` is the commit protocol, `concurrency` detects
conflicts between writers. Other actions that a write triggers are not known here: they come with the table, as `WriteHooks`.
What may be changed here: how rows are prepared, located and stored. Imports `query` and what is below it, never `metadata` or
`services`.
"""
