"""Merging the log records of a file slice into its base rows, spec "Record Merging".

`merge_slice` chooses the merge. It, `partial_merge` and `custom_merge` merge one record at a time, `fast` whole columns.
`log_block_merge` merges log blocks without the base file. What may be changed here: a rule in the plain code first, then
in `fast`. Imports the other modules of `records`, and `files`, `schema`, `layout`.
"""
