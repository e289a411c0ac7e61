"""Planning a clustering: which file groups are rewritten together, spec "Table Management > Re-writing" and RFC-19."""

from collections.abc import Mapping

from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.requirement import implements
from hudi_reference.services.acting import groups_in_plans, planning
from hudi_reference.services.clustering_record import (
    DEFAULT_TARGET,
    PARAMETERS,
    TARGET_KEY,
    ClusteringPlan,
    InputGroup,
    plan_record,
)
from hudi_reference.services.compaction_plan import number
from hudi_reference.table.basis import check_writable
from hudi_reference.table.file_groups import FileSlice
from hudi_reference.table.table import Table

Options = Mapping[str, str]


@implements("CLU-006", "SVC-004", "TL-012")
def schedule_clustering(table: Table, options: Options | None = None) -> str | None:
    """Publish a plan; its requested time, None if there is nothing to cluster. Writes that are under way need not stop."""
    with planning(table) as publish:
        plan = plan_clustering(table, options)
        return publish("clustering", plan_record(table, plan)) if plan.groups else None


@implements("CLU-012")
def plan_clustering(table: Table, options: Options | None = None) -> ClusteringPlan:
    """What a clustering would rewrite now. Changes nothing."""
    check_writable(table.properties)
    settings = {**table.options, **(options or {})}
    view = table.view()
    taken = groups_in_plans(table, view.timeline)
    sizes = {info.path: info.size for info in table.storage.list(skip=META_FOLDER)}
    partitions: dict[str, list[FileSlice]] = {}
    for found in view.groups.latest_slices:
        if (found.partition, found.file_id) not in taken:
            partitions.setdefault(found.partition, []).append(found)
    target = number(settings, TARGET_KEY, DEFAULT_TARGET, least=1)
    groups = []
    for _, slices in sorted(partitions.items()):
        total = sum(sizes[s.path(s.base_file)] for s in slices if s.base_file)
        groups.append(InputGroup(tuple(slices), max(1, -(-total // target))))
    return ClusteringPlan(tuple(groups), {key: settings[key] for key in PARAMETERS if key in settings})
