"""Tables of version 9 that Apache Hudi 1.2.0 makes from drawn programs, and three answers to each query of them: those of the
model, of Apache Hudi and of the reference.

`settings` are the properties of tables, `drawing` draws a table and its steps from a number, `maker` is the process with Apache
Hudi, `judging` compares the answers. What may be changed here: what is drawn; a number then means another table. Imports the
model, the reference and the recipes.
"""
