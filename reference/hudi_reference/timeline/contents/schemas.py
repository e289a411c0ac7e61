"""The Avro schemas of the records in the files of actions, as deployed writers embed them.

They lie beside this module as data, one file a record, field by field as Apache Hudi 1.0.2 writes them. A default that is
formally wrong (null for a plain array, in the records of a restore) is part of them.
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
    """The schema of a record by its name, `HoodieCleanerPlan` for example; not to be changed by the caller."""
    schema: AvroSchema = json.loads((files(__package__) / "avsc" / f"{record}.avsc").read_text("utf-8"))
    return schema
