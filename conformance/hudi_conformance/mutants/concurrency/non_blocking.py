"""Mutants of non-blocking concurrency control."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.records.keys import bucket_hash
from hudi_reference.write.placement import locate


@mutant(breaks="NBC-004")
def concurrent_writers_create_bucket_twice(patch: Patch) -> None:
    """Two writers that are the first to write to a bucket create file groups with different ids for it."""
    patch.edit(bucket_hash.bucket_file_id, "if random is None else", "if False else")
    patch.edit(locate.BucketLookup._new_id, "if not self.fixed_ids:", "if True:")
