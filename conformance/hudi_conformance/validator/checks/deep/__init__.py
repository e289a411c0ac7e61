"""Checks of the deep tier: they read every row.

files          checks of the rows in single files
groups         one pass over the files of a file group, for all checks of `files`
changes        captured changes against the rows of the same write
clusterings    file groups of clusterings against those that they replaced
unnamed_files  base files that their write does not name, against the files that it names
keys, buckets  unique keys in a partition, and keys in their buckets
file_entries   entries of files in the metadata table: statistics of columns, partitions and expressions, bloom filters
expressions    values of the functions of expression indexes
bounds         whether statistics hold for the values of a column
key_entries    entries of record keys in the metadata table: record index and secondary indexes; orphan entries

The listing of files and the timeline of the metadata table are checked by `cheap.metadata_files`. What may be changed here:
what is checked by reading rows. Imports `checks`, `stored` and the reference.
"""
