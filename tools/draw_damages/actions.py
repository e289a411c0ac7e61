"""Damages of the timeline and of the properties: fields of actions, names and times of instants, entries of the properties."""

import json
import random
from typing import Any

from tools.draw_damages.drawn import Drawn, NotPossible, paths_of

from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.names import split_path
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.layout.properties_writer import with_checksum
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import parse_instant_name
from hudi_reference.timeline.instants.version_6 import parse_legacy_name


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in a record, of lists and maps as well."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, one in value.items():
            found += _leaves(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            found += _leaves(one, (*path, number))
    return found


def change_value(draw: random.Random, record: Any, values: list[Any]) -> str:
    place = draw.choice(_leaves(record) or [()])
    if not place:
        raise NotPossible
    parent = record
    for step in place[:-1]:
        parent = parent[step]
    old = parent[place[-1]]
    how = draw.choice(("remove", "other", "other"))
    if how == "remove" and not old:  # the default of the field says the same
        raise NotPossible
    if how == "remove" and (isinstance(parent, list) or len(place) > 1):
        del parent[place[-1]]
    elif isinstance(old, bool):
        parent[place[-1]] = not old
    elif isinstance(old, int):
        parent[place[-1]] = max(0, old + draw.choice((-1, 1, 100, -old)))
    elif isinstance(old, str):
        same = [one for one in values if isinstance(one, str) and one != old]
        parent[place[-1]] = draw.choice([*same, ""] if same else [""])
    elif isinstance(old, list) and old:
        parent[place[-1]] = []
    elif isinstance(old, dict) and old:
        parent[place[-1]] = {}
    else:
        raise NotPossible
    return "/".join(map(str, place))


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (str(key), *texts_of(one))]
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    return [value] if isinstance(value, str) else []


def _is_action(path: str) -> bool:
    """Whether it is a file of the active timeline, of any version."""
    return ("/timeline/" in path and "/history/" not in path) or (path.count("/") == 1 and path.startswith(".hoodie/2"))


def change_action(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage, _is_action))
    name = split_path(path)[1]
    instant = parse_instant_name(name) if "/timeline/" in path else parse_legacy_name(name)
    if instant is None or not storage.get(path):
        raise NotPossible
    record = read_action(storage.get(path), path, instant)
    if not record:
        raise NotPossible
    place = change_value(draw, record, sorted(set(texts_of(record))))
    before = read_action(storage.get(path), path, instant)
    try:
        is_json = storage.get(path).lstrip()[:1] == b"{"
        storage.put(path, json.dumps(record).encode() if is_json else write_action(instant, record, bytes(16)))
    except Exception:
        raise NotPossible from None
    if read_action(storage.get(path), path, instant) == before:  # the default value was left out
        raise NotPossible
    return Drawn("action", f"{path}: {place}")


def change_properties(draw: random.Random, storage: MemoryStorage) -> Drawn:
    entries = load(storage.get(PROPERTIES_PATH))
    if not entries:
        raise NotPossible
    key = draw.choice(sorted(entries))
    old = entries[key]
    if draw.random() < 0.5:
        del entries[key]
    else:
        values = ["", "other", "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "COPY_ON_WRITE", "MERGE_ON_READ", "true", "false",
                  "6", "8", "9", "2", "id", "ts", *entries.values()]  # fmt: skip
        entries[key] = draw.choice([one for one in values if one != old])
    if draw.random() < 0.7 and "hoodie.table.name" in entries:
        entries = with_checksum(entries)
    storage.put(PROPERTIES_PATH, dump(entries, "edited"))
    return Drawn("properties", f"{key}={old} to {entries.get(key)!r}")


def change_instant(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Give a file of an instant another completion time or action, copy it to a later instant, or move a whole instant."""
    paths = paths_of(storage, lambda path: _is_action(path) and not path.startswith(".hoodie/metadata"))
    path = draw.choice(paths)
    folder, name = split_path(path)
    time, how = name[:17], draw.choice(("completion", "action", "copy", "whole"))
    if not time.isdigit():
        raise NotPossible
    if how == "whole":
        moved = f"{int(time) + draw.choice((1, -1, 10**9)):017}"
        for one in paths:
            if split_path(one)[1].startswith(time):
                storage.put(one.replace(f"/{time}", f"/{moved}"), storage.get(one))
                storage.delete(one)
        return Drawn("instant whole", f"{path}: {time} to {moved}")
    if how == "completion":
        completion = name[18:35] if "_" in name else ""
        if not completion.isdigit():
            raise NotPossible
        times = sorted({split_path(one)[1][:17] for one in paths})
        other = draw.choice([f"{int(completion) + draw.choice((-1, 1, 10**9, -(10**9))):017}", *times])
        renamed = name.replace(f"_{completion}", f"_{other}")
    elif how == "action":
        parts = name.split(".")
        actions = ("commit", "deltacommit", "replacecommit", "clean", "rollback", "savepoint", "restore", "indexing")
        renamed = ".".join((parts[0], draw.choice([one for one in actions if one != parts[1]]), *parts[2:]))
    else:
        renamed = name.replace(time, f"{int(time) + 1:017}", 1)
    if storage.head(f"{folder}/{renamed}") is not None:
        raise NotPossible
    storage.put(f"{folder}/{renamed}", storage.get(path))
    if how != "copy":
        storage.delete(path)
    return Drawn(f"instant {how}", f"{path}: to {renamed}")
