"""The corpus below table level: single files, families of damaged files, and vectors, each with its decoded meaning.

A module with a function `cases` generates cases; `registry.py` finds the module, and `python -m tools.corpus` writes the
cases. Bytes are built by small builders (`log/builder.py`, `hfile/builder.py`, `avro_bytes.py`) that share no code with the
reference: the position and the meaning of each part follow from how it was built, never from decoding it.

What may be changed here: cases may be added; their ids stay. Imports `engines.support` for the names of meta columns.
"""
