"""Vectors of the properties file: syntax, checksum, inferred merge settings; and instant times in time zones."""

import itertools
import json
import zlib
from collections.abc import Iterator
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, SECOND, Test, invalid_test, number_tests, valid_test

ENGINES = "Apache Hudi's own classes, 1.0.2 and 1.2.0"


def cases() -> Iterator[VectorCase]:
    """Syntax, checksum, inference, times."""
    yield VectorCase(
        area="properties", name="syntax", requirements=["PROP-001", "PROP-011"], needs=["compute.properties.parse"],
        says="A properties file is read as java.util.Properties reads it.", function="properties.parse",
        derived_by=["java.util.Properties", HAND], flags=["silent-stale"],
        notes={"continued": "A line that continues in the next one.", "escape": "A backslash and the character after it.",
               "separator": "The end of the key.", "comment": "A comment or an empty line."},
        tests=number_tests(_syntax()),
        if_it_fails="Use the grammar of java.util.Properties.load, not a split at the first '='.",
    )  # fmt: skip
    yield VectorCase(
        area="properties", name="checksum", requirements=["PROP-011"], needs=["compute.properties.checksum"],
        says="The checksum is the CRC-32 of '<database>.<table>' in UTF-8, as a decimal number.",
        function="properties.checksum", derived_by=[ENGINES, SECOND], flags=["refused-table"], errata=["ER-020"],
        notes={"no-database": "The dot stays.", "dots": "Names with dots of their own.", "unicode": "Bytes of UTF-8."},
        tests=number_tests(_checksums()), if_it_fails="Use the unsigned CRC-32 of zlib; a missing database is an empty text.",
    )  # fmt: skip
    yield VectorCase(
        area="properties", name="merging", requirements=["MRG-017", "MRG-018", "MRG-021"], needs=["compute.properties.infer"],
        says="Merge mode, strategy id and payload class are derived from each other; contradictions are refused.",
        function="properties.infer", derived_by=[ENGINES, SECOND], flags=["silent-stale"], errata=["ER-094"],
        notes={"contradiction": "Guessing either way gives silently wrong rows.", "custom": "A custom merger.",
               "nothing": "Without settings the ordering field decides."},
        tests=number_tests(_merging()), if_it_fails="The strategy id has priority, then the payload class, then the mode.",
    )  # fmt: skip
    yield VectorCase(
        area="times", name="in-zones", requirements=["TT-005", "TT-001"], needs=["compute.time.format"],
        says="An instant is written as yyyyMMddHHmmssSSS in the time zone of the table's timeline.", function="time.format",
        flags=["wrong-time"], derived_by=["the rules of each zone, by hand"],
        notes={"repeated-hour": "The same hour occurs twice: later times are not larger.",
               "skipped-hour": "An hour is skipped.",
               "before-the-epoch": "Negative milliseconds."},
        tests=number_tests(_times()), if_it_fails=("Seconds and milliseconds are rounded down, also before 1970; zone offsets "
                                               "may include minutes."),
    )  # fmt: skip


