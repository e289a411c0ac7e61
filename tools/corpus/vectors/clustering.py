"""Vectors of clustering plans: selection of partitions and grouping of files. The worked examples are those of RFC-19."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.corpus.case import VectorCase
from tools.corpus.vectors.vector_tests import HAND, Test, invalid_test, number_tests, valid_test

MB = 1 << 20
PLAN = "hoodie.clustering.plan.strategy."
MODE = "hoodie.clustering.plan.partition.filter.mode"
SORT = {f"{PLAN}sort.columns": "c"}
OVERLAP, KEYS, TIME, RANDOM, SIZE, EACH = (
    {f"{PLAN}class": f"{name}PlanStrategy"}
    for name in ("OverlapClustering", "KeyRangeClustering", "CommitTimeClustering", "RandomClustering",
                 "org.apache.hudi.client.clustering.plan.strategy.SparkSizeBasedClustering", "SparkSingleFileSort")
)  # fmt: skip
DERIVED = [HAND]
File = dict[str, Any]


def make_file(megabytes: int, number: int, **more: Any) -> File:
    """File number `number`, written by the instant with that number."""
    return {"id": f"f{number}", "size": megabytes * MB, "instant": f"202501010000000{number:02}", **more}


def files_with_ranges(*ranges: Sequence[Any] | None, size: int = 512) -> list[File]:
    """Files with these ranges of the column c."""
    return [make_file(size, number, columns={"c": found}) for number, found in enumerate(ranges, 1)]


def files_with_sizes(*megabytes: int) -> list[File]:
    """Files of these sizes."""
    return [make_file(size, number) for number, size in enumerate(megabytes, 1)]


def size_settings(target: int = 1024, group: int = 2048, **more: str) -> dict[str, str]:
    """Settings with these sizes, in megabytes."""
    sizes = {f"{PLAN}target.file.max.bytes": str(target * MB), f"{PLAN}max.bytes.per.group": str(group * MB)}
    return {**sizes, **{PLAN + name.replace("_", "."): value for name, value in more.items()}}


def plan_test(
    comment: str, files: Sequence[File], settings: Mapping[str, str], *groups: tuple[str, int], flags: str = ""
) -> Test:
    """The plan of the files: each group as the numbers of its files and of its outputs; the greatest gain first."""
    value = [{"files": sorted(f"f{n}" for n in numbers.split()), "outputs": outputs} for numbers, outputs in groups]
    return valid_test(comment, {"files": list(files), "settings": dict(settings)}, value, *flags.split())


def cases() -> Iterator[VectorCase]:
    """Groups and partitions."""
    yield VectorCase(
        area="services",
        name="clustering.groups",
        requirements=["CLU-003", "CLU-005", "CLU-014", "CLU-015", "CLU-016", "CLU-017", "CLU-018", "CLU-019", "CLU-020",
                      "CLU-021", "CLU-022", "CLU-023"],
        needs=["compute.clustering.groups"],
        function="clustering.groups",
        derived_by=DERIVED,
        says="Eligible files are grouped by strategy, size, overlap and limits; output files have the target size.",
        flags=["memory"],
        notes={
            "worked": "A worked case of RFC-19: eight files of 512 MB, outputs of 1 GB.",
            "unknown": "A file without statistics may overlap with every other file.",
            "limit": "Groups beyond the limit wait for the next run; files beyond the size of a group open the next one.",
        },
        tests=number_tests(_worked(), _overlap(), _sizes(), _strategies(), _limits()),
        if_it_fails=("Sort the files in the order of the strategy, begin a group where the next file does not fit, divide "
                     "by the target size."),
    )  # fmt: skip
    yield VectorCase(
        area="services",
        name="clustering.partitions",
        requirements=["CLU-004", "CLU-010"],
        needs=["compute.clustering.partitions"],
        function="clustering.partitions",
        derived_by=DERIVED,
        says="A plan considers the partitions that its filter selects: the newest, a range, named or matching ones.",
        flags=["silent-guess"],
        notes={"recency": "Counted from the newest one, in whatever order the partitions were listed."},
        tests=number_tests(_partitions()),
        if_it_fails="Sort the paths first, then skip, then count.",
    )


def _worked() -> Iterator[Test]:
    apart = [[n * 10, n * 10 + 5] for n in range(8)]
    yield plan_test(
        "without sort columns: eight become four",
        files_with_sizes(*[512] * 8),
        {},
        ("1 2 3 4", 2),
        ("5 6 7 8", 2),
        flags="worked",
    )
    yield plan_test(
        "the same in one group", files_with_sizes(*[512] * 8), size_settings(group=4096), ("1 2 3 4 5 6 7 8", 4), flags="worked"
    )
    two = [*apart]
    two[5] = [24, 29]
    yield plan_test("two of eight overlap: a group of these two with one output", files_with_ranges(*two), SORT,
               ("1 2 4 5", 2), ("3 6", 1), ("7 8", 1), flags="worked")  # fmt: skip
    four = [*apart]
    four[1], four[3], four[4], four[6] = [100, 103], [101, 104], [102, 105], [103, 106]
    yield plan_test("four of eight overlap: a group of these four with two outputs", files_with_ranges(*four), SORT,
               ("2 4 5 7", 2), ("1 3 6 8", 2), flags="worked")  # fmt: skip
    yield plan_test("none of eight overlap", files_with_ranges(*apart), SORT, ("1 2 3 4", 2), ("5 6 7 8", 2), flags="worked")


def _overlap() -> Iterator[Test]:
    yield plan_test("a chain is together, though its ends do not overlap",
        files_with_ranges([1, 4], [7, 9], [3, 8], [20, 21]), SORT,
               ("1 2 3", 2), ("4", 1))  # fmt: skip
    yield plan_test("one value in common", files_with_ranges([1, 5], [5, 9], [10, 11], [12, 13]), SORT, ("1 2", 1), ("3 4", 1))
    yield plan_test(
        "one range contains others that do not overlap", files_with_ranges([3, 4], [0, 9], [6, 7]), SORT, ("1 2 3", 2)
    )
    yield plan_test("texts", files_with_ranges(["a", "c"], ["b", "d"], ["e", "f"]), SORT, ("1 2", 1), ("3", 1))
    yield plan_test("an unknown range", files_with_ranges([1, 2], None, [3, 4]), SORT, ("1 2 3", 2), flags="unknown")
    yield plan_test(
        "values without an order among them", files_with_ranges([1, 2], ["a", "b"], [5, 6]), SORT, ("1 2 3", 2), flags="unknown"
    )
    both = {f"{PLAN}sort.columns": "c, d"}

    def boxed(*boxes: tuple[list[int], list[int]]) -> list[File]:
        return [make_file(512, n, columns={"c": c, "d": d}) for n, (c, d) in enumerate(boxes, 1)]

    yield plan_test("overlap is in every column", boxed(([1, 5], [1, 2]), ([4, 9], [3, 4]), ([5, 7], [2, 2])), both,
               ("1 3", 1), ("2", 1))  # fmt: skip
    yield plan_test("in the first column alone they overlap", boxed(([1, 5], [1, 2]), ([4, 9], [3, 4]), ([5, 7], [2, 2])), SORT,
               ("1 2 3", 2))  # fmt: skip
    yield plan_test(
        "deployed planners go by size all the same", files_with_ranges([1, 2], [11, 12], [1, 2]), SORT | SIZE, ("1 2 3", 2)
    )
    yield plan_test("too large for one group: divided in column order",
        files_with_ranges([9, 20], [1, 9], [3, 9], [5, 9], [7, 9]), SORT,
               ("2 3 4 5", 2), ("1", 1), flags="limit")  # fmt: skip


def _sizes() -> Iterator[Test]:
    yield plan_test("the largest first, divided where the next one does not fit",
        files_with_sizes(100, 700, 300, 500, 200, 600, 400),
               size_settings(500, 1000), ("1 3 5", 2), ("4 7", 2), ("2", 2), ("6", 2), flags="limit")  # fmt: skip
    yield plan_test(
        "a group is full at its limit",
        files_with_sizes(*[100] * 10),
        size_settings(250, 500),
        ("1 2 3 4 5", 2),
        ("6 7 8 9 10", 2),
    )
    yield plan_test("outputs are rounded up", files_with_sizes(100, 100, 51), size_settings(250, 500), ("1 2 3", 2))
    yield plan_test("and not beyond the multiple", files_with_sizes(100, 100, 50), size_settings(250, 500), ("1 2 3", 1))
    yield plan_test(
        "a file that is larger than a group", files_with_sizes(600, 10), size_settings(250, 500), ("2", 1), ("1", 3)
    )
    yield plan_test("nothing", [], {})
    yield plan_test("one file", files_with_sizes(10), {}, ("1", 1))
    yield plan_test(
        "one file, which is not worth it", files_with_sizes(10), {f"{PLAN}single.group.clustering.enabled": "false"}
    )
    yield plan_test("small files all become one", files_with_sizes(*[3] * 12), {}, ("1 2 3 4 5 6 7 8 9 10 11 12", 1))


def _strategies() -> Iterator[Test]:
    two = size_settings(group=1024)
    keys = [make_file(512, 1, keys=["m", "p"]), make_file(512, 2, keys=["a", "c"]), make_file(512, 3, keys=["q", "t"]),
        make_file(512, 4, keys=["d", "f"]),
            make_file(512, 5)]  # fmt: skip
    yield plan_test("by key ranges; files without one come last", keys, two | KEYS, ("2 4", 1), ("1 3", 1), ("5", 1))
    late = [
        {**file, "instant": instant}
        for file, instant in zip(files_with_sizes(*[512] * 4), ("40", "10", "30", "20"), strict=True)
    ]
    yield plan_test("by the instants that wrote the files", late, two | TIME, ("2 4", 1), ("1 3", 1))
    yield plan_test("the same by size", late, two | SIZE, ("1 2", 1), ("3 4", 1))
    yield plan_test("at random: every file once", files_with_sizes(*[100] * 9), RANDOM, ("1 2 3 4 5 6 7 8 9", 1))
    yield plan_test("each file alone", files_with_sizes(30, 20, 10), EACH, ("1", 1), ("2", 1), ("3", 1))
    yield plan_test("by overlap, without sort columns", files_with_ranges([1, 2], [3, 4]), OVERLAP, ("1 2", 1))
    yield invalid_test("an unknown strategy", {"files": files_with_sizes(1), "settings": {f"{PLAN}class": "a.B"}})
    yield invalid_test("a target of zero", {"files": files_with_sizes(1), "settings": {f"{PLAN}target.file.max.bytes": "0"}})
    yield invalid_test(
        "a size that is no number", {"files": files_with_sizes(1), "settings": {f"{PLAN}max.bytes.per.group": "2G"}}
    )


def _limits() -> Iterator[Test]:
    files = files_with_sizes(100, 700, 300, 500, 200, 600, 400)
    yield plan_test("groups that reduce the number of files most come first", files,
                    size_settings(500, 1000, max_num_groups="2"), ("1 3 5", 2), ("4 7", 2), flags="limit")  # fmt: skip
    yield plan_test("groups that reduce it equally keep their order", files_with_sizes(*[512] * 8),
        {f"{PLAN}max.num.groups": "1"},
        ("1 2 3 4", 2),
               flags="limit")  # fmt: skip
    many = [make_file(900, n) for n in range(1, 33)]
    yield plan_test(
        "thirty without a setting", many, size_settings(group=1024), *((str(n), 1) for n in range(1, 31)), flags="limit"
    )


def _partitions() -> Iterator[Test]:
    days = ["2025-01-02", "2025-01-05", "2025-01-01", "2025-01-04", "2025-01-03"]
    inside = sorted(days)

    def chosen(comment: str, settings: Mapping[str, str], value: Sequence[str], *flags: str, hour: int = 0) -> Test:
        return valid_test(comment, {"partitions": days, "settings": dict(settings), "hour": hour}, list(value), *flags)

    recent, begin, end = {MODE: "RECENT_DAYS"}, f"{PLAN}cluster.begin.partition", f"{PLAN}cluster.end.partition"
    back, skip = f"{PLAN}daybased.lookback.partitions", f"{PLAN}daybased.skipfromlatest.partitions"
    yield chosen("all of them", {}, inside)
    yield chosen("the two newest", recent, ["2025-01-05", "2025-01-04"], "recency")
    yield chosen("the three newest", recent | {back: "3"}, ["2025-01-05", "2025-01-04", "2025-01-03"], "recency")
    yield chosen("two, but not the newest", recent | {skip: "1"}, ["2025-01-04", "2025-01-03"], "recency")
    yield chosen("all but the newest", recent | {skip: "1", back: "0"}, inside[3::-1], "recency")
    yield chosen(
        "by the class that says so", {f"{PLAN}class": "SparkRecentDaysClusteringPlanStrategy"}, inside[:2:-1], "recency"
    )
    selected = {MODE: "SELECTED_PARTITIONS"}
    yield chosen("from one to another", selected | {begin: "2025-01-02", end: "2025-01-03"}, inside[1:3])
    yield chosen("from one on", selected | {begin: "2025-01-04"}, inside[3:])
    yield chosen("up to one", selected | {end: "2025-01-02"}, inside[:2])
    yield chosen("a range has no effect in another mode", {begin: "2025-01-04"}, inside)
    rolling = {MODE: "DAY_ROLLING"}
    for hour in (0, 4, 5):
        yield chosen(f"the place among all is the hour {hour}", rolling, inside[hour : hour + 1], hour=hour)
    hours = [f"p{n:02}" for n in range(50)]
    yield valid_test("every twenty-fourth", {"partitions": hours, "settings": rolling, "hour": 1}, ["p01", "p25", "p49"])
    yield chosen("named ones", {f"{PLAN}partition.selected": "2025-01-05,2025-01-02,2024"}, ["2025-01-02", "2025-01-05"])
    pattern = f"{PLAN}partition.regex.pattern"
    yield chosen("matching ones", {pattern: ".*-0[24]"}, ["2025-01-02", "2025-01-04"])
    yield chosen("as a whole", {pattern: "2025"}, [])
    yield chosen("the newest of the matching ones", recent | {pattern: ".*-0[124]"}, ["2025-01-04", "2025-01-02"], "recency")
    yield valid_test("a table without partitions", {"partitions": [""], "settings": recent, "hour": 0}, [""])
    yield invalid_test("an unknown mode", {"partitions": days, "settings": {MODE: "OLDEST"}, "hour": 0})
    yield invalid_test("no pattern", {"partitions": days, "settings": {pattern: "("}, "hour": 0})
