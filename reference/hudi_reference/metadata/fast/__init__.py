"""Records of the metadata table decoded side by side. `metadata.codec` chooses between this code and the plain one.

What may be changed here: the speed; the records are those of the plain code. Imports the reading of numbers from
`files.log.fast`, and `schema`.
"""
