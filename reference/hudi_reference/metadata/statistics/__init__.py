"""Statistics of columns, as the indexes of column and partition statistics store them.

`bounds` are the least and greatest values and their wrappers, `files` the statistics of one data file, `slices` those of the
files of a slice, `partitions` those of all files of a partition together; `columns` chooses the columns.
What may be changed here: how statistics are computed. Imports `files`, `schema`, `query` and the records of `metadata`.
"""
