"""The checks of the validator.

finding          Check, Finding and Tally: what a check is, and what it reports
checksum_files   the checksums that Hadoop stores beside files
hash_ranges      the hashing metadata of partitions with consistent hashing
time_zones       the time zones that a writer may have had
written_schemas  the schema in the metadata of a write against the files that it stored
cheap            checks that read listing, timeline, footers and the headers of log blocks
writes           those of them that compare actions with each other
deep             checks that read every row

What may be changed here: what a finding says. Imports `stored` and the reference.
"""
