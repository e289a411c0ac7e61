"""All targets, by name."""

from tools.fuzz.targets import files, log, plans, tables, timeline
from tools.fuzz.targets.target import Target


def all_targets() -> dict[str, Target]:
    """Every target by name."""
    return {
        target.name: target for target in (*log.TARGETS, *files.TARGETS, *timeline.TARGETS, *plans.TARGETS, *tables.TARGETS)
    }
