"""Log files: a sequence of blocks, spec "Log Format".

`reader` finds the blocks of a file, `block` has their envelope, `content` their contents; `writer` makes blocks. `deletes`,
`kryo_deletes`, `cdc` and `positions` are parts of blocks. Bytes follow the deployed format; every difference to the text of
the specification is marked by its erratum. What may be changed here: how blocks are encoded and decoded. Imports
`files.base`, `files.hfile`, `layout`, `schema` and `storage`.
"""
