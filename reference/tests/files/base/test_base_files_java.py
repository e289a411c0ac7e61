"""Apache Hudi looks up keys in base files of the reference, and both write and read the same bloom filters."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bloom_samples import UUID, WRITTEN
from reference_samples import SCHEMA, TABLE_TYPES, rows_of

from hudi_conformance.engines.support.environments import python_for
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.files.base_file import encode_base_file
from hudi_reference.files.bloom.bloom import FilterType, make_filter
from hudi_reference.write import write

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

KEYS = ["é", "日本", "😀", "abé", "abcdefgh", UUID, *(f"k{i}" for i in range(40))]
ASKED = [*KEYS, *(f"other {i}" for i in range(40))]
SHAPES = [(kind, entries, rate, most) for kind in FilterType for entries, rate, most in ((10, 0.01, 30), (60, 1e-9, 100))]

UPSERT = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "p",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.operation": "upsert",
}
CHANGES = "SELECT 'k3' id, 'changed' name, 2L ts, 'x' p UNION ALL SELECT 'new', 'changed', 2L, 'x'"


def answers(version: str, jobs: list[dict[str, Any]]) -> list[Any]:
    """The answers of `java_base_files.py` to these jobs."""
    script = Path(__file__).with_name("java_base_files.py")
    command = [str(python_for("apache-hudi")), str(script), version]
    run = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, timeout=600, check=False)
    print(run.stderr[-3000:], file=sys.stderr)
    assert run.returncode == 0
    found: list[Any] = json.loads(run.stdout)
    return found


def a_table(folder: Path, kind: str, format: str = "PARQUET") -> WritableTable:
    """A table of the reference with the keys k0 to k19 in one file."""
    more = {} if format == "PARQUET" else {"hoodie.table.base.file.format": format}
    table = create_table(
        folder.as_uri(), name="trips", schema=SCHEMA, record_key=("id",), partition=("p",), ordering=("ts",),
        table_type=kind, properties=more,
    )  # fmt: skip
    table.insert(rows_of(SCHEMA, *({"id": f"k{i}", "name": "written", "ts": 1, "p": "x"} for i in range(20))))
    return table


def upsert(folder: Path, index: str) -> dict[str, Any]:
    """A write by Apache Hudi that finds its keys with this index."""
    options = UPSERT | {"hoodie.index.type": index}
    return {"do": "write", "mode": "append", "table": folder.as_uri(), "select": CHANGES, "options": options}


def footer(folder: Path) -> dict[str, Any]:
    """The content of the footer of the only base file, read by Apache Hudi."""
    (path,) = folder.glob("x/*.parquet")
    return {"do": "footer", "path": str(path), "keys": ["k0", "k19", "absent"]}


def names(folder: Path) -> dict[str, str]:
    """The name of each changed row by key, read by the reference."""
    rows = open_table(folder.as_uri()).snapshot(columns=["id", "name"]).to_pylist()
    assert len(rows) == len({row["id"] for row in rows})
    return {row["id"]: row["name"] for row in rows if row["name"] != "written"}


@pytest.mark.parametrize("version", ["1.0.2", "1.2.0"])
def test_filters_are_equal(version: str) -> None:
    """IDX-004, IDX-005, IDX-006: Apache Hudi writes the same text, and returns the same answers for added and other keys."""
    made = [make_filter(KEYS, kind, entries=entries, rate=rate, max_entries=most) for kind, entries, rate, most in SHAPES]
    jobs = [
        {"do": "make", "type": kind, "entries": entries, "rate": rate, "max_entries": most, "keys": KEYS}
        for kind, entries, rate, most in (*SHAPES, *(written[:4] for written in WRITTEN[:1]))
    ]
    jobs += [{"do": "filter", "type": bloom.kind, "text": bloom.encode(), "keys": ASKED} for bloom in made]
    found = answers(version, jobs)
    assert found[: len(made)] == [bloom.encode() for bloom in made]
    assert found[-len(made) :] == [bloom.may_hold(ASKED) for bloom in made]


@pytest.mark.parametrize("kind", TABLE_TYPES)
def test_upsert_with_the_bloom_index(tmp_path: Path, kind: str) -> None:
    """IDX-004: with the index BLOOM, Apache Hudi updates the existing row and inserts the new one."""
    a_table(tmp_path, kind)
    found = answers("1.0.2", [footer(tmp_path), upsert(tmp_path, "BLOOM")])
    assert found[0] == {"range": ["k0", "k9"], "held": [True, True, False], "keys": sorted(f"k{i}" for i in range(20))}
    assert found[1] is None
    assert names(tmp_path) == {"k3": "changed", "new": "changed"}


def test_upsert_with_the_bloom_index_fails_without_filters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """IDX-004: filters are therefore written by default."""
    monkeypatch.setattr(
        write, "encode_base_file", lambda rows, schema, format, **_: encode_base_file(rows, schema, format, None)
    )
    a_table(tmp_path, "COPY_ON_WRITE")
    found = answers("1.0.2", [footer(tmp_path), upsert(tmp_path, "BLOOM")])
    assert found[0]["held"] is None
    assert "NullPointerException" in found[1]["error"]


@pytest.mark.parametrize(("format", "index"), [("ORC", "SIMPLE"), ("HFILE", "BLOOM")])
def test_upserts_into_other_formats(tmp_path: Path, format: str, index: str) -> None:
    """BF-002, BF-010: Apache Hudi reads, merges and rewrites ORC and HFile base files of the reference, which reads its own.

    With the other index of the two 1.0.2 fails on files of its own, too.
    """
    a_table(tmp_path, "COPY_ON_WRITE", format)
    assert answers("1.0.2", [upsert(tmp_path, index)]) == [None]
    assert names(tmp_path) == {"k3": "changed", "new": "changed"}
    files = [path for path in (tmp_path / "x").iterdir() if not path.name.startswith(".")]
    assert [path.suffix for path in files] == [f".{format.lower()}"] * 2
