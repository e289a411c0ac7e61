"""Table schemas: Avro in storage, Arrow in memory, spec "Schema Evolution".

`avro` has the two forms of a schema, `avro_codec` converts values; `promotion` is a table of types, `reconcile`, `evolution`
and `field_ids` apply it. `avro_validation` refuses damaged input. No storage is accessed here. Imports only `errors`,
`java_text` and `requirement`. What may be changed here: which types and which changes of a schema are supported.
"""
