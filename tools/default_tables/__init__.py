"""Tables with the default settings of Apache Hudi: made by it, written on by the reference, and read and written on by it.

`engine` is the process that runs Apache Hudi, `rounds` are the steps for each table and what is compared after each of them.
What may be changed here: which tables are made, and the steps on them. Imports the reference and the adapter of Apache Hudi.
"""
