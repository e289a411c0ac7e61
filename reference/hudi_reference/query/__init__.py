"""Queries: snapshot, read-optimized, time travel, incremental and change queries, spec "Reader Expectations" and "Query types".

`table.Table` is the entry point. `file_system_view` finds the file groups of a read time, `file_groups` has their slices,
`slice_reader` and `log_scanner` read one of them, `incremental` and `cdc` answer queries over a window, `retention` refuses
queries whose files were cleaned. What may be changed here: how rows are found and read; queries change nothing in storage.
Imports `records`, `files`, `timeline`, `layout`, `schema` and `legacy`; never `write` or `services`.
"""
