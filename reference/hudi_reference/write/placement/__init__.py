"""The file group of each incoming row: rows with keys and partition paths, their location by key, by bucket or by hash range.

With a simple bucket index the number of the bucket begins the file id. With consistent hashing, hashing metadata names the
file group of each range of hashes. What may be changed here: which file group a row goes to. Imports `query`, `records`,
`write.concurrency` and what is below them.
"""
