"""Mutants of archiving: limits, which instants are archived, and the order of the steps."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.archive import bounds, limits

SPARK, FLINK = limits.SPARK, limits.FLINK


@mutant(breaks="ARC-003")
def archiving_ignores_pending_actions(patch: Patch) -> None:
    """Archives pending actions, and the instants that they are based on."""
    patch.edit(bounds._pending_bound, "if oldest is None", "if True")
    patch.edit(bounds._concurrent_bound, "if first is None", "if True")


@mutant(breaks="ARC-007")
def archiving_default_of_flink(patch: Patch) -> None:
    """Uses the default upper limit of Flink jobs for every engine."""
    patch.item(SPARK, "most", replace(SPARK["most"], default="50"))  # type: ignore[arg-type]


@mutant(breaks="ARC-011")
def flink_upper_limit_of_spark(patch: Patch) -> None:
    """Uses the upper limit of Spark jobs for Flink jobs, where only the lower one is set."""
    patch.item(FLINK, "most", replace(FLINK["most"], default="30"))  # type: ignore[arg-type]


@mutant(breaks="ARC-012")
def flink_lower_limit_of_spark(patch: Patch) -> None:
    """Uses the lower limit of Spark jobs for Flink jobs."""
    patch.item(FLINK, "fewest", replace(FLINK["fewest"], default="20"))  # type: ignore[arg-type]
