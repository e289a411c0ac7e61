"""Mutants: which record the file of an action holds, and the steps from one state to the next."""

from collections.abc import Mapping
from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout.properties import TableProperties
from hudi_reference.legacy import versions
from hudi_reference.query import table
from hudi_reference.services.clean import clean
from hudi_reference.services.planning import plan_execution
from hudi_reference.storage import Storage
from hudi_reference.timeline import active
from hudi_reference.timeline.active import Timeline
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.instants import instant, states
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import ACTIONS, Content, State
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit
from hudi_reference.write.commit import Commit


def holds(patch: Patch, action: str, state: State, content: Content) -> None:
    """Let the file of an action in one state hold something else."""
    known = ACTIONS[action]
    patch.item(states.ACTIONS, action, replace(known, contents={**known.contents, state: content}))


def stands_for(patch: Patch, extension: str, action: str) -> None:
    """Let the ending of a file's name stand for another action."""
    known: Mapping[str, tuple[str, State]] = states.EXTENSIONS
    patch.set(instant, "EXTENSIONS", {**known, extension: (action, known[extension][1])})


@mutant(breaks="TL-001")
def clean_leaves_no_action(patch: Patch) -> None:
    """A clean deletes what nobody needs, and tells nobody."""
    patch.edit(
        clean.clean,
        "requested = schedule_clean(table, options)",
        "requested = [table.storage.delete(path) for path in planned_files(plan_clean(table, options) or"
        " {'filePathsToBeDeletedPerPartition': {}})] and None",
    )


@mutant(breaks="TL-003")
def state_files_grow_in_their_place(patch: Patch) -> None:
    """Opens the file of a state under its final name and writes the content into it."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "self.storage.create(path, content[: len(content) // 2]), self.storage.put(path, content)",
    )


@mutant(breaks="TL-012")
def replacements_complete_with_commit_metadata(patch: Patch) -> None:
    """Takes a replacecommit for a commit, whose metadata names no replaced groups."""
    holds(patch, "replacecommit", State.COMPLETED, Content("HoodieCommitMetadata"))


@mutant(breaks="TL-012")
def replacements_are_requested_by_commit_metadata(patch: Patch) -> None:
    """Takes what a replacement writes for its plan."""
    holds(patch, "replacecommit", State.REQUESTED, Content("HoodieCommitMetadata", may_be_empty=True))


@mutant(breaks="TL-015")
def compaction_plan_as_the_text_names_it(patch: Patch) -> None:
    """Expects the plan of a compaction as one HoodieCompactionOperation."""
    holds(patch, "compaction", State.REQUESTED, Content("HoodieCompactionOperation"))


@mutant(breaks="TL-016")
def log_compactions_are_compactions(patch: Patch) -> None:
    """Takes a log compaction for a compaction, which makes a base file."""
    stands_for(patch, "logcompaction.requested", "compaction")


@mutant(breaks="TL-017")
def log_compactions_need_no_plan(patch: Patch) -> None:
    """Takes an empty requested file of a log compaction: its inputs can be found again."""
    holds(patch, "logcompaction", State.REQUESTED, Content("HoodieCompactionPlan", may_be_empty=True))


@mutant(breaks="TL-018")
def indexes_complete_with_nothing(patch: Patch) -> None:
    """Takes an empty completed file of an index."""
    holds(patch, "indexing", State.COMPLETED, Content("HoodieIndexCommitMetadata", may_be_empty=True))


@mutant(breaks="TL-025")
def a_state_of_its_own(patch: Patch) -> None:
    """Marks what has been started by a file of a fourth state."""
    patch.edit(
        Transitions.start,
        "return self._create(inflight, content)",
        "return self.storage.put(f'{self.path(inflight)}.started', b'') or self._create(inflight, content)",
    )


@mutant(breaks="TL-026")
def the_begin_time_is_that_of_the_start(patch: Patch) -> None:
    """Gives a planned action another time when it is started."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, content)",
        "inflight = transitions.start(transitions.request(action, table.storage.get(transitions.path(Instant(requested, action,"
        " State.REQUESTED)))), content)",
    )


@mutant(breaks="TL-031")
def completed_files_without_completion_time(patch: Patch) -> None:
    """Names completed files as before version 8."""
    patch.edit(
        Instant.file_name,
        "{self.requested}_{self.completion}.{ACTIONS[self.action].completes_as}",
        "{self.requested}.{ACTIONS[self.action].completes_as}",
    )


@mutant(breaks="TL-035")
def plans_follow_the_work(patch: Patch) -> None:
    """Writes the plan again when it is carried out, without the files that have disappeared meanwhile."""
    patch.edit(
        plan_execution.carry_out,
        "inflight = transitions.start(found, content)",
        "inflight = transitions.start(found, content)\n"
        "    table.storage.put(transitions.path(Instant(requested, action, State.REQUESTED)),"
        " write_action(Instant(requested, action, State.REQUESTED), plan, table.ids.sync_marker()))",
    )


@mutant(breaks="TL-040")
def clusterings_are_requested_as_replacecommits(patch: Patch) -> None:
    """Takes a requested clustering for a requested replacecommit."""
    stands_for(patch, "clustering.requested", "replacecommit")


@mutant(breaks="TL-045")
def bulk_inserts_are_no_commits(patch: Patch) -> None:
    """Infers from the action what kind of write it was, and rejects metadata that says another."""
    patch.edit(
        metadata.commit_metadata_of,
        'operation=record.get("operationType") or "UNKNOWN"',
        'operation={"INSERT": "INSERT", "UPSERT": "UPSERT"}[record["operationType"]]',
    )


@mutant(breaks="TL-049")
def files_before_the_inflight_state(patch: Patch) -> None:
    """Writes data files while the write is merely requested; moves to inflight just before it completes."""
    patch.edit(
        commit.begin,
        "transitions.start(requested, write_commit_metadata(operation, (), None, table.ids.sync_marker()))",
        "pass",
    )
    patch.edit(
        Commit.complete,
        "inflight = self.table, Instant(self.requested, self.action, State.INFLIGHT)",
        "inflight = self.table, transitions_of(self.table).start("
        "Instant(self.requested, self.action, State.REQUESTED),"
        " write_commit_metadata(self.operation, (), None, self.table.ids.sync_marker()))",
    )


@mutant(breaks="TL-050")
def an_inflight_action_is_not_started_again(patch: Patch) -> None:
    """Refuses to go on with an action that somebody has begun."""
    patch.edit(Transitions.start, '_check_move(instant.action, "start again", State.INFLIGHT)', "raise _elsewhere(instant)")


@mutant(breaks="TL-051")
def anything_completes(patch: Patch) -> None:
    """Completes an action whose inflight file is gone."""
    patch.edit(Transitions.complete, "if instant not in timeline.instants:", "if False:")


@mutant(breaks="TL-054")
def order_by_begin_times(patch: Patch) -> None:
    """Orders what completed by requested times."""
    patch.edit(active.completion_order, '"" if pending else instant.completion or instant.requested', "instant.requested")


@mutant(breaks="TL-055")
def the_timeline_is_kept(patch: Patch) -> None:
    """Looks at the active timeline of a table once in the life of a process."""
    kept: dict[str, Timeline] = {}
    look = versions.timeline_of

    def remembered(storage: Storage, properties: TableProperties, known: Timeline | None = None) -> Timeline:
        timeline = look(storage, properties, known)
        key = str(getattr(storage, "root", id(storage)))
        return kept.setdefault(key, timeline) if timeline.commits else timeline

    patch.set(table, "timeline_of", remembered)
