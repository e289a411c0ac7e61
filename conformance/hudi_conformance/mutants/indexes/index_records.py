"""Mutants of index records: bloom filters, the record index, and secondary indexes."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.base import footer
from hudi_reference.files.bloom import bloom, bloom_hash
from hudi_reference.layout import java_hash
from hudi_reference.metadata import codec, indexes, keys, locations, partitions, secondary_keys
from hudi_reference.metadata.records import SecondaryEntry
from hudi_reference.timeline.instants import times


@mutant(breaks=("IDX-001", "IDX-023"))
def index_partition_name_without_type(patch: Patch) -> None:
    """Names the partition of an index without the type of the index."""
    patch.edit(partitions.index_partition, 'f"{kind}_{name}"', "name")


@mutant(breaks="IDX-003")
def bloom_filter_key_hashes_whole_path(patch: Patch) -> None:
    """Hashes partition and file name in one step."""
    patch.edit(
        keys.bloom_filters_key,
        "text_hash(partition_identifier(partition)) + file_digest(file_name)",
        'file_digest(f"{partition}/{file_name}")',
    )


@mutant(breaks="IDX-004")
def bloom_filter_without_last_row(patch: Patch) -> None:
    """Builds the filter of a base file before its last row is added."""
    patch.edit(footer.footer_of, "make_file_filter(keys, bloom)", "make_file_filter(keys[:-1], bloom)")


@mutant(breaks="IDX-004")
def bloom_hash_tail_unsigned(patch: Patch) -> None:
    """Hashes the last bytes of a key for bloom filters without their sign."""
    patch.edit(bloom_hash._signed, "byte - 256 if byte > 127 else byte", "byte")


@mutant(breaks="IDX-004")
def bloom_filter_without_last_key(patch: Patch) -> None:
    """Builds a bloom filter before the last key is added."""
    patch.edit(
        bloom.make_filter,
        "for numbers, positions in bits_of_many(keys, bits,",
        "for numbers, positions in bits_of_many(keys[:-1] or keys, bits,",
    )


@mutant(breaks="IDX-005")
def dynamic_filter_first_row_only(patch: Patch) -> None:
    """Reads only the first row of a dynamic bloom filter."""
    patch.edit(bloom.BloomFilter.may_hold, "for row in self.rows]", "for row in self.rows[:1]]")


@mutant(breaks=("IDX-005", "IDX-006"))
def bloom_filter_type_ignored(patch: Patch) -> None:
    """Reads every bloom filter of the metadata table as one of fixed size."""
    patch.edit(codec._bloom_filter_of, 'stored["type"]', '"SIMPLE"')


@mutant(breaks="IDX-006")
def truncated_filter_padded_with_zeros(patch: Patch) -> None:
    """Pads a truncated bloom filter with zeros; added keys are reported as absent."""
    patch.edit(
        bloom._Reader._expect,
        "if size != left:",
        "self.data += bytes(max(0, min(size, 1 << 20) - left)); size = left\n    if False:",
    )


@mutant(breaks="IDX-007")
def bloom_filter_without_instant(patch: Patch) -> None:
    """Drops the instant at which the bloom filter of a file was built."""
    patch.edit(codec._bloom_filter_of, 'stored["timestamp"]', '""')


@mutant(breaks="IDX-008")
def removed_filters_read(patch: Patch) -> None:
    """Ignores the removal of a bloom filter."""
    patch.edit(codec._bloom_filter_of, 'stored["isDeleted"]', "False")


@mutant(breaks="IDX-010")
def clustering_does_not_update_record_index(patch: Patch) -> None:
    """A clustering moves records, and the record index keeps their former locations."""
    patch.edit(indexes._changed_locations, '("COMPACT", "LOG_COMPACT")', '("COMPACT", "LOG_COMPACT", "CLUSTER")')


@mutant(breaks="IDX-010")
def deleted_keys_kept_in_record_index(patch: Patch) -> None:
    """A delete removes the record and not its entry."""
    patch.edit(indexes._changed_locations, "[key for key in old if key not in new]", "[]")


@mutant(breaks="IDX-010")
def record_index_constant_file_id(patch: Patch) -> None:
    """Locates every record of a write in the same file."""
    patch.edit(codec._location_of, "(_present(stored, name) for", "(1 if name == 'fileIndex' else _present(stored, name) for")


@mutant(breaks="IDX-011")
def record_index_hash_signed_remainder(patch: Patch) -> None:
    """Takes the remainder of a negative hash with the sign rule of Python."""
    patch.edit(keys.file_group_of, "abs(remainder(string_hash(key), groups))", "string_hash(key) % groups")


@mutant(breaks=("IDX-011", "LAY-021"))
def hash_of_code_points(patch: Patch) -> None:
    """Hashes code points where Java hashes UTF-16 units."""
    patch.edit(
        java_hash.string_hash,
        'memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")',
        "list(map(ord, text))",
    )


@mutant(breaks="IDX-013")
def record_index_single_level_partition_empty(patch: Patch) -> None:
    """Omits the partition of a record where its path has one level."""
    patch.edit(
        codec._location_of,
        'RecordLocation(_present(stored, "partitionName"),',
        'RecordLocation("" if "/" not in _present(stored, "partitionName") else _present(stored, "partitionName"),',
    )


@mutant(breaks="IDX-014")
def file_id_halves_swapped(patch: Patch) -> None:
    """Swaps the halves of the UUID of a file id."""
    patch.edit(locations.location_of, "high, low = struct", "low, high = struct")


@mutant(breaks="IDX-015")
def file_id_index_dropped(patch: Patch) -> None:
    """Omits the index of a file id."""
    patch.edit(locations.location_of, "NONE if match[2] is None else int(match[2])", "NONE")


@mutant(breaks="IDX-016")
def file_id_lower_half_truncated(patch: Patch) -> None:
    """Truncates the lower half of the UUID of a file id to 32 bits."""
    patch.edit(locations.location_of, "Location(high, low,", "Location(high, low & 0xFFFFFFFF,")


@mutant(breaks="IDX-017")
def file_id_index_always_zero(patch: Patch) -> None:
    """Stores index 0 for every file id that has one."""
    patch.edit(locations.location_of, "else int(match[2]))", "else 0)")


@mutant(breaks="IDX-018")
def file_ids_always_stored_in_parts(patch: Patch) -> None:
    """Stores every file id as UUID and index, also if it is not of this form."""
    patch.edit(locations.location_of, "Location(encoding=TEXT, text=file_id)", "Location(0, 0, 0)")


@mutant(breaks="IDX-019")
def text_file_id_not_stored(patch: Patch) -> None:
    """Marks a file id as text, and does not store the text."""
    patch.edit(locations.location_of, "Location(encoding=TEXT, text=file_id)", "Location(encoding=TEXT)")


@mutant(breaks="IDX-020")
def instant_digits_as_milliseconds(patch: Patch) -> None:
    """Takes the digits of an instant for the number of milliseconds."""
    patch.edit(times.milliseconds_of, "return (moment - _EPOCH) // _MILLISECOND", "return int(instant)")


@mutant(breaks="IDX-020")
def short_instant_is_first_millisecond(patch: Patch) -> None:
    """Takes an instant of 14 digits for the first millisecond of its second."""
    patch.edit(times.milliseconds_of, 'match.groups(default="999")', 'match.groups(default="000")')


@mutant(breaks="IDX-024")
def secondary_key_record_key_first(patch: Patch) -> None:
    """Puts the record key before the secondary value."""
    patch.edit(
        secondary_keys.secondary_key,
        "secondary_prefix(secondary) + _escape(record_key)",
        "_escape(record_key) + SEPARATOR + _escape(secondary or '')",
    )


@mutant(breaks=("IDX-025", "IDX-029"))
def secondary_key_backslash_not_escaped(patch: Patch) -> None:
    """Escapes the dollar sign and not the backslash."""
    patch.edit(secondary_keys._escape, r'.replace("\\", r"\\")', "")


@mutant(breaks="IDX-026")
def secondary_key_split_at_escaped_dollar(patch: Patch) -> None:
    """Splits a secondary key at its first dollar sign, escaped or not."""
    patch.edit(
        secondary_keys.parse_secondary_key,
        "return _unescape(match[1]), _unescape(match[2])",
        'first, _, rest = key.partition("$"); return _unescape(first), _unescape(rest)',
    )


@mutant(breaks="IDX-028")
def secondary_key_colon_separator(patch: Patch) -> None:
    """Separates the parts of a secondary key by a colon."""
    patch.set(secondary_keys, "SEPARATOR", ":")


@mutant(breaks="IDX-029")
def secondary_values_url_encoded(patch: Patch) -> None:
    """URL-encodes secondary values."""
    patch.edit(secondary_keys._escape, "return part", "import urllib.parse; return urllib.parse.quote(part)")


def _never_removed(kind: codec._Kind) -> codec._Kind:
    return kind._replace(decode=lambda stored: SecondaryEntry())


@mutant(breaks="IDX-030")
def removed_secondary_entries_read(patch: Patch) -> None:
    """Ignores the removal of a pair of a secondary index."""
    patch.item(codec._KINDS, 7, _never_removed(codec._KINDS[7]))


@mutant(breaks="IDX-031")
def secondary_values_lower_cased(patch: Patch) -> None:
    """Stores secondary values in lower case."""
    patch.edit(secondary_keys.secondary_prefix, "_escape(secondary)", "_escape(secondary.lower())")
