"""Data files: base files, log files, HFiles, bloom filters, and the inspection of single files.

`base_file` reads and writes base files of any format, `log` has the blocks of log files, `hfile` and `bloom` are used by
both. These packages handle bytes and rows, not tables: `query` decides which files belong to a read time. Imports `layout`,
`schema`, `storage`. What may be changed here: how the bytes of single files are read and written, also of formats that
follow.
"""
