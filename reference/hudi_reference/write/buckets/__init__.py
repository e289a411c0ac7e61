"""Tables with a bucket index: a hash of the record key determines the file group.

Simple engine: the number of the bucket begins the file id. Consistent hashing: hashing metadata names the file group of each
range of hashes.
"""
