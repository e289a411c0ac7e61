"""The flags of golden cases: the danger of a wrong answer."""

from collections.abc import Mapping

#: What a wrong answer to a case with this flag may do.
DANGERS: Mapping[str, str] = {
    "lost-write": "a committed change is missing",
    "silent-stale": "an older version is returned",
    "resurrected-row": "a deleted row is returned",
    "phantom-row": "a row is returned that the table does not have, or that the query does not select",
    "duplicate-rows": "a record is returned as several rows",
    "double-apply": "a change counts twice",
    "dirty-read": "a change that was not committed is returned",
    "silent-guess": "damaged, missing or unsupported content is replaced by a guess",
    "wrong-value": "a value is changed",
    "silent-wrong-values": "bytes are decoded to other values, without an error",
    "wrong-rows": "other rows are read, because a name, a key or a property is decoded wrongly",
    "wrong-column": "a column is missing, additional, or in the place of another one",
    "wrong-time": "a time becomes another one",
    "refused-table": "a valid table is refused",
    "crash": "the process crashes, or does not end",
    "memory": "the process needs much more memory than the file has bytes",
}
