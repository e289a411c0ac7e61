"""Tables with the default settings of Apache Hudi: made by it, written on by the reference, and read and written on by it.

`engine` is the process that runs Apache Hudi, `rounds` are the steps for each table and what is compared after each of them.
"""
