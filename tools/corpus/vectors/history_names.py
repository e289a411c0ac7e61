"""Names of the files of the timeline history."""

from collections.abc import Iterator

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Test, invalid_test, number_tests, valid_test

A, B = "20261121143736764", "20261121143740948"


def cases() -> Iterator[VectorCase]:
    """Names of level files."""
    yield VectorCase(
        area="history",
        name="file-names",
        requirements=["LSM-013", "LSM-014", "LSM-016"],
        says=(
            "The name of a history file consists of the lowest time, the highest time and the level; other names are rejected."
        ),
        needs=["compute.history-file-name.parse"],
        flags=["lost-write"],
        errata=["ER-039"],
        function="history-file-name.parse",
        derived_by=[HUDI, HAND],
        notes={
            "two-digits": "A level may have two digits; a reader that skips such a file loses history.",
            "backwards": "The upgrade from version 6 writes names whose first time is the later one.",
            "look-alike": "Another file of the folder: a manifest, a temporary file, or a backup of an editor.",
            "not-ascii-digits": "Digits of other scripts match many regular expressions and are not accepted here.",
        },
        tests=number_tests(_valid(), _invalid()),
        if_it_fails="Match the name from end to end: digits, _, digits, _, digits, .parquet.",
    )


def _name(minimum: str, maximum: str, level: str, extension: str = "parquet") -> dict[str, str]:
    return {"name": f"{minimum}_{maximum}_{level}.{extension}"}


def _parts(minimum: str, maximum: str, level: int) -> dict[str, str | int]:
    return {"minimum": minimum, "maximum": maximum, "level": level}


def _valid() -> Iterator[Test]:
    for level in (0, 1, 2, 9):
        yield valid_test(f"level {level}", _name(A, B, str(level)), _parts(A, B, level))
    for level in (10, 123):
        yield valid_test(f"level {level}", _name(A, B, str(level)), _parts(A, B, level), "two-digits")
    yield valid_test("one action", _name(A, A, "0"), _parts(A, A, 0))
    yield valid_test("times of seconds", _name(A[:14], B[:14], "0"), _parts(A[:14], B[:14], 0))
    yield valid_test("the later time first", _name(B, A, "0"), _parts(B, A, 0), "backwards")


def _invalid() -> Iterator[Test]:
    for comment, name in (
        ("a manifest", {"name": "manifest_1"}),
        ("the version file", {"name": "_version_"}),
        ("another extension", _name(A, B, "0", "orc")),
        ("no extension", {"name": f"{A}_{B}_0"}),
        ("a temporary file", _name(A, B, "0", "parquet.0a1b2c3d-0000-4000-8000-000000000000")),
        ("a checksum file", {"name": f".{A}_{B}_0.parquet.crc"}),
        ("two parts", {"name": f"{A}_{B}.parquet"}),
        ("four parts", {"name": f"{A}_{B}_{B}_0.parquet"}),
        ("no level", _name(A, B, "")),
        ("a level in words", _name(A, B, "x")),
        ("a level below zero", _name(A, B, "-1")),
        ("a time in words", _name("now", B, "0")),
        ("a folder before it", {"name": f"history/{A}_{B}_0.parquet"}),
        ("a line end behind it", {"name": f"{A}_{B}_0.parquet\n"}),
        ("a blank before it", {"name": f" {A}_{B}_0.parquet"}),
        ("nothing", {"name": ""}),
    ):
        yield invalid_test(comment, name, "look-alike")
    yield invalid_test("Arabic digits", _name(A, B, "٠"), "not-ascii-digits")
    yield invalid_test("full-width digits", _name("２０２６", B, "0"), "not-ascii-digits")
