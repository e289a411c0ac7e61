"""A write whose completion is published has succeeded, even if later steps fail."""

import pytest
from reference_samples import TABLE_TYPES, names, new_table, trip, trips

from hudi_reference.errors import StorageUnavailable
from hudi_reference.storage import MemoryStorage


class Failing(MemoryStorage):
    """Storage that answers no request any more once a second write has completed."""

    completions = 0

    def create(self, path: str, data: bytes) -> None:
        """Counts completions."""
        super().create(path, data)
        self.completions += path.endswith("commit") and "timeline/" in path

    def delete(self, path: str) -> None:
        """Of markers and heartbeats, once the write has completed."""
        if self.completions == 2:
            raise StorageUnavailable("the store does not carry out a DELETE", path=path)
        super().delete(path)


@pytest.mark.parametrize("table_type", TABLE_TYPES)
def test_a_write_succeeds_if_the_store_fails_after_the_completion(table_type: str) -> None:
    """After an error the caller would write again, and the rows would be applied twice."""
    storage = Failing()
    table = new_table(storage, table_type=table_type)
    first = table.insert(trips(trip("a", "old")))
    assert storage.completions == 1
    second = table.upsert(trips(trip("a", "new")))
    assert second > first and names(table) == {"a": "new"}
    assert any(second in info.path for info in storage.list(".hoodie/.temp")), "what was left over is there for others"