def _syntax() -> Iterator[Test]:
    for comment, text, value, *flags in (
        ("one entry", "a=1\n", {"a": "1"}),
        ("nothing", "", {}),
        ("blanks around the separator", "a = b\n", {"a": "b"}, "separator"),
        ("a colon", "a:b", {"a": "b"}, "separator"),
        ("a blank", "a b", {"a": "b"}, "separator"),
        ("two separators", "a:=b", {"a": "=b"}, "separator"),
        ("blank, then a separator, then another", "a =: b", {"a": ": b"}, "separator"),
        ("an escaped colon in a key", "a\\:b:c", {"a:b": "c"}, "separator", "escape"),
        ("an escaped blank in a key", "a\\ b=c", {"a b": "c"}, "separator", "escape"),
        ("an escaped blank at the start", "\\ a=b", {" a": "b"}, "escape"),
        ("a no-break space is not a blank", "\xa0a=b", {"\xa0a": "b"}, "separator"),
        ("a vertical tab is no line end", "a=b\x0bc=d", {"a": "b\x0bc=d"}),
        ("an escaped equals sign in a key", "a\\u003d=b", {"a=": "b"}, "escape"),
        ("no key", "=x", {"": "x"}, "separator"),
        ("no value", "a", {"a": ""}),
        ("only a backslash", "\\", {"": ""}, "escape"),
        ("a key twice, then without a value", "a=1\na=2\na", {"a": ""}),
        ("blanks at the end stay", "a=b  \n", {"a": "b  "}),
        ("a form feed before the key", "\f a=b", {"a": "b"}),
        ("a comment", "# a=b", {}, "comment"),
        ("the other comment", "  !x=y", {}, "comment"),
        ("a broken escape in a comment", "#\\u12\nb=1", {"b": "1"}, "comment"),
        ("a comment does not go on", "#x\\\nb=1", {"b": "1"}, "comment", "continued"),
        ("an escaped hash begins a key", "\\u0023a=b", {"#a": "b"}, "comment", "escape"),
        ("continued in a value", "a=b\\\n  c", {"a": "bc"}, "continued"),
        ("continued behind CR LF", "a=b\\\r\n  c", {"a": "bc"}, "continued"),
        ("continued in a key", "a\\\n =b", {"a": "b"}, "continued"),
        ("continued with what looks like a comment", "a=b\\\n#c", {"a": "b#c"}, "continued", "comment"),
        ("continued by an empty line", "a=b\\\n\nc=d", {"a": "b", "c": "d"}, "continued"),
        ("continued twice", "a=b\\\n\\\nc", {"a": "bc"}, "continued"),
        ("continued at the end", "a=b\\", {"a": "b"}, "continued"),
        ("two backslashes do not continue", "a=b\\\\\nc=d", {"a": "b\\", "c": "d"}, "continued"),
        ("three backslashes do", "a=b\\\\\\\nc", {"a": "b\\c"}, "continued"),
        ("an umlaut as its byte", "a=\xe9", {"a": "é"}),
        ("an umlaut as its number", "a=\\u00E9", {"a": "é"}, "escape"),
        ("two halves of a character", "a=\\ud83d\\udeb2", {"a": "🚲"}, "escape"),
        ("a digit behind the escape", "a=\\u00411", {"a": "A1"}, "escape"),
        ("escaped letters without a meaning", "a=\\x41\\q", {"a": "x41q"}, "escape"),
        ("an uppercase U does not begin an escape", "a=\\U0041", {"a": "U0041"}, "escape"),
        ("tab, line feed, return, form feed", "a=\\t\\n\\r\\f", {"a": "\t\n\r\f"}, "escape"),
        ("all line ends", "a=1\rb=2\r\nc=3\n", {"a": "1", "b": "2", "c": "3"}),
        ("a schema", 'hoodie.table.create.schema={"type"\\:"record"}', {"hoodie.table.create.schema": '{"type":"record"}'}),
    ):
        yield valid_test(comment, {"text": text}, value, *flags)
    for comment, text in (("two digits", "a=\\u12"), ("letters", "a=\\uZZZZ"), ("the end", "a=\\u"), ("in a key", "\\u00g0=1")):
        yield invalid_test(f"an escape that is none: {comment}", {"text": text}, "escape")


def _checksums() -> Iterator[Test]:
    # Values computed by Apache Hudi's classes.
    for comment, database, table, value, *flags in (
        ("no database", None, "t", "498511606", "no-database"),
        ("an empty database", "", "t", "498511606", "no-database"),
        ("a database", "default", "t", "454464632"),
        ("an umlaut", "d", "té", "4133003728", "unicode"),
        ("a dot in the database", "a.b", "c", "3060946797", "dots"),
        ("a dot in the table", "a", "b.c", "3060946797", "dots"),
        ("beyond the first 65,536 characters", "x", "🚲", "4138395184", "unicode"),
        ("a metadata table of the wild", None, "with_metadata_table", "1676142617", "no-database"),
    ):
        assert value == str(zlib.crc32(f"{database or ''}.{table}".encode()))
        yield valid_test(comment, {"database": database, "table": table}, value, *flags)


_MODES = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": "EVENT_TIME_ORDERING",
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": "COMMIT_TIME_ORDERING",
}
_OF_PAYLOAD = "00000000-0000-0000-0000-000000000000"
_PACKAGE = "org.apache.hudi.common.model."
_CLASSES = {f"{_PACKAGE}DefaultHoodieRecordPayload": "EVENT_TIME_ORDERING",
            f"{_PACKAGE}OverwriteWithLatestAvroPayload": "COMMIT_TIME_ORDERING"}  # fmt: skip


