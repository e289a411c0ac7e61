"""The built-in payload classes by their full names, spec "Record Payloads". No class is ever loaded.

>>> sorted(name.rpartition(".")[2] for name in PAYLOADS if "Debezium" in name)
['MySqlDebeziumAvroPayload', 'PostgresDebeziumAvroPayload']

What may be changed here: which classes are known, and their decision tables. Imports `records`, `mergers`, `schema` and
`layout`.
"""

from collections.abc import Mapping

from hudi_reference.errors import MalformedOrdering, UnknownMerger
from hudi_reference.files.log.deletes import Ordering
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.records.changes import DeleteMarker
from hudi_reference.records.payloads.payload import Payload, PayloadMerger
from hudi_reference.records.payloads.tables import PACKAGE, PAYLOAD_TABLES
from hudi_reference.requirement import implements

#: The package of releases before 0.5.
_OLD_PACKAGE = "com.uber.hoodie"
#: The class whose decisions are part of a statement and not stored in the table.
_OF_STATEMENTS = "org.apache.spark.sql.hudi.command.payload.ExpressionPayload"


@implements("PAY-022")
def log_position(ordering: Ordering | None) -> Ordering | None:
    """`<file>.<position>` of a MySQL binary log as numbers, the file first. Raises MalformedOrdering."""
    if ordering is None:
        return None
    file, dot, position = str(ordering).rpartition(".")
    if not (dot and file.isdecimal() and position.isdecimal()):
        raise MalformedOrdering("not a position in a binary log", rule="PAY-022", expected="<file>.<position>, two numbers",
                                found=repr(ordering))  # fmt: skip
    return int(file), int(position)


@implements("PAY-007", "PAY-008", "PAY-009", "PAY-010", "PAY-012", "PAY-023")
def _payload(name: str) -> Payload:
    found = PAYLOAD_TABLES[name]
    full = PACKAGE + name
    changed = DeleteMarker("_change_operation_type", "d", ignore_case=True)
    match name.rpartition(".")[2]:
        case "MySqlDebeziumAvroPayload":
            return Payload(full, found, ("_event_seq",), changed, log_position)
        case "PostgresDebeziumAvroPayload":
            return Payload(full, found, ("_event_lsn",), changed)
        case "AWSDmsAvroPayload":
            return Payload(full, found, marker=DeleteMarker("Op", "D", ignore_case=True))
    return Payload(full, found)


#: By full class name.
PAYLOADS: Mapping[str, Payload] = {PACKAGE + name: _payload(name) for name in PAYLOAD_TABLES}


@implements("PAY-002", "PAY-004")
def merger_of_payload(name: str) -> PayloadMerger:
    """The merger with the behaviour of a payload class. Raises UnknownMerger for a class that is not built in."""
    full = f"org.apache.hudi{name.removeprefix(_OLD_PACKAGE)}" if name.startswith(_OLD_PACKAGE) else name
    if full not in PAYLOADS:
        remedy = "read the table with an engine that has the class"
        if full == _OF_STATEMENTS:
            remedy = "its decisions are those of one MERGE INTO statement; store the payload class of the table instead"
        raise UnknownMerger(
            "the table merges by a payload class that is not built in", rule="PAY-002", path=PROPERTIES_PATH,
            expected=f"one of {', '.join(PAYLOADS)}", found=f"hoodie.compaction.payload.class={name}", remedy=remedy,
        )  # fmt: skip
    return PayloadMerger(PAYLOADS[full])
