"""Partition values in folder names."""

from collections.abc import Iterator

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, Test, number_tests, valid_test

#: Every character that is escaped: control characters, DEL, and those with a meaning in a path.
ESCAPED = [*map(chr, range(0x20)), "\x7f", *"\"#%'*/:=?\\{[]^"]
#: ASCII characters that are not escaped, although URLs escape many of them.
PLAIN = [c for c in map(chr, range(0x20, 0x7F)) if c not in ESCAPED]
NULLS = "__HIVE_DEFAULT_PARTITION__"

NOTES = {
    "default-partition": "Rows without a value are in a separate folder.",
    "not-ascii": "Characters beyond ASCII are unchanged; URL encoding would make bytes of them.",
    "surrogates": "Beyond U+FFFF a character is two code units in Java; both are unchanged.",
    "dots": "Dots are unchanged, also where they are not allowed as a folder name.",
    "double-escape": "A % is escaped, so that escaping twice and unescaping once gives the text back.",
    "not-an-escape": "A % without two hexadecimal digits is not an escape.",
    "bytes-of-utf8": "%XX is the character of that number, never a byte of UTF-8.",
    "lower-case": "Hexadecimal digits are written in capitals and read in both forms.",
    "plus": "A + is not decoded to a blank.",
    "whole-path": "A slash ends a folder's name, so it is escaped inside a value.",
}


def cases() -> Iterator[VectorCase]:
    """Escaping and unescaping."""
    derived = ["the table of characters in Apache Hudi and Hive", HAND]
    yield VectorCase(
        area="names",
        name="partition-escaping",
        requirements=["PROP-016", "LAY-006"],
        says="In a partition value, control characters and characters with a meaning in paths are escaped, and no others.",
        needs=["compute.partition.escape"],
        flags=["wrong-rows", "lost-write"],
        function="partition.escape",
        derived_by=derived,
        notes={
            k: NOTES[k] for k in ("default-partition", "not-ascii", "surrogates", "dots", "double-escape", "plus", "whole-path")
        },
        tests=number_tests(_escaping()),
        if_it_fails="Escape the 47 characters of the table as %XX with capital letters; this is not URL encoding.",
    )
    yield VectorCase(
        area="names",
        name="partition-unescaping",
        requirements=["PROP-016", "LAY-006"],
        says="A folder name is decoded to the partition value: each %XX is the character of that number.",
        needs=["compute.partition.unescape"],
        flags=["wrong-rows"],
        function="partition.unescape",
        derived_by=derived,
        notes={
            k: NOTES[k]
            for k in ("not-an-escape", "bytes-of-utf8", "double-escape", "lower-case", "plus", "not-ascii", "surrogates")
        },
        tests=number_tests(_unescaping()),
        if_it_fails="Replace each % and two hexadecimal digits by that character, once from left to right; keep the rest.",
    )


def _to(value: str, text: str) -> tuple[dict[str, str], str]:
    return {"value": value}, text


def _escaping() -> Iterator[Test]:
    yield valid_test("letters and digits", *_to("abcXYZ019", "abcXYZ019"))
    yield valid_test("every character that stays", *_to("".join(PLAIN), "".join(PLAIN)))
    yield valid_test("every control character", *_to("".join(ESCAPED[:32]), "".join(f"%{n:02X}" for n in range(32))))
    for character in ESCAPED[32:]:
        flags = {"/": ["whole-path"], "%": ["double-escape"]}.get(character, [])
        yield valid_test(f"U+{ord(character):04X}", *_to(f"a{character}b", f"a%{ord(character):02X}b"), *flags)
    yield valid_test("the empty text", *_to("", NULLS), "default-partition")
    yield valid_test("a text like the folder of nulls", *_to(NULLS, NULLS), "default-partition")
    yield valid_test("a blank", *_to(" ", " "))
    yield valid_test("blanks around it", *_to(" a b ", " a b "))
    yield valid_test("a day", *_to("2024-01-02", "2024-01-02"))
    yield valid_test("a day with slashes", *_to("2024/01/02", "2024%2F01%2F02"), "whole-path")
    yield valid_test("a time", *_to("2024-01-02 03:04:05.678", "2024-01-02 03%3A04%3A05.678"))
    yield valid_test("leading zeros", *_to("007", "007"))
    yield valid_test("a negative number", *_to("-1", "-1"))
    yield valid_test("one dot", *_to(".", "."), "dots")
    yield valid_test("two dots", *_to("..", ".."), "dots")
    yield valid_test("the parent folder", *_to("../a", "..%2Fa"), "dots", "whole-path")
    yield valid_test("a leading dot", *_to(".hidden", ".hidden"), "dots")
    yield valid_test("the table's own folder", *_to(".hoodie", ".hoodie"), "dots")
    yield valid_test("what is escaped already", *_to("a%2Fb", "a%252Fb"), "double-escape")
    yield valid_test("twice escaped", *_to("a%252Fb", "a%25252Fb"), "double-escape")
    yield valid_test("Hive style", *_to("city=São Paulo", "city%3DSão Paulo"), "not-ascii")
    yield valid_test("letters with accents", *_to("Åäöß", "Åäöß"), "not-ascii")
    yield valid_test("Chinese and Arabic", *_to("日本 عربي", "日本 عربي"), "not-ascii")
    yield valid_test("an emoji", *_to("😀", "😀"), "not-ascii", "surrogates")
    yield valid_test("an emoji beside a slash", *_to("😀/😀", "😀%2F😀"), "surrogates", "whole-path")
    yield valid_test("control characters beyond ASCII", *_to("\x80\x9f\xa0", "\x80\x9f\xa0"), "not-ascii")
    yield valid_test("slash and percent in full width", *_to("／％", "／％"), "not-ascii")
    yield valid_test("a plus", *_to("a+b", "a+b"), "plus")
    yield valid_test("a NUL", *_to("a\0b", "a%00b"))
    yield valid_test("a line break of Windows", *_to("a\r\nb", "a%0D%0Ab"))
    yield valid_test("a path of Windows", *_to("C:\\a", "C%3A%5Ca"))
    yield valid_test("JSON", *_to('{"a":[1]}', "%7B%22a%22%3A%5B1%5D}"))
    yield valid_test("a long value", *_to("a/" * 500, "a%2F" * 500), "whole-path")


