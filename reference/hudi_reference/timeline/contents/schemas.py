"""The Avro schemas of the records in the files of actions, as deployed writers embed them.

They are data files in `avsc`, one for each record, equal to those of Apache Hudi 1.0.2, including defaults that Avro does not
allow (null for an array, in the records of a restore).
"""

import json
from functools import cache
from importlib.resources import files

from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema

#: The namespace of all of them.
NAMESPACE = "org.apache.hudi.avro.model"


@cache
@implements("TL-007", "TL-009", "TL-012", "TL-014", "TL-015", "TL-017", "TL-018", "TL-020", "TL-022", "TL-024")
def schema_of(record: str) -> AvroSchema:
    """The schema of a record by its name, e.g. `HoodieCleanerPlan`. Callers must not change it."""
    schema: AvroSchema = json.loads((files(__package__) / "avsc" / f"{record}.avsc").read_text("utf-8"))
    return schema
