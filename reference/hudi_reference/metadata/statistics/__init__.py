"""Statistics of columns, as the indexes of column and partition statistics store them.

`bounds` are the least and greatest values and their wrappers, `files` the statistics of one data file, `columns` which columns of
a table have statistics, `partitions` the statistics of the files of a partition together.
What may be changed here: how statistics are computed. Imports `files`, `schema`, `query` and the records of `metadata`.
"""
