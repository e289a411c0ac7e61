"""Contents of log blocks as whole columns. `log.content` chooses between this code and the plain one.

What may be changed here: the speed; the rows are those of the plain code. Imports `schema`.
"""