def _merging() -> Iterator[Test]:
    """All combinations on which both releases agree: 192 of 240."""
    modes = (None, "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM")
    strategies = (None, *_MODES, _OF_PAYLOAD, "1897ef5f-18bc-4557-939c-9d6a8afd1519")
    payloads = (None, *_CLASSES, f"{_PACKAGE}AWSDmsAvroPayload", "com.example.Payload")
    for mode, strategy, payload, ordering in itertools.product(modes, strategies, payloads, (None, "ts")):
        asked = {"mode": mode, "strategy": strategy, "payload": payload, "ordering": ordering}
        value = _merged(mode, strategy, payload, ordering)
        comment = json.dumps([word and word.rpartition(".")[2][:12] for word in asked.values()])
        yield (
            invalid_test(comment, asked, "contradiction")
            if value is None
            else valid_test(comment, asked, value, *_flags(value, asked))
        )


def _flags(value: Any, asked: dict[str, Any]) -> list[str]:
    if not any(asked[word] for word in ("mode", "strategy", "payload")):
        return ["nothing"]
    return ["custom"] if value["mode"] == "CUSTOM" else []


def _merged(mode: str | None, strategy: str | None, payload: str | None, ordering: str | None) -> dict[str, str] | None:
    """The inferred settings by the rule of the format; None if the combination is refused."""
    votes = [table.get(word, "CUSTOM") for table, word in ((_MODES, strategy), (_CLASSES, payload)) if word]
    found = votes[0] if votes else mode or ("EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING")
    known = [vote for vote in votes if vote != "CUSTOM"]
    if (mode and mode != found) or (len(votes) == 2 and votes[0] in known and votes[0] != votes[1]):
        return None
    if found != "CUSTOM":
        mine = next(key for key, of in _MODES.items() if of == found), next(key for key, of in _CLASSES.items() if of == found)
        return {"mode": found, "strategy": mine[0], "payload": mine[1]}
    if not payload and strategy in (None, _OF_PAYLOAD):
        return None
    return {"mode": found, "strategy": strategy or _OF_PAYLOAD, "payload": payload or f"{_PACKAGE}DefaultHoodieRecordPayload"}


def _times() -> Iterator[Test]:
    for comment, milliseconds, zone, value, *flags in (
        ("the epoch", "0", "UTC", "19700101000000000"),
        ("a millisecond before", "-1", "UTC", "19691231235959999", "before-the-epoch"),
        ("a day before", "-86400001", "UTC", "19691230235959999", "before-the-epoch"),
        ("observed in a table of Apache Hudi", "1766264468078", "UTC", "20251220210108078"),
        ("the last second of a leap day", "1709251199999", "UTC", "20240229235959999"),
        ("past 32 bits of seconds", "4294967296000", "UTC", "21060207062816000"),
        ("the first year", "-62135596800000", "UTC", "00010101000000000", "before-the-epoch"),
        ("the last year", "253402300799999", "UTC", "99991231235959999"),
        ("half an hour", "0", "Asia/Kolkata", "19700101053000000"),
        ("a day ahead", "0", "Pacific/Kiritimati", "19691231132000000", "before-the-epoch"),
        ("Berlin, before summer time", "1743296399999", "Europe/Berlin", "20250330015959999", "skipped-hour"),
        ("Berlin, a millisecond later", "1743296400000", "Europe/Berlin", "20250330030000000", "skipped-hour"),
        ("Berlin, half past two for the first time", "1761438600000", "Europe/Berlin", "20251026023000000", "repeated-hour"),
        ("Berlin, half past two again", "1761442200000", "Europe/Berlin", "20251026023000000", "repeated-hour"),
        ("Berlin, an hour later a smaller time", "1761440400000", "Europe/Berlin", "20251026020000000", "repeated-hour"),
        ("New York in winter", "1736942400000", "America/New_York", "20250115070000000"),
    ):
        yield valid_test(comment, {"milliseconds": milliseconds, "zone": zone}, value, *flags)
    yield invalid_test("after the last year", {"milliseconds": "253402300800000", "zone": "UTC"})
    yield invalid_test("before the first year", {"milliseconds": "-62135596800001", "zone": "UTC"}, "before-the-epoch")
    yield invalid_test("an unknown zone", {"milliseconds": "0", "zone": "Mars/Olympus"})
