"""Record keys and partition paths: key generators and bucket hashes, spec "Record Keys" and "Partitioning".

`record_keys` makes keys and paths of rows, `timestamp_keygen` and `joda_format` make paths of times, `bucket_hash` finds the
bucket of a key. Keys are stored: a change here changes the bytes of tables. Imports `layout` only.
"""
