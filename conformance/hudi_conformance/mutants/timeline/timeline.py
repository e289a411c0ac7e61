"""Planted bugs in the timeline: names, states, and what counts as completed."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.timeline import active
from hudi_reference.timeline.history import manifest
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit


@planted(breaks="TL-028")
def inflight_commit_with_its_action(bug: Bug) -> None:
    """Writes an inflight commit as <begin>.commit.inflight, as the text has it and nobody reads."""
    bug.item(states.ACTIONS, "commit", replace(states.ACTIONS["commit"], inflight="commit.inflight"))
    bug.set(instant, "EXTENSIONS", states._extensions())


@planted(breaks="TL-027")
def requested_file_without_action(bug: Bug) -> None:
    """Leaves the action out of the requested file's name."""
    bug.edit(Instant.file_name, "{self.action}.requested", "requested")


@planted(breaks=("TL-033", "RDR-008"))
def pending_writes_are_read(bug: Bug) -> None:
    """Counts files of actions that did not complete."""
    bug.edit(
        active.Timeline._completion_of,
        "return self.archived.completion_of(requested)\n",
        "return self.archived.completion_of(requested) or requested\n",
    )


@planted(breaks="RDR-009")
def archived_writes_are_forgotten(bug: Bug) -> None:
    """Takes only the active timeline for an authority and drops the files of archived actions."""
    bug.edit(
        active.Timeline._completion_of,
        "return self.archived.completion_of(requested, everywhere=True) or requested",
        "return None",
    )


@planted(breaks="LSM-012")
def manifest_files_not_listed_are_read(bug: Bug) -> None:
    """Takes every file of the history folder for a live one."""
    bug.edit(
        manifest.read_manifest,
        'json.loads(text)["files"]',
        "[{'fileName': n, 'fileLen': storage.head(f'{folder}/{n}').size}"
        " for n in storage.names(folder) if n.endswith('.parquet')]",
    )


@planted(breaks="TL-042")
def completion_under_another_name_is_another_action(bug: Bug) -> None:
    """Shows a pending clustering or compaction beside the instant as which it completed."""
    bug.set(active, "PENDING", {})
    bug.edit(active.build_timeline, "ACTIONS[parts[1]].completes_as", "parts[1]")


@planted(breaks="TL-053")
def lowest_state_counts(bug: Bug) -> None:
    """Takes an action for pending as long as its earlier state files lie there."""
    bug.set(active, "PENDING", {})
    bug.edit(active.build_timeline, "known[2] <= parts[2]", "known[2] > parts[2]")


@planted(breaks=("TL-004", "TL-032"))
def completion_time_is_the_begin_time(bug: Bug) -> None:
    """Completes an action at the time at which it was requested."""
    bug.edit(
        Transitions.complete,
        "State.COMPLETED, time)",
        "State.COMPLETED, str(int(instant.requested) + 1))",
    )


@planted(breaks=("TL-006", "TL-038"))
def copy_on_write_writes_deltacommits(bug: Bug) -> None:
    """Records a write to a copy-on-write table as a deltacommit."""
    bug.edit(commit.begin, '"deltacommit" if properties.is_merge_on_read else "commit"', '"deltacommit"')
