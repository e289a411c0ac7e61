"""Data files: base files, log files, HFiles, bloom filters, and the inspection of single files.

`base_file` reads and writes base files of any format, `log` has the blocks of log files, `hfile` and `bloom` are used by both.
These packages know bytes and rows, not tables: which files count at a read time is decided in `query`. Imports `layout`,
`schema`, `storage`.
"""
