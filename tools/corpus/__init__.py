"""The corpus below table level: single files, families of damaged files, and vectors, each with its decoded meaning.

A module of this package that has a function `cases` makes cases; `registry.py` finds it, `python -m tools.corpus` writes what
it makes. Bytes are put together by small builders (`log_bytes.py`, `hfile_bytes.py`, `avro_bytes.py`) that share nothing with
the reference: where each part lies and what it means is known from how it was put together, never from decoding it.
"""
