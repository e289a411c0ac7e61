"""Mutants: what becomes of writes that fail, or seem to: lost answers, hearts that stopped, policies of cleans."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.rollback import failed_writes, rollback
from hudi_reference.write import write
from hudi_reference.write.commit import Commit
from hudi_reference.write.concurrency.heartbeats import Heartbeats

_ALL_THAT_PENDS = ("commit", "deltacommit", "replacecommit", "compaction", "logcompaction", "clustering")


@mutant(breaks="OCC-024")
def a_fault_after_the_completion_fails_the_write(patch: Patch) -> None:
    """A writer that cannot delete its markers says that it has failed, although its write is there: its caller writes again."""
    patch.edit(Commit._after_completion, "with suppress(StorageFault):", "if True:")


@mutant(breaks="TL-051")
def writes_of_which_nobody_heard_are_begun_anew(patch: Patch) -> None:
    """A writer whose completion got no answer takes it for a failure and writes once more: the rows are there twice."""
    patch.edit(
        write.run_with_retries,
        "suppress(ConcurrentChange)",
        "suppress(ConcurrentChange, __import__('hudi_reference.errors', fromlist=['errors']).StorageFault)",
    )


@mutant(breaks="OCC-004")
def whoever_fails_deletes_his_files(patch: Patch) -> None:
    """A writer deletes its data files whatever goes wrong, also where the completion may be there that names them."""
    patch.edit(
        Commit._abort_on_conflict,
        "        raise\n",
        "        raise\n    except BaseException:\n"
        "        [self.table.storage.delete(stat.path) for stat in self.stats]\n        raise\n",
    )


@mutant(breaks="OCC-027")
def cleans_undo_pending_writes_whatever_the_policy(patch: Patch) -> None:
    """A clean rolls back what it takes for failed although the settings leave that to somebody else."""
    patch.edit(failed_writes.clean_up_lazily, "is_lazy = Concurrency.of(settings).policy is Policy.LAZY", "is_lazy = True")


@mutant(breaks="OCC-027")
def dead_overwrites_stay_for_ever(patch: Patch) -> None:
    """A clean rolls back commits and delta commits of the dead, and no overwrites."""
    patch.set(failed_writes, "_WRITES", ("commit", "deltacommit"))


@mutant(breaks="OCC-027")
def everybody_is_heard_by_the_same_measure(patch: Patch) -> None:
    """Whoever asks whether a heart beats reckons with a beat every minute, whatever the settings say."""
    patch.edit(
        rollback.heartbeats_of,
        "Heartbeats.of(table.storage, table.clock, Concurrency.of(table.options))",
        "Heartbeats(table.storage, table.clock)",
    )


@mutant(breaks="SVC-008")
def plans_are_taken_for_failed_writes(patch: Patch) -> None:
    """A clean finds no heartbeat of a compaction that is requested, and rolls the plan back."""
    patch.set(failed_writes, "_WRITES", _ALL_THAT_PENDS)
    patch.edit(rollback._check_failed, 'if target.action in ("compaction", "logcompaction"):', "if False:")


@mutant(breaks="OCC-014")
def whoever_completes_stops_all_hearts(patch: Patch) -> None:
    """A writer deletes the heartbeats of all writers when it has completed, so that the others seem dead."""
    patch.edit(
        Heartbeats.delete,
        "self.storage.delete(heartbeat_path(instant))",
        "[self.storage.delete(info.path) for info in self.storage.list(FOLDER)]",
    )
