"""Plans of clusterings: ranges in footers, properties of grouping, settings, the hour of the day, invalid plans."""

import datetime
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import START, bounded, new_table, trip, trips

from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import MalformedMetadata, MissingDataFile, Misuse, PathOutsideTable, UnsupportedTableFeature
from hudi_reference.files.base.column_ranges import column_ranges
from hudi_reference.ids import SeededIds
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.services.clustering.groups import STRATEGIES, Candidate, group_slices
from hudi_reference.services.clustering.plan import plan_clustering, schedule_clustering
from hudi_reference.services.clustering.plan_record import parse_clustering_plan, plan_record
from hudi_reference.services.clustering.settings import SETTINGS, ClusteringSettings
from hudi_reference.storage import MemoryStorage

PLAN = "hoodie.clustering.plan.strategy."


def test_ranges_of_columns_come_from_footers():
    """Over all row groups, nulls left out; unknown for columns of nulls, columns that are not there, and other formats."""
    day = datetime.date(2026, 1, 1)
    rows = pa.table(
        {
            "n": pa.array([5, None, 9, 2], pa.int64()),
            "half": pa.array([None, None, 7, 3], pa.int32()),
            "none": pa.array([None] * 4, pa.string()),
            "day": [day, day, day, day + datetime.timedelta(9)],
            "text": ["b", "a", "ä", "z"],
            "in": pa.array([{"deep": n} for n in (1, 2, 3, 4)]),
        }
    )
    out, storage = io.BytesIO(), MemoryStorage()
    pq.write_table(rows, out, row_group_size=2)
    storage.create("f.parquet", out.getvalue())
    asked = ["n", "half", "none", "day", "text", "in.deep", "gone"]
    later = day + datetime.timedelta(9)
    assert column_ranges(storage, "f.parquet", asked) == [(2, 9), (3, 7), None, (day, later), ("a", "ä"), (1, 4), None]
    assert column_ranges(storage, "f.orc", asked) == [None] * 7
    # The chunks of texts declare that they have numbers of 64 bits, on which the library would end the process.
    storage.put("damaged.parquet", out.getvalue().replace(b"\x15\x0c\x19", b"\x15\x04\x19"))
    assert column_ranges(storage, "damaged.parquet", ["n", "text"]) == [(2, 9), None]


class Known:
    """Ranges by file id, the same for columns and keys."""

    def __init__(self, ranges):
        self.ranges = ranges

    def values(self, found, columns):
        return [self.ranges[found.file_id]] * len(columns)

    def keys(self, found):
        return self.ranges[found.file_id]


FILES = st.lists(
    st.tuples(st.integers(0, 60), st.none() | st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda r: (r[0], sum(r)))),
    max_size=14,
)


@bounded(150)
@given(files=FILES, limit=st.integers(1, 150), name=st.sampled_from(sorted(STRATEGIES)))
def test_every_file_is_in_one_group_within_the_limit(files, limit, name):
    """This holds for every strategy; a group has more bytes than the limit only if it is one file. With grouping by overlap,
    overlapping files are in one group if they fit into it with all files that connect them.
    """
    settings = ClusteringSettings.from_options({f"{PLAN}max.bytes.per.group": str(limit), f"{PLAN}sort.columns": "c"})
    candidates = [Candidate(FileSlice("", str(n), f"{n:03}", "f"), size) for n, (size, _) in enumerate(files)]
    ranges = {str(n): found for n, (_, found) in enumerate(files)}
    groups = [group for group, _ in group_slices(candidates, STRATEGIES[name], settings, Known(ranges))]
    assert sorted(one.file_slice.file_id for group in groups for one in group) == sorted(ranges)
    assert all(len(group) == 1 or sum(one.size for one in group) <= limit for group in groups)
    if name.startswith("Overlap"):
        place = {one.file_slice.file_id: n for n, group in enumerate(groups) for one in group}
        for together in connected(ranges):
            if sum(files[int(one)][0] for one in together) <= limit:
                assert len({place[one] for one in together}) == 1


def connected(ranges):
    """The connected components of files that overlap, computed pair by pair, without files that overlap with none."""

    def overlap(a, b):
        return a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])

    todo, found = set(ranges), []
    while todo:
        component, edge = set(), {todo.pop()}
        while edge:
            component |= edge
            edge = {b for a in edge for b in ranges if b not in component and overlap(ranges[a], ranges[b])}
        todo -= component
        if len(component) > 1:
            found.append(component)
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_have_names_defaults_and_bounds(name):
    """Each default is valid; an invalid value is an error that names the setting, unless the setting accepts any text."""
    setting = SETTINGS[name]
    assert setting.of({}) == getattr(ClusteringSettings.from_options({}), name)
    assert setting.name.startswith(("hoodie.clustering.", "hoodie.layout.", "hoodie.parquet."))
    if setting.read.__name__ not in ("_text", "_list"):
        with pytest.raises(Misuse, match=setting.name.replace(".", r"\.")):
            setting.of({setting.name: "-1"})
        for other in setting.alternatives:
            assert setting.of({other: "true"}) is True


