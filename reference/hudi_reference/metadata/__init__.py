"""The metadata table: indexes of files, columns and records, in a table below `.hoodie/metadata`.

`records`, `codec` and `schema` are its records, `value_types` the types of their bounds, `keys` their keys, `locations` the
file ids in the record index, `indexes` the maintained indexes, `table` and `writer` read and write it. What may be changed
here: which indexes exist and what they contain; when they are updated is decided in `services/metadata_table`. Imports `write`,
`query` and what is below them.
"""
