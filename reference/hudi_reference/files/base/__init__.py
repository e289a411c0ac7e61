"""Base files by format: Parquet, ORC and HFile, spec "Base Files".

Each format has a module that reads, reads the footer and encodes; `footer` is the part that all formats have in common.
`files.base_file` chooses the format by the extension of a file. Imports `files.hfile`, `files.bloom`, `schema`. What may be
changed here: the bytes of base files; readers accept what every deployed writer stores.
"""
