"""Golden tables of version 8 that are copied at version 9."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hudi_conformance.cases.case import Case, find_cases, load_case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cases.table_versions import PROPERTIES, serves_both_versions, set_table_version
from hudi_conformance.runner import golden_cases, run_report, selection  # noqa: F401 - see test_plugin
from hudi_conformance.runner.table_copies import TableCopies

pytest_plugins = ["pytester"]
#: An engine that does not know version 9.
OLDER = """
from hudi_conformance.engines.reference.engine import Reference
PLAIN = Reference.hello
def hello(self):
    from dataclasses import replace
    said = PLAIN(self)
    return replace(said, features=said.features - {"table-version.9"})
Reference.hello = hello
"""


def golden(name: str) -> Case:
    return load_case(fixtures_root() / name.replace(".", "/", 1) / "case.json")


def stored_versions(table: Path) -> set[str]:
    """The versions in the properties of a table and of its metadata table."""
    found = (path.read_text().splitlines() for path in (table / name for name in PROPERTIES) if path.is_file())
    return {line.partition("=")[2] for lines in found for line in lines if line.startswith("hoodie.table.version=")}


def test_the_tables_of_cases_of_both_versions_serve_both() -> None:
    """`versions` of a case says what follows from its table. A recipe whose table changes has to be written anew."""
    wrong = [
        case.id for case in find_cases() if case.table is not None and 8 in case.versions
        and serves_both_versions(case.subject) != (case.versions == (8, 9))
    ]  # fmt: skip
    assert wrong == []


@pytest.mark.parametrize(
    ("entries", "serves"),
    [
        ("", True),
        ("hoodie.table.metadata.partitions=files\n", True),
        ("hoodie.table.metadata.partitions=\n", True),
        ("hoodie.table.metadata.partitions=column_stats,files\n", False),
        ("hoodie.record.merge.mode=CUSTOM\n", False),
        ("hoodie.table.version=8\n", False),
    ],
)
def test_what_a_table_needs_to_serve_both(tmp_path: Path, entries: str, serves: bool) -> None:
    """Indexes and payload classes are stored in another way at version 9; an entry that is there twice is damage."""
    mode = "" if "merge.mode" in entries else "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / PROPERTIES[0]).write_text(f"hoodie.table.version=8\n{mode}{entries}")
    assert serves_both_versions(tmp_path) is serves


def test_other_tables_serve_their_own_version(tmp_path: Path) -> None:
    """Tables without properties, of other versions, and of version 9."""
    assert not serves_both_versions(tmp_path)
    for name in ("layout.refuse.table-version-99", "log.rollback-command.version-9"):
        assert not serves_both_versions(golden(name).subject)


def test_the_metadata_table_has_the_version_of_its_table(tmp_path: Path) -> None:
    """Otherwise a reader takes the metadata table for one of an unfinished upgrade. Checksums of whole files are removed."""
    for name in PROPERTIES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a=hoodie.table.version=8\nhoodie.table.version=8\nhoodie.table.initial.version=8\n")
    checksum = tmp_path / ".hoodie" / ".hoodie.properties.crc"
    checksum.write_bytes(b"crc")
    set_table_version(tmp_path, 9)
    texts = {(tmp_path / name).read_text() for name in PROPERTIES}
    assert texts == {"a=hoodie.table.version=8\nhoodie.table.version=9\nhoodie.table.initial.version=8\n"}
    assert not checksum.exists()


def test_copies_of_each_version(tmp_path: Path) -> None:
    """A copy at one version does not serve a question about the other, and the committed table is not changed."""
    case = golden("log.rollback-command")
    copies = TableCopies()
    found = [Path(urlsplit(copies.find_copy("x", case.at_version(version))).path) for version in (None, 8, 9, 9)]
    assert [stored_versions(table) for table in found] == [{"8"}, {"8"}, {"9"}, {"9"}]
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert stored_versions(case.subject) == {"8"}
    copies.close()


@pytest.mark.parametrize(
    ("name", "version", "versions", "copied_as"),
    [
        ("log.rollback-command", None, (8,), None),
        ("log.rollback-command", 8, (8,), None),
        ("log.rollback-command", 9, (9,), 9),
        ("log.rollback-command.version-9", 8, (9,), None),
        ("merge.own-merger.mor", 9, (8,), None),
        ("log.damaged-file.content.hfile", 9, (8, 9), None),
    ],
)
def test_the_version_of_a_case(name: str, version: int | None, versions: tuple[int, ...], copied_as: int | None) -> None:
    """Only a table that serves both versions is copied at another one; a file is about both."""
    found = golden(name).at_version(version)
    assert (found.versions, found.copied_as) == (versions, copied_as)


@pytest.mark.parametrize(("plugin", "expected"), [("", [9]), (OLDER, [8])])
def test_a_run_names_the_version(pytester: pytest.Pytester, plugin: str, expected: list[int]) -> None:
    """An engine is asked about the named version if it declares it, and the result says about which it was asked."""
    pytester.makepyfile(older=plugin)
    folder = fixtures_root() / "log" / "rollback-command"
    plugins = ("--disable-plugin-autoload", "-p", "hudi_conformance", "-p", "no:cacheprovider", "-p", "older")
    done = pytester.runpytest_subprocess(*plugins, str(folder), "--engine=reference", "--report=report", "--table-version=9")
    done.assert_outcomes(passed=1)
    (line,) = (Path(pytester.path) / "report" / "report.jsonl").read_text().splitlines()
    assert json.loads(line)["versions"] == expected
