"""Checks of the rows in single files, and of files against those from which they were made.

base_files         rows against name, folder, footer and timeline
key_generation     keys and partition paths that the fields of rows give
footer_statistics  statistics of Parquet files against their rows
log_files          blocks against their headers, their file and the timeline
rewrites           rows that a write copied against the file from which it copied them
compared_rows      two states of file groups whose rows must be the same
compactions        base files of compactions against the slices that they merged
log_compactions    blocks of log compactions against those that they merged

What may be changed here: what is checked in a file that is read. Imports `checks`, `stored` and the reference.
"""
