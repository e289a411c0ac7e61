"""Records: keys, ordering values, deletes, merge modes, mergers and payloads, spec "Record Keys" and "Record Merging".

`merge_tables` has the decision tables of the merge modes as data, `merge` applies them to two versions of a record, `merging`
merges whole slices. Queries, writes and table services all use this package, so that they agree. Imports `files`, `layout`
and `schema`; no storage is accessed here. What may be changed here: which version of a record wins, by rules of the
specification.
"""
