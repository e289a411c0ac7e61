"""Cases below table level: one file, a family of damaged files, or a list of vectors."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = Any
#: Length in characters from which JSON is written without indentation.
LONG = 40_000
Verdict = Literal["valid", "must-refuse", "must-recover"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What every case says of itself; the words are those of `case.json`.

    `says` is its description: one sentence that states the guarantee. `needs` are features of the contract. `producer` is the
    engine that wrote the bytes; the default is by hand.
    """

    area: str
    name: str
    requirements: Sequence[str]
    says: str
    if_it_fails: str
    needs: Sequence[str]
    flags: Sequence[str] = ()
    errata: Sequence[str] = ()
    producer: Mapping[str, str] = field(default_factory=lambda: {"engine": "hand"})

    @property
    def id(self) -> str:
        """Area and name."""
        return f"{self.area}.{self.name}"

    def files(self, source: str) -> dict[str, bytes | None]:
        """The files of the case's folder by path; None for one that is kept as it is committed.

        `source` is the file of the module that makes the case, relative to the repository.
        """
        raise NotImplementedError

    def _case_json(self, source: str, own: Mapping[str, Json], expected: Mapping[str, Json]) -> bytes:
        optional = {"flags": list(self.flags), "errata": list(self.errata)}
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
    """One member of a family: what is done to the family's file, and what is right then.

    `patches` are (offset, bytes to remove, bytes to insert) in the file as it is before any of them, ascending and apart from
    each other; then the file is cut to `cut` bytes. `accept` are further right inspections; with `or_error` so is an error.
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

    def of(self, data: bytes) -> bytes:
        """The bytes of the variant, made from those of the family's file."""
        for at, remove, new in reversed(self.patches):
            data = data[:at] + new + data[at + remove :]
        return data if self.cut is None else data[: self.cut]


def distinct(variants: Iterable[Variant], data: bytes) -> list[Variant]:
    """The variants of a file without those that have the bytes of one before."""
    by_bytes: dict[bytes, Variant] = {}
    for variant in variants:
        by_bytes.setdefault(variant.of(data), variant)
    return list(by_bytes.values())


@dataclass(frozen=True, kw_only=True)
class FileCase(Case):
    """One file and what inspecting it must show, or a family of files made from it by patches.

    `content` None: the committed bytes are kept (files that an engine wrote). `keys` and `prefix` are what `inspect` is asked.
    One of `inspect`, `error` and `variants` says what is right; `accept` are further right inspections, and with `or_error` an
    error is right beside them.
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
        """Case file, the file itself, and the expectations."""
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
            return {"variants": lines([variant.to_json() for variant in self.variants])}
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
    """Vectors of one function of the contract. `tests` are as in `vectors.json`, `notes` say what their flags stand for."""

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
    """JSON that depends on nothing but its content; readable unless it is long."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    if len(text) > LONG:
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return (text + "\n").encode()


def lines(items: Sequence[Json]) -> bytes:
    """A JSON list with each item on a line of its own."""
    return ("[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]\n").encode()