def by_hours():
    """A table with a file in each of three partitions."""
    table = new_table(partition=("p",))
    table.upsert(trips(*(trip(key, "x", p=key) for key in "abc")))
    return table


@pytest.mark.parametrize(("hour", "right"), [(0, ["a"]), (2, ["c"]), (3, []), (23, [])])
def test_the_hour_of_the_day_chooses_partitions(hour, right):
    """By the clock, in the zone of the table, which is UTC here."""
    table = by_hours()
    at = ManualClock(START + 5 * 86_400_000 + hour * 3_600_000 + 60_000)
    later = open_table("memory:///unused", storage=table.storage, clock=at, ids=SeededIds(3))
    found = plan_clustering(later, {"hoodie.clustering.plan.partition.filter.mode": "DAY_ROLLING"})
    assert [group.partition for group in found.groups] == right


def test_planning_fails_if_a_file_is_missing():
    """A missing file of the timeline cannot be rewritten: planning raises an error."""
    table = by_hours()
    (first, *_) = table.file_groups().latest_slices
    table.storage.delete(first.path(first.base_file))
    with pytest.raises(MissingDataFile):
        plan_clustering(table)


def test_an_unknown_strategy_is_refused():
    """An error is raised instead of a plan."""
    with pytest.raises(UnsupportedTableFeature, match="CustomPlanStrategy"):
        schedule_clustering(by_hours(), {f"{PLAN}class": "a.b.CustomPlanStrategy"})


@pytest.mark.parametrize("columns", ["absent", "name,absent", "name.absent"])
def test_a_sort_column_that_the_table_lacks_is_refused(columns):
    """CLU-008: nothing is published, because the plan could not be executed."""
    table = by_hours()
    with pytest.raises(Misuse, match="sort column"):
        schedule_clustering(table, {f"{PLAN}sort.columns": columns})
    assert not table.timeline.pending
    assert plan_clustering(table, {f"{PLAN}sort.columns": "_hoodie_record_key"}).groups


def test_a_plan_is_equal_after_writing_and_reading():
    """A plan is the same after it was written and read, also if the table was moved."""
    table = by_hours()
    plan = plan_clustering(table, {f"{PLAN}sort.columns": "name,ts", f"{PLAN}target.file.max.bytes": "7700000"})
    record = plan_record(table, plan)
    assert parse_clustering_plan(record) == plan
    assert (plan.sort_columns, plan.target_size) == (("name", "ts"), 7700000)
    record["clusteringPlan"]["inputGroups"][0]["slices"][0]["dataFilePath"] = (
        "s3://elsewhere/a/" + plan.groups[0].slices[0].base_file
    )
    assert parse_clustering_plan(record) == plan


@pytest.mark.parametrize(
    ("error", "change"),
    [
        (MalformedMetadata, lambda record: record.update(clusteringPlan=None)),
        (MalformedMetadata, lambda record: record["clusteringPlan"]["inputGroups"][0].update(slices=None)),
        (MalformedMetadata, lambda record: record["clusteringPlan"]["inputGroups"][0]["slices"][0].pop("fileId")),
        (MalformedMetadata, lambda record: spanning(record["clusteringPlan"]["inputGroups"])),
        (PathOutsideTable, lambda record: record["clusteringPlan"]["inputGroups"][0]["slices"][0].update(partitionPath="../x")),
        (UnsupportedTableFeature, lambda record: record["clusteringPlan"].update(version=2)),
        (
            UnsupportedTableFeature,
            lambda record: record["clusteringPlan"]["inputGroups"][0]["slices"][0].update(bootstrapFilePath="s/f"),
        ),
    ],
    ids=["no plan", "no slices", "no file id", "two partitions", "outside", "version", "bootstrap"],
)
def test_invalid_plans_are_refused(error, change):
    """Each kind of invalid plan raises its typed error."""
    table = by_hours()
    record = plan_record(table, plan_clustering(table))
    change(record)
    with pytest.raises(error):
        parse_clustering_plan(record)


def spanning(groups):
    """Put the slices of two groups together."""
    groups[0]["slices"] += groups.pop()["slices"]
