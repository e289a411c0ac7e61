"""Tables for services, and the check that a service that crashes at any request is finished by the next call."""

from reference_samples import contents, data_files, new_table, timeline_files, trip, trips

from hudi_conformance.explorer.crash_points import crash_states
from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.ids import SeededIds
from hudi_reference.write.commit import begin

DAY = 86_400_000
RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}


def rows(table):
    return sorted((row["id"], row["name"]) for row in table.snapshot(["id", "name"]).to_pylist())


def opened(storage, day=1):
    """The table as opened by a process that starts so many days after its creation."""
    return open_table("memory:///unused", storage=storage, clock=ManualClock(1_767_225_600_000 + day * DAY), ids=SeededIds(day))


def table_of(kind, writes=4):
    """A table, the requested times of its writes, and the rows after each."""
    table = new_table(table_type=kind)
    times, states = [], []
    for number in range(writes):
        times.append(table.upsert(trips(trip("a", f"a{number}"), trip("b", f"b{number}"))))
        states.append(rows(table))
    return table, times, states


def failed_writer(table):
    """A write that stored its files and never completed; its instant. It also left markers and a heartbeat."""
    found = begin(table, "UPSERT")
    for path in [path for path in data_files(table) if table.timeline.commits[-1].requested in path]:
        copy = path.replace(table.timeline.commits[-1].requested, found.requested)
        table.storage.put(copy, table.storage.get(path))
        table.storage.put(f".hoodie/.temp/{found.requested}/{copy}.marker.CREATE", b"")
    table.storage.put(f".hoodie/.heartbeat/{found.requested}", b"")
    return found.requested


def end_state(storage):
    """The visible state of a table: rows, data files, names of the timeline without the times of services."""
    table = opened(storage, 9)
    kinds = sorted(name.partition(".")[2] for name in timeline_files(table))
    rest = [path for path in contents(storage) if path.startswith((".hoodie/.temp", ".hoodie/.heartbeat"))]
    return rows(table), sorted(data_files(table)), kinds, rest


def check_crashes(storage, service, allowed):
    """After a crash of `service` at any point the rows are among `allowed`; after another run the table is as after one run."""
    points = list(crash_states(storage, lambda store: service(opened(store))))
    assert points[-1].ended and len(points) > 5
    expected = end_state(points[-1].storage)
    for point in points:
        assert rows(opened(point.storage, 2)) in allowed, point
        if not point.ended:
            again = list(crash_states(point.storage, lambda store: service(opened(store, 3))))
            assert end_state(again[-1].storage) == expected, point
            for second in again:
                assert rows(opened(second.storage, 4)) in allowed, f"{point}, then {second}"
