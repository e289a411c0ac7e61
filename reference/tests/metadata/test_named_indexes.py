"""Indexes that users name: definitions, entries of secondary and expression indexes, and refusals."""

import datetime

import pyarrow as pa
import pytest
from reference_samples import TABLE_TYPES, new_table, trip, trips

from hudi_reference import WritableTable, create_index, drop_index, open_table
from hudi_reference.errors import HudiError, UnsupportedTableFeature
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.availability import USABLE, read_definitions
from hudi_reference.metadata.indexes.index_functions import values_of
from hudi_reference.metadata.secondary_keys import parse_secondary_key
from hudi_reference.metadata.table import MetadataTable

BOTH = pytest.mark.parametrize("kind", TABLE_TYPES)
SETTINGS = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.index.enable": "true"}


def indexed_table(kind: str) -> WritableTable:
    """A table with two rows and a record index."""
    table = new_table(partition=("p",), table_type=kind, options=SETTINGS)
    table.insert(trips(trip("a", p="x"), trip("b", p="y")))
    return opened(table)


def opened(table: WritableTable) -> WritableTable:
    """The table as it is now."""
    return open_table("x:", storage=table.storage, clock=table.clock, ids=table.ids, options=SETTINGS)
