"""Large tables: engines write and read millions of drawn rows, and are compared by digests of the rows.

`workload` defines the rows and the expected digests, `large_table` writes a table and asks the queries, `comparison` judges the
answers. The expected rows are computed with numpy from the definition of the workload; no engine takes part. What
may be changed here: the drawn rows and the questions. Imports engines and contract.
"""
