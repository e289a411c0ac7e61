"""Checks of the deep tier: they read every row.

groups           one pass over the files of a file group, for all checks of single files
base_files       rows against name, folder, footer and timeline
key_generation   keys and partition paths that the fields of rows give
footer_statistics  statistics of Parquet files against their rows
rewrites         rows that a write copied against the file from which it copied them
compactions      base files of compactions against the slices that they merged
log_compactions  blocks of log compactions against those that they merged
changes          captured changes against the rows of the same write
clusterings      file groups of clusterings against those that they replaced
unnamed_files    base files that their write does not name, against the files that it names
log_files        blocks against their headers, their file and the timeline
keys, buckets    unique keys in a partition, and keys in their buckets
file_entries     entries of files in the metadata table: statistics of columns, partitions and expressions, bloom filters
expressions      values of the functions of expression indexes
bounds           whether statistics hold for the values of a column
key_entries      entries of record keys in the metadata table: record index and secondary indexes; orphan entries

The listing of files and the timeline of the metadata table are checked by `cheap.metadata_files`. What may be changed here:
what is checked by reading rows. Imports `checks`, `stored` and the reference.
"""
