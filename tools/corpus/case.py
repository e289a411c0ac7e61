"""Cases below table level: one file, a family of damaged files, or a list of vectors."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any
#: Length in characters from which JSON is written without indentation.
LONG = 40_000
Verdict = Literal["valid", "must-refuse", "must-recover"]


def find_patch(old: bytes, new: bytes) -> tuple[int, int, bytes]:
    """The single patch that turns `old` into `new`."""
    head = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest_old, rest_new = old[head:], new[head:]
    pairs = zip(reversed(rest_old), reversed(rest_new), strict=False)
    tail = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(rest_old), len(rest_new)))
    return head, len(rest_old) - tail, rest_new[: len(rest_new) - tail]


@dataclass(frozen=True, kw_only=True)
class Case:
    """The fields that every case has, with the names of `case.json`.

    `says` is the description: one sentence that states the guarantee. `needs` are features of the contract. `producer` is the
    engine that wrote the bytes; the default is by hand. `versions` are the table versions, if it is not about all.
    """

    area: str
    name: str
    requirements: Sequence[str]
    says: str
    if_it_fails: str
    needs: Sequence[str]
    flags: Sequence[str] = ()
    errata: Sequence[str] = ()
    versions: Sequence[int] = ()
    producer: Mapping[str, str] = field(default_factory=lambda: {"engine": "hand"})

    @property
    def id(self) -> str:
        """Area and name."""
        return f"{self.area}.{self.name}"

    def files(self, source: str) -> dict[str, bytes | None]:
        """The files of the case by path; None for a file that is kept as committed.

        `source` is the file of the module that makes the case, relative to the repository.
        """
        raise NotImplementedError

    def _case_json(self, source: str, own: Mapping[str, Json], expected: Mapping[str, Json]) -> bytes:
        optional = {"versions": list(self.versions), "flags": list(self.flags), "errata": list(self.errata)}
        return to_json(
            {
                "id": self.id,
                "requirements": list(self.requirements),
                "description": self.says,
                "producer": {"recipe": f"{source}::{self.name}", **self.producer},
                "needs": sorted(self.needs),
                **{key: value for key, value in optional.items() if value},
                **own,
                "expected": expected,
                "if_it_fails": self.if_it_fails,
            }
        )


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One member of a family: the changes of the file, and the right answer after them.

    `patches` are (offset, bytes to remove, bytes to insert), with offsets of the unchanged file, ascending and not overlapping.
    Then the file is cut to `cut` bytes. `accept` are further right inspections; with `or_error` an error is right too.
    """

    name: str
    says: str = ""
    patches: Sequence[tuple[int, int, bytes]] = ()
    cut: int | None = None
    inspect: Json = None
    accept: Sequence[Json] = ()
    error: str | None = None
    or_error: bool = False

    def to_json(self) -> dict[str, Json]:
        """The variant as a line of `variants.json`."""
        found: dict[str, Json] = {"name": self.name}
        if self.patches:
            found["patches"] = [{"at": at, "remove": remove, "insert": new.hex()} for at, remove, new in self.patches]
        optional = {"cut": self.cut, "inspect": self.inspect, "accept": list(self.accept) or None, "error": self.error}
        found |= {key: value for key, value in optional.items() if value is not None}
        if self.or_error:
            found["or_error"] = True
        return found | ({"says": self.says} if self.says else {})

    def apply_to(self, data: bytes) -> bytes:
        """The bytes of the variant of this file."""
        for at, remove, new in reversed(self.patches):
            data = data[:at] + new + data[at + remove :]
        return data if self.cut is None else data[: self.cut]


def distinct_variants(variants: Iterable[Variant], data: bytes) -> list[Variant]:
    """The variants of a file, without those whose bytes equal an earlier one."""
    by_bytes: dict[bytes, Variant] = {}
    for variant in variants:
        by_bytes.setdefault(variant.apply_to(data), variant)
    return list(by_bytes.values())


@dataclass(frozen=True, kw_only=True)
class FileCase(Case):
    """One file and its expected inspection, or a family of copies with patches.

    `content` is None for committed bytes that are kept (files that an engine wrote). `keys` and `prefix` are arguments of
    `inspect`. One of `inspect`, `error` and `variants` is the right answer; `accept` are further right inspections, and with
    `or_error` an error is right too.
    """

    file: str
    content: bytes | None
    verdict: Verdict
    inspect: Json = None
    accept: Sequence[Json] = ()
    error: str | None = None
    or_error: bool = False
    variants: Sequence[Variant] = ()
    keys: Sequence[str] | None = None
    prefix: str | None = None
    derived_by: Sequence[str] = ("how the bytes were put together",)

    def files(self, source: str) -> dict[str, bytes | None]:
        """Case file, the file itself, and the expected answers."""
        asked = {"keys": None if self.keys is None else list(self.keys), "prefix": self.prefix}
        own = {"file": f"bytes/{self.file}", "verdict": self.verdict} | {k: v for k, v in asked.items() if v is not None}
        answers = self._answers()
        return {
            "case.json": self._case_json(source, own, self._expected()),
            f"bytes/{self.file}": self.content,
            **{f"expected/{name}.json": content for name, content in answers.items()},
        }

    def _answers(self) -> dict[str, bytes]:
        if self.variants:
            return {"variants": json_lines([variant.to_json() for variant in self.variants])}
        if self.inspect is None:
            return {}
        further = {f"also-right-{n}": to_json(one) for n, one in enumerate(self.accept, 1)}
        return {"inspect": to_json(self.inspect), **further}

    def _expected(self) -> dict[str, Json]:
        if self.error is not None:
            return {"error": self.error}
        kind = "variants" if self.variants else "inspect"
        found: dict[str, Json] = {kind: f"expected/{kind}.json"}
        if self.accept:
            found["accept"] = [f"expected/also-right-{n}.json" for n, _ in enumerate(self.accept, 1)]
        if self.or_error:
            found["or_error"] = True
        return {**found, "derived_by": list(self.derived_by)}


@dataclass(frozen=True, kw_only=True)
class VectorCase(Case):
    """Vectors of one function of the contract. `tests` are as in `vectors.json`, `notes` explain their flags."""

    function: str
    tests: Sequence[Mapping[str, Json]]
    notes: Mapping[str, str]
    derived_by: Sequence[str]

    def files(self, source: str) -> dict[str, bytes | None]:
        """Case file and vectors."""
        expected = {"derived_by": list(self.derived_by), "vectors": True}
        vectors = {"function": self.function, "notes": dict(self.notes), "tests": list(self.tests)}
        return {
            "case.json": self._case_json(source, {"vectors": "vectors.json"}, expected),
            "vectors.json": to_json(vectors),
        }


def to_json(content: Json) -> bytes:
    """Deterministic JSON, indented unless it is long."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    if len(text) > LONG:
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return (text + "\n").encode()


def json_lines(items: Sequence[Json]) -> bytes:
    """A JSON list with one item per line."""
    return ("[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]\n").encode()
