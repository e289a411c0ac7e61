"""The kinds of damage, and how one is drawn.

They model what happens to files: a medium that loses bits and blocks, a copy that was interrupted or that mixed up files, a
clean-up that removed too much, an editor.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

Objects = dict[str, bytes]


@dataclass(frozen=True)
class Damage:
    """One damage: its kind, the path of the damaged file or folder, and for some kinds the place or another path."""

    kind: str
    path: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.path}" + (f" ({self.detail})" if self.detail else "")


def class_of(path: str) -> str:
    """The class of a file; each class is damaged equally often, however many files it has."""
    name = path.rpartition("/")[2]
    if name.startswith("hoodie.properties"):
        return "properties"
    if path.startswith(".hoodie/metadata/"):
        return "metadata table"
    if "/history/" in path or "/archived/" in path or ".commits_.archive" in name:
        return "history"
    if path.startswith(".hoodie/"):
        return "pending instant" if name.endswith(("requested", "inflight")) else "completed instant"
    if ".log." in name:
        return "log file"
    return "partition metadata" if name.startswith(".hoodie") else "base file"


def draw(objects: Mapping[str, bytes], random: Random) -> tuple[Damage, Objects]:
    """A random damage to a table, and the damaged objects."""
    classes: dict[str, list[str]] = {}
    for path in sorted(objects):
        classes.setdefault(class_of(path), []).append(path)
    kind = random.choice(list(_KINDS))
    chosen = random.choice(sorted(classes))
    path = random.choice(classes[chosen])
    return _KINDS[kind](dict(objects), path, classes[chosen], random)


def _changed(kind: str, change: Callable[[bytes, Random], tuple[bytes, str]]) -> "Draw":
    def damage(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
        objects[path], detail = change(objects[path], random)
        return Damage(kind, path, detail), objects

    return damage


def _flip(data: bytes, random: Random) -> tuple[bytes, str]:
    if not data:
        return data, "empty already"
    place, bit = random.randrange(len(data)), random.randrange(8)
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :], f"bit {bit} of byte {place}"


def _cut(data: bytes, random: Random) -> tuple[bytes, str]:
    length = random.randrange(len(data) + 1)
    return data[:length], f"{length} of {len(data)} bytes"


def _overwrite(fill: Callable[[int, Random], bytes]) -> Callable[[bytes, Random], tuple[bytes, str]]:
    def change(data: bytes, random: Random) -> tuple[bytes, str]:
        start = random.randrange(len(data) + 1)
        length = min(len(data) - start, random.choice((1, 4, 16, 64, 512, 4096)))
        return data[:start] + fill(length, random) + data[start + length :], f"bytes {start} to {start + length}"

    return change


def _insert(data: bytes, random: Random) -> tuple[bytes, str]:
    start, length = random.randrange(len(data) + 1), random.choice((1, 4, 64))
    return data[:start] + random.randbytes(length) + data[start:], f"{length} bytes at byte {start}"


def _take_out(data: bytes, random: Random) -> tuple[bytes, str]:
    start, length = random.randrange(len(data) + 1), random.choice((1, 4, 64))
    return data[:start] + data[start + length :], f"{length} bytes at byte {start}"


def _delete(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    del objects[path]
    return Damage("delete", path), objects


def _delete_folder(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    steps = path.split("/")
    if len(steps) == 1:
        return _delete(objects, path, others, random)
    folder = "/".join(steps[: random.randrange(1, len(steps))])
    return Damage("delete folder", folder), {p: data for p, data in objects.items() if not p.startswith(f"{folder}/")}


def _swap(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    other = random.choice(others)
    objects[path], objects[other] = objects[other], objects[path]
    return Damage("swap", path, other), objects


def _replace(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    other = random.choice(others if random.random() < 0.8 else sorted(objects))
    objects[path] = objects[other]
    return Damage("replace", path, f"by {other}"), objects


def _rename(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    folder, slash, name = path.rpartition("/")
    place = random.randrange(len(name))
    to = chr(ord(name[place]) ^ 1 << random.randrange(3))
    changed = folder + slash + name[:place] + to + name[place + 1 :]
    objects[changed] = objects.pop(path)
    return Damage("rename", path, changed), objects


def _copy_elsewhere(objects: Objects, path: str, others: list[str], random: Random) -> tuple[Damage, Objects]:
    other = random.choice(others)
    folder = other.rpartition("/")[0]
    copied = f"{folder}/{path.rpartition('/')[2]}".lstrip("/")
    data = objects.pop(path) if random.random() < 0.5 else objects[path]
    objects[copied] = data
    return Damage("move" if path not in objects else "copy", path, copied), objects


Draw = Callable[[Objects, str, list[str], Random], tuple[Damage, Objects]]
_KINDS: Mapping[str, Draw] = {
    "flip": _changed("flip", _flip),
    "cut": _changed("cut", _cut),
    "empty": _changed("empty", lambda data, random: (b"", "")),
    "zeros": _changed("zeros", _overwrite(lambda length, random: bytes(length))),
    "junk": _changed("junk", _overwrite(lambda length, random: random.randbytes(length))),
    "append": _changed("append", lambda data, random: (data + random.randbytes(random.choice((1, 100))), "")),
    "insert": _changed("insert", _insert),
    "take out": _changed("take out", _take_out),
    "delete": _delete,
    "delete folder": _delete_folder,
    "swap": _swap,
    "replace": _replace,
    "rename": _rename,
    "move": _copy_elsewhere,
}
