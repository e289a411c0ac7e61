"""Record keys of several fields."""

from collections.abc import Iterator

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, HUDI, Test, invalid_test, number_tests, valid_test


def cases() -> Iterator[VectorCase]:
    """Complex keys."""
    yield VectorCase(
        area="names",
        name="complex-keys",
        requirements=["PROP-007", "META-007"],
        says="A record key of several fields is field:value joined by commas, with placeholders for null and empty values.",
        needs=["compute.key.complex"],
        flags=["lost-write", "double-apply"],
        function="key.complex",
        derived_by=[HUDI, HAND],
        notes={
            "null": "A null is written as __null__, so that it differs from an empty text.",
            "empty": "An empty text is written as __empty__, so that it differs from null.",
            "no-value": "A row without any key value has no key; an invented key would lose rows.",
            "not-escaped": "Nothing is escaped: the key is ambiguous, and must be the same for every writer.",
            "same-key": "Two different rows have the same key; the writer cannot distinguish them and must not try to.",
            "order": "Fields are in the order of the table's property, not of the schema or the alphabet.",
            "not-ascii": "A value may contain any character.",
        },
        tests=number_tests(_valid(), _invalid()),
        if_it_fails=(
            "Join name:value by commas in the given order; use __null__ for null and __empty__ for empty; escape nothing."
        ),
    )


def _key(text: str, *fields: tuple[str, str | None]) -> tuple[dict[str, list[list[str | None]]], str]:
    return {"fields": [list(field) for field in fields]}, text


def _valid() -> Iterator[Test]:
    yield valid_test("observed in a table of Apache Hudi", *_key("id:1,name:Alice", ("id", "1"), ("name", "Alice")))
    yield valid_test(
        "observed in another", *_key("txn_id:TXN-015,account_id:ACC-M", ("txn_id", "TXN-015"), ("account_id", "ACC-M"))
    )
    yield valid_test("the other way round", *_key("name:Alice,id:1", ("name", "Alice"), ("id", "1")), "order")
    yield valid_test("not in the order of the alphabet", *_key("b:1,a:2,c:3", ("b", "1"), ("a", "2"), ("c", "3")), "order")
    yield valid_test("a null first", *_key("a:__null__,b:1", ("a", None), ("b", "1")), "null")
    yield valid_test("a null last", *_key("a:1,b:__null__", ("a", "1"), ("b", None)), "null")
    yield valid_test("an empty text first", *_key("a:__empty__,b:1", ("a", ""), ("b", "1")), "empty")
    yield valid_test("an empty text last", *_key("a:1,b:__empty__", ("a", "1"), ("b", "")), "empty")
    yield valid_test(
        "null, empty, and a value", *_key("a:__null__,b:__empty__,c:x", ("a", None), ("b", ""), ("c", "x")), "null", "empty"
    )
    yield valid_test("the text __null__", *_key("a:__null__,b:1", ("a", "__null__"), ("b", "1")), "same-key", "null")
    yield valid_test("the text __empty__", *_key("a:__empty__,b:1", ("a", "__empty__"), ("b", "1")), "same-key", "empty")
    yield valid_test("the text null", *_key("a:null,b:1", ("a", "null"), ("b", "1")))
    yield valid_test("only the text __null__", *_key("a:__null__,b:__null__", ("a", "__null__"), ("b", "__null__")), "same-key")
    yield valid_test("a comma in a value", *_key("a:1,2,b:3", ("a", "1,2"), ("b", "3")), "not-escaped")
    yield valid_test("a colon in a value", *_key("a:1:2,b:3", ("a", "1:2"), ("b", "3")), "not-escaped")
    yield valid_test("a value like the next field", *_key("a:1,b:2,b:3", ("a", "1,b:2"), ("b", "3")), "not-escaped", "same-key")
    yield valid_test(
        "the same text from other values", *_key("a:1,b:2,b:3", ("a", "1"), ("b", "2,b:3")), "not-escaped", "same-key"
    )
    yield valid_test("a backslash", *_key("a:\\,b:\\\\", ("a", "\\"), ("b", "\\\\")), "not-escaped")
    yield valid_test("what URLs escape", *_key("a:%/?#=&+,b: ", ("a", "%/?#=&+"), ("b", " ")), "not-escaped")
    yield valid_test("a dollar", *_key("a:$,b:$$", ("a", "$"), ("b", "$$")), "not-escaped")
    yield valid_test("quotes", *_key("a:\"x\",b:'y'", ("a", '"x"'), ("b", "'y'")), "not-escaped")
    yield valid_test("blanks are kept", *_key("a: x ,b:  ", ("a", " x "), ("b", "  ")))
    yield valid_test("a line break", *_key("a:x\ny,b:1", ("a", "x\ny"), ("b", "1")))
    yield valid_test("a NUL", *_key("a:\0,b:1", ("a", "\0"), ("b", "1")))
    yield valid_test("leading zeros", *_key("a:007,b:1", ("a", "007"), ("b", "1")))
    yield valid_test("other forms of one number", *_key("a:1.0,b:1e3", ("a", "1.0"), ("b", "1e3")))
    yield valid_test("letters with accents", *_key("a:é,b:ß", ("a", "é"), ("b", "ß")), "not-ascii")
    yield valid_test("the same letter in two characters", *_key("a:e\u0301,b:1", ("a", "e\u0301"), ("b", "1")), "not-ascii")
    yield valid_test("emoji", *_key("a:😀,b:日本", ("a", "😀"), ("b", "日本")), "not-ascii")
    yield valid_test("a field in capitals", *_key("Id:1,ID:2", ("Id", "1"), ("ID", "2")))
    yield valid_test("a nested field", *_key("n.a:1,n.b:2", ("n.a", "1"), ("n.b", "2")))
    yield valid_test("a field that is not ASCII", *_key("größe:1,b:2", ("größe", "1"), ("b", "2")), "not-ascii")
    yield valid_test("ten fields", *_key(",".join(f"f{n}:{n}" for n in range(10)), *((f"f{n}", str(n)) for n in range(10))))
    yield valid_test("a long value", *_key(f"a:{'x' * 2000},b:1", ("a", "x" * 2000), ("b", "1")))


def _invalid() -> Iterator[Test]:
    nothing: dict[str, list[list[str | None]]] = {
        "nulls": [["a", None], ["b", None]],
        "empty texts": [["a", ""], ["b", ""]],
        "a null and an empty text": [["a", None], ["b", ""]],
        "ten nulls": [[f"f{n}", None] for n in range(10)],
    }
    for comment, fields in nothing.items():
        yield invalid_test(f"only {comment}", {"fields": fields}, "no-value")
    yield invalid_test("no field", {"fields": []}, "no-value")
