"""Mutants in the timeline: names, states, and what counts as completed."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline import active
from hudi_reference.timeline.history import manifest
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit


@mutant(breaks="TL-028")
def inflight_commit_with_its_action(patch: Patch) -> None:
    """Writes an inflight commit as <begin>.commit.inflight, as the text has it and nobody reads."""
    patch.item(states.ACTIONS, "commit", replace(states.ACTIONS["commit"], inflight="commit.inflight"))
    patch.set(instant, "EXTENSIONS", states._extensions())


@mutant(breaks="TL-027")
def requested_file_without_action(patch: Patch) -> None:
    """Leaves the action out of the requested file's name."""
    patch.edit(Instant.file_name, "{self.action}.requested", "requested")


@mutant(breaks=("TL-033", "RDR-008"))
def pending_writes_are_read(patch: Patch) -> None:
    """Counts files of actions that did not complete."""
    patch.edit(
        active.Timeline._completion_of,
        "return self.archived.completion_of(requested)\n",
        "return self.archived.completion_of(requested) or requested\n",
    )


@mutant(breaks="RDR-009")
def archived_writes_are_forgotten(patch: Patch) -> None:
    """Takes only the active timeline for an authority and drops the files of archived actions."""
    patch.edit(
        active.Timeline._completion_of,
        "return self.archived.completion_of(requested, everywhere=True) or requested",
        "return None",
    )


@mutant(breaks="LSM-012")
def manifest_files_not_listed_are_read(patch: Patch) -> None:
    """Takes every file of the history folder for a live one."""
    patch.edit(
        manifest.read_manifest,
        'json.loads(text)["files"]',
        "[{'fileName': n, 'fileLen': storage.head(f'{folder}/{n}').size}"
        " for n in storage.names(folder) if n.endswith('.parquet')]",
    )


@mutant(breaks="TL-042")
def completion_under_another_name_is_another_action(patch: Patch) -> None:
    """Shows a pending clustering or compaction beside the instant as which it completed."""
    patch.set(active, "PENDING", {})
    patch.edit(active.build_timeline, "ACTIONS[parts[1]].completes_as", "parts[1]")


@mutant(breaks="TL-053")
def lowest_state_counts(patch: Patch) -> None:
    """Takes an action for pending as long as its earlier state files lie there."""
    patch.set(active, "PENDING", {})
    patch.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] > parts[2]")


@mutant(breaks=("TL-004", "TL-032"))
def completion_time_is_the_begin_time(patch: Patch) -> None:
    """Completes an action at the time at which it was requested."""
    patch.edit(
        Transitions.complete,
        "State.COMPLETED, time)",
        "State.COMPLETED, str(int(instant.requested) + 1))",
    )


@mutant(breaks=("TL-006", "TL-038"))
def copy_on_write_writes_deltacommits(patch: Patch) -> None:
    """Records a write to a copy-on-write table as a deltacommit."""
    patch.edit(commit._action_of, '"deltacommit" if table.properties.is_merge_on_read else "commit"', '"deltacommit"')
