"""Which concurrent actions may both complete, the settings of a writer, and the bucket of a key."""

import pytest

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.keys.bucket_hash import bucket_file_id, bucket_of, bucket_of_key, values_of_key
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.concurrency.config import BucketIndex, Concurrency, Mode, Policy
from hudi_reference.write.concurrency.conflict_resolution import (
    MATRIX,
    ConcurrentAction,
    ConflictChecker,
    Verdict,
    WriteKind,
    write_kinds,
)
from hudi_reference.write.placement.consistent_buckets import hash_of

APPENDS, REWRITES, REPLACES, JOINS, COMPACTS, CLUSTERS = WriteKind
#: The only pairs that may both complete on one file group, written from the rules: log files beside log files where the merge
#: decides, log files beside what merges log files, services of log files beside each other, and services beside the end of a
#: group, which stays hidden.
TOLERANT = {
    (APPENDS, APPENDS): Verdict.NON_BLOCKING,
    (APPENDS, COMPACTS): Verdict.STREAMING,
    (APPENDS, JOINS): Verdict.STREAMING,
    (COMPACTS, APPENDS): Verdict.BOTH,
    (JOINS, APPENDS): Verdict.BOTH,
    (COMPACTS, JOINS): Verdict.BOTH,
    (JOINS, COMPACTS): Verdict.BOTH,
    **{(service, end): Verdict.BOTH for service in (COMPACTS, JOINS) for end in (REPLACES, CLUSTERS)},
}
GROUP = ("oslo", "f1-0")


def test_the_matrix_lets_only_separated_changes_complete():
    """In every other pair only the first one to complete does."""
    assert set(MATRIX) == {(this, other) for this in WriteKind for other in WriteKind}
    assert {pair: cell.verdict for pair, cell in MATRIX.items()} == {pair: TOLERANT.get(pair, Verdict.FIRST) for pair in MATRIX}


@pytest.mark.parametrize("pair", MATRIX, ids=lambda pair: f"{pair[0].name}-{pair[1].name}")
@pytest.mark.parametrize("mode", [None, *Mode])
def test_conflicts_follow_the_matrix(pair, mode):
    """On one file group; never on two. A plan that was pending at the begin of the write is no conflict."""
    this, other = pair
    done = Instant("20260101000000005", "commit", State.COMPLETED, "20260101000000009")
    found = ConflictChecker(mode, Timeline(())).conflict({GROUP: this}, ConcurrentAction(done, {GROUP: other}))
    expected = {
        Verdict.BOTH: False,
        Verdict.FIRST: True,
        Verdict.NON_BLOCKING: mode is not Mode.NON_BLOCKING,
        Verdict.STREAMING: mode is Mode.OPTIMISTIC,
    }
    assert (found is not None) == expected[MATRIX[pair].verdict]
    assert (
        ConflictChecker(mode, Timeline(())).conflict({GROUP: this}, ConcurrentAction(done, {("oslo", "f2-0"): other})) is None
    )
    assert ConflictChecker(mode, Timeline(())).conflict({GROUP: this}, ConcurrentAction(done, {("rio", "f1-0"): other})) is None
    planned = Instant("20260101000000005", "compaction", State.REQUESTED)
    knowing = ConflictChecker(mode, Timeline((planned,))).conflict({GROUP: this}, ConcurrentAction(done, {GROUP: other}))
    assert (knowing is not None) == (expected[MATRIX[pair].verdict] and MATRIX[pair].verdict is not Verdict.STREAMING)


def test_write_kinds_of_written_and_replaced_groups():
    """The greater of two kinds counts; a service has one kind for all of its groups."""
    log, base = (WriteStat("f1-0", "oslo", "", is_log=is_log) for is_log in (True, False))
    assert write_kinds([log], {}, "UPSERT") == {GROUP: APPENDS}
    assert write_kinds([log, base], {}, "UPSERT") == write_kinds([base, log], {}, "UPSERT") == {GROUP: REWRITES}
    overwritten = write_kinds([base], {"rio": ["f2-0"]}, "INSERT_OVERWRITE")
    assert overwritten == {GROUP: REWRITES, ("rio", "f2-0"): REPLACES}
    assert write_kinds([], {"rio": ["f2-0"]}, "DELETE_PARTITION") == {("rio", "f2-0"): REPLACES}
    assert write_kinds([base], {"rio": ["f2-0"]}, "CLUSTER") == {GROUP: CLUSTERS, ("rio", "f2-0"): CLUSTERS}
    assert write_kinds([base], {}, "COMPACT") == {GROUP: COMPACTS} and write_kinds([log], {}, "LOG_COMPACT") == {GROUP: JOINS}


