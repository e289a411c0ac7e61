"""Damages of archived actions: rows of a history file, its manifests, and the file that names the newest manifest."""

import json
import random

from tools.draw_damages.actions import change_value, texts_of
from tools.draw_damages.base_files import changed_rows, parquet_bytes, read_parquet
from tools.draw_damages.drawn import Drawn, NotPossible, paths_of

from hudi_reference.layout.names import split_path
from hudi_reference.storage import MemoryStorage


def _is_history(path: str) -> bool:
    return "/history/" in path and not path.startswith(".hoodie/metadata")


def change_history_rows(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Drop, double or change a row of a history file; its manifests mostly give the new length."""
    path = draw.choice(paths_of(storage, lambda one: _is_history(one) and one.endswith(".parquet")))
    folder, name = split_path(path)
    what, rows = changed_rows(draw, read_parquet(storage.get(path)))
    data = parquet_bytes(rows)
    storage.put(path, data)
    if draw.random() < 0.7:
        for manifest in paths_of(storage, lambda one: one.startswith(f"{folder}/manifest_")):
            listed = json.loads(storage.get(manifest) or b"{}")
            for entry in listed.get("files", []):
                if entry["fileName"] == name:
                    entry["fileLen"] = len(data)
            storage.put(manifest, json.dumps(listed).encode())
    return Drawn(f"history row {what.partition(' ')[0]}", f"{path}: {what.partition(' ')[2]}")


def change_manifest(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Change a field of a manifest, or the version that `_version_` names."""
    path = draw.choice(paths_of(storage, lambda one: _is_history(one) and not one.endswith(".parquet")))
    data = storage.get(path)
    if "manifest_" in path:
        listed = json.loads(data or b"{}")
        place = change_value(draw, listed, sorted(set(texts_of(listed))))
        storage.put(path, json.dumps(listed).encode())
        return Drawn("manifest", f"{path}: {place}")
    try:
        version = int(data)
    except ValueError:
        raise NotPossible from None
    other = draw.choice([one for one in (version - 1, version + 1, 1, 0) if one >= 0 and one != version])
    storage.put(path, str(other).encode())
    return Drawn("version", f"{path}: {version} to {other}")
