"""HFile, major version 3: sorted keys with their values, an index over them, and named blocks.

Base files of the metadata table are HFiles, and so are the contents of HFile log blocks. `writer` and `reader` are the entry
points; `block`, `index`, `cell`, `trailer` and `checksum` are the parts of the file, `records` the Avro records that Apache
Hudi stores as values. Only what Apache Hudi writes is read. Imports `schema` and `storage`. What may be changed here: which
HFiles are read, and how new ones are laid out.
"""
