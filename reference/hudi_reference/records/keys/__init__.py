"""Record keys and partition paths: key generators and bucket hashes, spec "Record Keys" and "Partitioning".

`record_keys` makes keys and paths of rows, `timestamp_keygen` and `joda_format` make paths of times, `bucket_hash` finds the
bucket of a key. What may be changed here: which generators are known; keys are stored, so that another key is another record.
Imports `layout` only.
"""