def _from(text: str, value: str) -> tuple[dict[str, str], str]:
    return {"text": text}, value


def _unescaping() -> Iterator[Test]:
    yield valid_test("nothing to do", *_from("abc", "abc"))
    yield valid_test("the empty text", *_from("", ""))
    yield valid_test("a slash", *_from("2024%2F01%2F02", "2024/01/02"))
    yield valid_test("every escaped character", *_from("".join(f"%{ord(c):02X}" for c in ESCAPED), "".join(ESCAPED)))
    yield valid_test("every plain character", *_from("".join(PLAIN), "".join(PLAIN)))
    yield valid_test("small letters", *_from("a%2fb%3a", "a/b:"), "lower-case")
    yield valid_test("small and capital letters", *_from("%5c%5C", "\\\\"), "lower-case")
    yield valid_test("an escaped percent", *_from("100%25", "100%"))
    yield valid_test("twice escaped", *_from("a%252Fb", "a%2Fb"), "double-escape")
    yield valid_test("three times escaped", *_from("a%25252Fb", "a%252Fb"), "double-escape")
    yield valid_test("only a percent sign", *_from("%", "%"), "not-an-escape")
    yield valid_test("a percent at the end", *_from("100%", "100%"), "not-an-escape")
    yield valid_test("one digit at the end", *_from("a%4", "a%4"), "not-an-escape")
    yield valid_test("an escape at the end", *_from("a%41", "aA"))
    yield valid_test("only an escape", *_from("%41", "A"))
    yield valid_test("no hexadecimal digits", *_from("%zz", "%zz"), "not-an-escape")
    yield valid_test("one hexadecimal digit", *_from("%4z", "%4z"), "not-an-escape")
    yield valid_test("a blank inside", *_from("% 41", "% 41"), "not-an-escape")
    yield valid_test("two percents before digits", *_from("%%41", "%A"), "not-an-escape")
    yield valid_test("an escaped percent before digits", *_from("%2541", "%41"), "double-escape")
    yield valid_test("percents only", *_from("%%%%", "%%%%"), "not-an-escape")
    yield valid_test("a NUL", *_from("a%00b", "a\0b"))
    yield valid_test("a plus", *_from("a+b", "a+b"), "plus")
    yield valid_test("an escaped blank", *_from("a%20b", "a b"))
    yield valid_test("characters of one byte beyond ASCII", *_from("%E9", "é"), "bytes-of-utf8")
    yield valid_test("two bytes of UTF-8 are two characters", *_from("%C3%A9", "Ã©"), "bytes-of-utf8")
    yield valid_test("the greatest number", *_from("%FF", "ÿ"), "bytes-of-utf8")
    yield valid_test("letters with accents", *_from("Åäö%2F", "Åäö/"), "not-ascii")
    yield valid_test("an emoji", *_from("😀%3A😀", "😀:😀"), "not-ascii", "surrogates")
    yield valid_test("an emoji behind a percent", *_from("%😀", "%😀"), "not-an-escape", "surrogates")
    yield valid_test("the folder of nulls", *_from(NULLS, NULLS))
    yield valid_test("dots", *_from("..%2F..", "../.."))
    yield valid_test("the escape of U+0041 of other languages", *_from("%u0041", "%u0041"), "not-an-escape")
    yield valid_test("a long text", *_from("%2F" * 1000, "/" * 1000))
