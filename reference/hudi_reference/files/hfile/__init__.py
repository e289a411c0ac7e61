"""HFile, major version 3: sorted keys with their values, an index over them, and named blocks beside them.

Base files of the metadata table and the content of HFile log blocks. `writer` and `reader` are the ways in; `block`, `index`,
`cell`, `trailer` and `checksum` are the parts of the file, `records` the Avro records that Apache Hudi keeps as values.
"""
