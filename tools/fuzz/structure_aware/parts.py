"""Inputs parsed into leaves, and built again with correct lengths, trailers and checksums.

A random change of a framed file is usually rejected at the first length that no longer fits. A mutation of one leaf, with
the frame computed again, reaches the code after these checks.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Build = Callable[[Sequence[bytes]], bytes]


@dataclass(frozen=True)
class Parts:
    """The leaves of an input, and a function that builds an input from leaves."""

    leaves: tuple[bytes, ...]
    build: Build


#: None if the input cannot be parsed into parts.
Explode = Callable[[bytes], Parts | None]


def one_leaf(data: bytes) -> Parts | None:
    """The whole input as one leaf, for texts and files without a frame."""
    return Parts((data,), lambda leaves: leaves[0])


def line_and_rest(rest: Explode = one_leaf) -> Explode:
    """The first line as a leaf, and the parts of the remaining bytes by `rest`."""

    def explode(data: bytes) -> Parts | None:
        line, _, body = data.partition(b"\n")
        inner = rest(body)
        if inner is None:
            return None
        return Parts((line, *inner.leaves), lambda leaves: leaves[0].replace(b"\n", b" ") + b"\n" + inner.build(leaves[1:]))

    return explode


def join_parts(parts: Sequence[Parts], join: Build) -> Parts:
    """The leaves of all parts in order; `join` combines the built parts."""
    ends = [sum(len(part.leaves) for part in parts[:i]) for i in range(len(parts) + 1)]

    def build(leaves: Sequence[bytes]) -> bytes:
        return join([part.build(leaves[start:end]) for part, (start, end) in zip(parts, pairwise(ends), strict=True)])

    return Parts(tuple(leaf for part in parts for leaf in part.leaves), build)


def base64_text(data: bytes) -> Parts | None:
    """The bytes that a Base64 text encodes."""
    try:
        return Parts((base64.b64decode(data, validate=True),), lambda leaves: base64.b64encode(leaves[0]))
    except ValueError:
        return None


def json_text(data: bytes) -> object | None:
    """The JSON value of a leaf, if it is a list or an object."""
    if data[:1] not in (b"{", b"["):
        return None
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found
