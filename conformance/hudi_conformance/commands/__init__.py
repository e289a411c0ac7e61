"""The commands of `hudi-conformance`, one module each; `cli` puts them together.

What may be changed here: options and texts of commands; the work is done by other packages. Imports everything but `cli`.
"""
