"""Damages of whole files: deleted, cut, exchanged, copied, renamed; bytes that are flipped, inserted or taken out."""

import random

from tools.damage import kinds as damages_of_files
from tools.draw_damages.drawn import Drawn, NotPossible, paths_of

from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.storage import MemoryStorage


def delete(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage))
    storage.delete(path)
    return Drawn("delete", path)


def cut(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage))
    data = storage.get(path)
    if not data:
        raise NotPossible
    storage.put(path, data[: draw.choice((0, len(data) - 1, draw.randrange(len(data))))])
    return Drawn("cut", path)


def exchange(draw: random.Random, storage: MemoryStorage) -> Drawn:
    first = draw.choice(paths_of(storage))
    ending = first.rpartition(".")[2].partition("_")[0]
    others = [path for path in paths_of(storage) if path != first and path.rpartition(".")[2].partition("_")[0] == ending]
    if not others:
        raise NotPossible
    second = draw.choice(others)
    one, other = storage.get(first), storage.get(second)
    if one == other:
        raise NotPossible
    storage.put(first, other)
    storage.put(second, one)
    return Drawn("exchange", f"{first} and {second}")


def overwrite(draw: random.Random, storage: MemoryStorage) -> Drawn:
    first = draw.choice(paths_of(storage))
    ending = first.rpartition(".")[2].partition("_")[0]
    second = draw.choice(paths_of(storage, lambda path: path.rpartition(".")[2].partition("_")[0] == ending))
    if storage.get(first) == storage.get(second):
        raise NotPossible
    storage.put(first, storage.get(second))
    return Drawn("overwrite", f"{first} by {second}")


def _other_name(draw: random.Random, storage: MemoryStorage, path: str) -> str:
    """A name of the same kind: another time of the timeline, another partition, file id or token."""
    times = sorted(
        {name[:17] for name in (split_path(p)[1] for p in storage.list("") and paths_of(storage)) if name[:17].isdigit()}
    )
    folder, name = split_path(path)
    kind = draw.choice(("time", "folder", "id", "token"))
    if kind == "time" and times:
        mine = [time for time in times if time in name]
        if mine:
            changed = draw.choice((*times, f"{int(mine[0]) + draw.choice((-1, 1, 10**6)):017}"))
            return f"{folder}/{name.replace(draw.choice(mine), changed)}".lstrip("/")
    if kind == "folder":
        folders = sorted({split_path(one)[0] for one in paths_of(storage)})
        return f"{draw.choice(folders)}/{name}".lstrip("/")
    if kind == "id" and parse_data_file_name(name) is not None:
        start = 1 if name.startswith(".") else 0
        return f"{folder}/{name[:start]}{draw.randrange(10**8):08}{name[start + 8 :]}".lstrip("/")
    if kind == "token" and "_0-" in name:
        return f"{folder}/{name.replace('_0-', '_7-', 1)}".lstrip("/")
    raise NotPossible


def rename(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage))
    other = _other_name(draw, storage, path)
    if other == path:
        raise NotPossible
    storage.put(other, storage.get(path))
    storage.delete(path)
    return Drawn("rename", f"{path} to {other}")


def duplicate(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage))
    other = _other_name(draw, storage, path)
    if other == path or storage.head(other) is not None:
        raise NotPossible
    storage.put(other, storage.get(path))
    return Drawn("duplicate", f"{path} as {other}")


def flip(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage))
    data = bytearray(storage.get(path))
    if not data:
        raise NotPossible
    place = draw.randrange(len(data))
    data[place] ^= 1 << draw.randrange(8)
    storage.put(path, bytes(data))
    return Drawn("flip", f"{path} at {place}")


def damage_file(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """A damage of `tools.damage` to a file of a drawn class, as bytes inserted or taken out, or a lost folder."""
    before = {path: storage.get(path) for path in paths_of(storage)}
    damage, after = damages_of_files.draw(before, draw)
    for path in before.keys() - after.keys():
        storage.delete(path)
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    for path, data in changed.items():
        storage.put(path, data)
    if before == after:
        raise NotPossible
    return Drawn(damage.kind, str(damage).partition(" ")[2])
