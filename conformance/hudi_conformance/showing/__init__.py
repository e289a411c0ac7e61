"""How `inspect` shows one file to people: what it is, a picture of its bytes, its parts, and the bytes that are wrong.

`log`, `hfile` and `base` show the three kinds of files; `page`, `bar`, `hexdump`, `rows`, `damage` and `metadata_records` are
what they are put together from. Colour says nothing that the text does not say too.
"""
