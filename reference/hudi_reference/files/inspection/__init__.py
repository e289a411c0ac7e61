"""The inspection of a single file, for display and for comparison between engines.

`file_type` finds the format of a file by its bytes; `log`, `base_file` and the HFile reader show its contents; `envelope` and
`block_scan` show a log block or an HFile field by field, also if it is damaged. Inspection continues after an error: errors
are shown beside the fields. Nothing here decides which rows a table has. What may be changed here: what is shown. Imports the
other packages of `files`, and `layout`, `schema` and `storage`.
"""