@pytest.mark.parametrize(
    ("mode", "policy"),
    [(None, Policy.NEVER), ("single_writer", Policy.EAGER), ("OPTIMISTIC_CONCURRENCY_CONTROL", Policy.LAZY),
     ("non_blocking_concurrency_control", Policy.LAZY)],
)  # fmt: skip
def test_failed_writes_are_cleaned_up_as_the_mode_allows(mode, policy):
    """Letters of the mode count in either case."""
    options = {} if mode is None else {"hoodie.write.concurrency.mode": mode}
    assert Concurrency.from_options(options).policy is policy
    assert Concurrency.from_options({**options, "hoodie.clean.failed.writes.policy": "NEVER"}).policy is Policy.NEVER


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.write.concurrency.mode": "PESSIMISTIC"},
        {"hoodie.clean.failed.writes.policy": "SOON"},
        {"hoodie.write.num.retries.on.conflict.failures": "-1"},
        {"hoodie.client.heartbeat.interval_in_ms": "a minute"},
        {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL", "hoodie.clean.failed.writes.policy": "EAGER"},
    ],
)
def test_invalid_settings_are_refused(options):
    """The error names the valid values."""
    with pytest.raises(Misuse):
        Concurrency.from_options(options)


def test_consistent_hashing_needs_a_merge_on_read_table():
    """A simple bucket index fits both types of table; consistent hashing of a copy-on-write table is refused, not ignored."""
    bucket = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
    simple, ranges = (
        Concurrency.from_options({**bucket, "hoodie.index.bucket.engine": one}) for one in ("SIMPLE", "CONSISTENT_HASHING")
    )
    assert simple.index == BucketIndex(4, ())
    tables = [
        TableProperties({"hoodie.table.type": kind, "hoodie.table.recordkey.fields": "id"})
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    ]
    for table in tables:
        simple.check(table)
    copying, logging = tables
    ranges.check(logging)
    with pytest.raises(UnsupportedTableFeature):
        ranges.check(copying)


def test_a_bucket_is_found_by_the_fields_of_the_key():
    """Of a key of several fields those of the index count, in the order of the key; of any other the whole key."""
    assert bucket_of_key("a1", ("id",), 8) == bucket_of(["a1"], 8)
    assert bucket_of_key("id:a1,city:oslo", ("city", "id"), 8) == bucket_of(["a1", "oslo"], 8)
    assert bucket_of_key("id:a1,city:oslo", ("city",), 8) == bucket_of(["oslo"], 8)
    assert bucket_file_id(3) == "00000003-0000-0000-0000-000000000000"
    assert bucket_file_id(3, "12345678-1234-4abc-8def-0123456789ab-0") == "00000003-1234-4abc-8def-0123456789ab-0"


@pytest.mark.parametrize(
    ("key", "fields", "expected"),
    [
        ("id:k5", "id", 100007944),
        ("id:a:b", "id", 952752329),
        ("id:__null__", "id", 106354469),
        ("id:a,b", "id", 94710),
        ("id:x,", "id", 3795),
        ("id:x,y,k2:w", "id,k2", 3622035),
        ("id:a,,k2:b", "id,k2", 95640),
        ("id:x,y:z,k2:w", "id,k2", 4800),
        ("id:e:f,k2:g:h", "id,k2", 3169637),
        ("id:__null__,k2:y", "id,k2", 1082),
        ("id:__empty__,k2:y", "id,k2", 1082),
        ("id:__null__,k2:y", "id", 31),
        ("id:__null__,q,k2:y", "id,k2", 641959470),
        ("k5,id:3", "id", 2034819317),
        ("k5,id:3,id:4", "id", 83),
        ("a,b", "id", 94710),
        ("id:x,k2:y", "z", 798193400),
    ],
)
def test_hashes_of_keys(key: str, fields: str, expected: int):
    """The hash of a key: what BucketIdentifier.getBucketId of Apache Hudi 1.0.2 and 1.2.0 returns for 2147483647 buckets."""
    assert bucket_of_key(key, fields.split(","), 2**31 - 1) == expected


def test_the_hash_in_ranges_of_a_key_with_a_missing_value():
    """A missing value is hashed as the text null: HashID.getXXHash32 of "nully" is 2021921180 in Apache Hudi."""
    assert hash_of(values_of_key("id:__null__,k2:y", ("id", "k2"))) == 2021921180
