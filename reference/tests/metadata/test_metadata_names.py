"""Partitions, file ids and index definitions of the metadata table; names of data files."""

import json
from pathlib import Path

import pytest

from hudi_reference.errors import InvalidQuery, InvalidRows, MalformedFileName, MalformedInstantTime, MalformedMetadata
from hudi_reference.layout.names import in_merge_order, parse_data_file_name, require_base_file_name, require_log_file_name
from hudi_reference.layout.partitions import NULL_PARTITION, escape, unescape
from hudi_reference.metadata.definitions import dump_definitions, parse_definitions
from hudi_reference.metadata.partitions import BuiltIn, IndexGroups, Kind, file_id, index_partition
from hudi_reference.records.keys.bucket_hash import bucket_of
from hudi_reference.records.keys.record_keys import composite_key
from hudi_reference.timeline.instants.times import milliseconds_of

DATA = Path(__file__).parents[1] / "data" / "metadata"
LOG = ".f-0_20250101000000000.log.1_0-1-2"


def test_partitions_and_file_ids_equal_those_of_apache_hudi() -> None:
    """IDX-001, IDX-002, IDX-009, IDX-023: names of folders and file groups, as the frozen files are called."""
    partitions = (
        *BuiltIn,
        index_partition(Kind.SECONDARY, "idx_s"),
        *(index_partition(Kind.EXPRESSION, f"idx_{n}") for n in ("day", "low")),
    )
    known = {file_id(str(partition), group) for partition in partitions for group in range(10)}
    assert {path.name.split("_")[0] for path in DATA.glob("*.hfile")} <= known
    assert index_partition(Kind.SECONDARY, "idx_s") == "secondary_index_idx_s"
    with pytest.raises(InvalidQuery):
        file_id("files", 10_000)


def test_file_groups_of_an_index_have_all_numbers() -> None:
    """IDX-010: without one of the file groups the hash of a key would select another one."""
    whole = [file_id("record_index", group) for group in range(3)]
    parted = [file_id("record_index", group, part) for part in ("x", "y-1") for group in range(2)]
    assert len(IndexGroups.from_ids(whole).by_part[None]) == 3
    assert {len(ids) for ids in IndexGroups.from_ids(parted).by_part.values()} == {2}
    assert IndexGroups.from_ids([*whole, "0a1b2c3d-0000-4000-8000-000000000000-0"]).by_part[None] == tuple(whole)
    for ids in (whole[1:], [whole[0], whole[2]], parted[1:]):
        with pytest.raises(MalformedMetadata):
            IndexGroups.from_ids(ids)


def test_definitions_are_read_and_written_again() -> None:
    """IDX-022, IDX-032: the document of Apache Hudi gives kind, function, columns and options, and comes back the same."""
    text = (DATA / "index.json").read_bytes()
    found = {one.partition: one for one in parse_definitions(text, "index.json")}
    assert found["secondary_index_idx_s"].columns == ("s",)
    assert found["expr_index_idx_day"].function == "from_unixtime"
    assert found["expr_index_idx_day"].options == {"expr": "from_unixtime", "format": "yyyy-MM-dd"}
    assert json.loads(dump_definitions(found.values())) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"indexDefinitions": {"a": {}}}', '{"indexDefinitions": {"a": 1}}', "[" * 100_000,
             '{"indexDefinitions": {"a": {"indexName": "b", "indexType": "", "indexFunction": "", "sourceFields": [], "indexOptions": {}}}}']
)  # fmt: skip
def test_damaged_definitions_are_an_error(text: str) -> None:
    """IDX-022: an invalid document is not treated as one without indexes."""
    with pytest.raises(MalformedMetadata):
        parse_definitions(text, "index.json")


@pytest.mark.parametrize("name", [LOG, ".f-0_1.log.1", ".f-0_1.log.7_0-0-0.cdc", "f-0_0-1-2_1.orc"])
def test_names_are_unchanged_after_parsing(name: str) -> None:
    """LF-002, BF-003: the parts of a name give the same name."""
    assert str(parse_data_file_name(name)) == name


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (f".{LOG}.crc", "the checksum file"),
        ("f-0_0-1-2_1.parquet", "a base file's name"),
        (".commits_.archive.1_1-0-1", "an archived timeline"),
        (f"p/{LOG}", "a path"),
        ("x", "'x'"),
    ],
)
def test_the_error_says_what_kind_of_file_the_name_belongs_to(name: str, found: str) -> None:
    """LF-002: the error names the rule, the grammar, and what the name looks like."""
    with pytest.raises(MalformedFileName, match="LF-002") as error:
        require_log_file_name(name)
    assert error.value.found.startswith(found)
    with pytest.raises(MalformedFileName):
        in_merge_order([LOG, name])


def test_name_of_a_log_file_is_not_a_base_file() -> None:
    """BF-003: the name of a log file is refused."""
    with pytest.raises(MalformedFileName, match="a log file's name"):
        require_base_file_name(LOG)


def test_unescaping_returns_the_original() -> None:
    """PROP-016: every text of one folder comes back, but for the empty one."""
    for code in (*range(0x100), 0x65E5, 0x1F600):
        assert unescape(escape(f"a{chr(code)}%41")) == f"a{chr(code)}%41"
    assert escape("") == NULL_PARTITION


def test_values_without_a_result_are_an_error() -> None:
    """Counters are not dates, rows of nulls have no key, and there is no bucket of zero buckets."""
    with pytest.raises(MalformedInstantTime, match="IDX-020"):
        milliseconds_of("42")
    with pytest.raises(InvalidRows, match="META-007"):
        composite_key(["a", "b"], [None, ""])
    with pytest.raises(InvalidQuery):
        bucket_of(["a"], 0)
