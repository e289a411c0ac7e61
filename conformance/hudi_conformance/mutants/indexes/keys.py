"""Mutants in names, instants, keys and hashes: what decides where something lies and how it is found again."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.files.bloom import bloom, bloom_hash
from hudi_reference.files.log import positions
from hudi_reference.layout import java_hash, names, partitions
from hudi_reference.metadata import keys, locations, secondary_keys
from hudi_reference.records.keys import bucket_hash, record_keys
from hudi_reference.timeline.instants import times


@mutant(breaks="LF-002")
def dotted_names_are_hidden(patch: Patch) -> None:
    """Skips every name that begins with a dot."""
    patch.edit(names.parse_data_file_name, "_LOG.fullmatch(name)", 'None if name.startswith(".") else _LOG.fullmatch(name)')


@mutant(breaks="LF-002")
def look_alikes_are_log_files(patch: Patch) -> None:
    """Takes whatever begins like a log file for one, whatever follows: temporary files, checksum files."""
    patch.edit(names.parse_data_file_name, "_LOG.fullmatch(name)", "_LOG.match(name)")


@mutant(breaks=("LF-002", "LF-005"))
def versions_of_any_size(patch: Patch) -> None:
    """Takes a version of more than 32 bits for one."""
    patch.edit(names.parse_data_file_name, "log is None or len(log[3]) > 10 or int(log[3]) > GREATEST_VERSION", "log is None")


@mutant(breaks="LF-006")
def write_tokens_of_log_files_forgotten(patch: Patch) -> None:
    """Leaves the write token out of a log file's name, so that attempts have one name."""
    patch.edit(names.parse_data_file_name, 'token or "", cdc', '"", cdc')


@mutant(breaks="LF-004")
def times_of_log_files_in_seconds(patch: Patch) -> None:
    """Cuts the instant in a log file's name to seconds."""
    patch.edit(names.parse_data_file_name, "LogFileName(file_id, instant,", "LogFileName(file_id, instant[:14],")


@mutant(breaks="BF-003")
def token_and_time_swapped(patch: Patch) -> None:
    """Reads the write token of a base file's name where the instant stands."""
    patch.edit(names.parse_data_file_name, "BaseFileName(*base.groups())", "BaseFileName(base[1], base[3], base[2], base[4])")


@mutant(breaks="PROP-016")
def partition_values_escaped_as_in_urls(patch: Patch) -> None:
    """Escapes partition values like parts of a URL."""
    patch.edit(
        partitions.escape,
        'return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)',
        "import urllib.parse; return urllib.parse.quote(text, safe='')",
    )


@mutant(breaks="PROP-016")
def escapes_taken_for_bytes(patch: Patch) -> None:
    """Takes the escapes in a folder's name for bytes of UTF-8."""
    patch.edit(
        partitions.unescape,
        "return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)",
        "import urllib.parse; return urllib.parse.unquote(text)",
    )


@mutant(breaks="META-007")
def empty_key_values_taken_for_nulls(patch: Patch) -> None:
    """Gives an empty text the mark of null in a key of several fields."""
    patch.edit(record_keys.composite_key, '"": "__empty__"', '"": "__null__"')


@mutant(breaks="META-007")
def rows_without_a_key_get_one(patch: Patch) -> None:
    """Makes a key of nulls."""
    patch.edit(record_keys.composite_key, "if not any(values):", "if False:")


@mutant(breaks="LAY-021")
def buckets_by_absolute_values(patch: Patch) -> None:
    """Takes the absolute value of a hash where its sign bit is cleared: keys move to another bucket than other writers use."""
    patch.edit(bucket_hash.bucket_of, "(list_hash(values) & 0x7FFFFFFF)", "abs(list_hash(values))")


@mutant(breaks="IDX-011")
def groups_by_the_remainder_of_python(patch: Patch) -> None:
    """Takes the remainder of a negative hash without its sign."""
    patch.edit(keys.file_group_of, "abs(remainder(string_hash(key), groups))", "string_hash(key) % groups")


@mutant(breaks=("IDX-011", "LAY-021"))
def hashes_of_code_points(patch: Patch) -> None:
    """Hashes characters where Java hashes UTF-16 units."""
    patch.edit(
        java_hash.string_hash,
        'memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")',
        "list(map(ord, text))",
    )


@mutant(breaks=("MDT-015", "IDX-003"))
def hash_seed_without_its_sign(patch: Patch) -> None:
    """Widens the seed of the hash without its sign."""
    patch.set(keys, "_SEED", 0xDABADABA)


@mutant(breaks="MDT-015")
def file_before_column(patch: Patch) -> None:
    """Puts the file's digest before the column in keys of column statistics."""
    patch.edit(keys.column_stats_key, "key + file_digest(file_name)", "file_digest(file_name) + key")


@mutant(breaks="MDT-016")
def partition_before_column(patch: Patch) -> None:
    """Puts the partition before the column, so that no prefix finds a column."""
    patch.edit(
        keys.column_stats_key,
        "key += text_hash(partition_identifier(partition))",
        "key = text_hash(partition_identifier(partition)) + key",
    )


@mutant(breaks="MDT-015")
def base_path_as_an_empty_text(patch: Patch) -> None:
    """Hashes the base path of a table without partitions as an empty text."""
    patch.edit(keys.partition_identifier, "partition or BASE_PATH", "partition")


@mutant(breaks="IDX-003")
def filter_keys_by_path(patch: Patch) -> None:
    """Digests partition and file name in one step."""
    patch.edit(
        keys.bloom_filters_key,
        "text_hash(partition_identifier(partition)) + file_digest(file_name)",
        'file_digest(f"{partition}/{file_name}")',
    )


@mutant(breaks="IDX-014")
def halves_of_file_ids_swapped(patch: Patch) -> None:
    """Swaps the halves of a file id's UUID."""
    patch.edit(locations.location_of, "high, low = struct", "low, high = struct")


@mutant(breaks="IDX-015")
def file_ids_without_index(patch: Patch) -> None:
    """Leaves the index of a file id out."""
    patch.edit(locations.location_of, "NONE if match[2] is None else int(match[2])", "NONE")


@mutant(breaks="IDX-016")
def lower_half_cut_to_32_bits(patch: Patch) -> None:
    """Cuts the lower half of a file id's UUID to 32 bits."""
    patch.edit(locations.location_of, "Location(high, low,", "Location(high, low & 0xFFFFFFFF,")


@mutant(breaks="IDX-017")
def every_index_is_0(patch: Patch) -> None:
    """Stores index 0 for every file id that has one."""
    patch.edit(locations.location_of, "else int(match[2]))", "else 0)")


@mutant(breaks="IDX-018")
def every_file_id_in_parts(patch: Patch) -> None:
    """Stores every file id as parts, whatever they mean."""
    patch.edit(locations.location_of, "Location(encoding=TEXT, text=file_id)", "Location(0, 0, 0)")


@mutant(breaks="IDX-019")
def texts_of_file_ids_forgotten(patch: Patch) -> None:
    """Says that a file id is a text, and does not store it."""
    patch.edit(locations.location_of, "Location(encoding=TEXT, text=file_id)", "Location(encoding=TEXT)")


@mutant(breaks="IDX-020")
def instants_as_numbers(patch: Patch) -> None:
    """Takes the digits of an instant for the number of milliseconds."""
    patch.edit(times.milliseconds_of, "return (moment - _EPOCH) // _MILLISECOND", "return int(instant)")


@mutant(breaks="IDX-020")
def seconds_begin_at_zero(patch: Patch) -> None:
    """Takes 14 digits for the first millisecond of their second."""
    patch.edit(times.milliseconds_of, 'match.groups(default="999")', 'match.groups(default="000")')


@mutant(breaks="IDX-024")
def record_key_before_value(patch: Patch) -> None:
    """Puts the record key before the secondary value."""
    patch.edit(
        secondary_keys.secondary_key,
        "secondary_prefix(secondary) + _escape(record_key)",
        "_escape(record_key) + SEPARATOR + _escape(secondary or '')",
    )


@mutant(breaks=("IDX-025", "IDX-029"))
def only_the_dollar_escaped(patch: Patch) -> None:
    """Escapes the dollar sign and not the backslash."""
    patch.edit(secondary_keys._escape, r'.replace("\\", r"\\")', "")


@mutant(breaks="IDX-026")
def split_at_the_first_dollar(patch: Patch) -> None:
    """Takes a secondary key apart at its first dollar sign, escaped or not."""
    patch.edit(
        secondary_keys.parse_secondary_key,
        "return _unescape(match[1]), _unescape(match[2])",
        'first, _, rest = key.partition("$"); return _unescape(first), _unescape(rest)',
    )


@mutant(breaks="IDX-028")
def colon_between_value_and_key(patch: Patch) -> None:
    """Separates the parts of a secondary key by a colon."""
    patch.set(secondary_keys, "SEPARATOR", ":")


@mutant(breaks="IDX-029")
def secondary_values_escaped_as_in_urls(patch: Patch) -> None:
    """Escapes secondary values like parts of a URL."""
    patch.edit(secondary_keys._escape, "return part", "import urllib.parse; return urllib.parse.quote(part)")


@mutant(breaks="IDX-031")
def secondary_values_in_small_letters(patch: Patch) -> None:
    """Stores secondary values in small letters."""
    patch.edit(secondary_keys.secondary_prefix, "_escape(secondary)", "_escape(secondary.lower())")


@mutant(breaks="IDX-004")
def last_bytes_of_keys_without_sign(patch: Patch) -> None:
    """Hashes the last bytes of a key for bloom filters without their sign."""
    patch.edit(bloom_hash._signed, "byte - 256 if byte > 127 else byte", "byte")


@mutant(breaks="IDX-004")
def filters_made_before_the_last_key(patch: Patch) -> None:
    """Makes a bloom filter before the last key is there."""
    patch.edit(
        bloom.make_filter,
        "for numbers, positions in bits_of_many(keys, bits,",
        "for numbers, positions in bits_of_many(keys[:-1] or keys, bits,",
    )


@mutant(breaks="IDX-005")
def growing_filters_read_as_fixed(patch: Patch) -> None:
    """Reads only the first row of a growing filter."""
    patch.edit(bloom.BloomFilter.may_hold, "for row in self.rows]", "for row in self.rows[:1]]")


@mutant(breaks="IDX-006")
def missing_bytes_of_filters_are_zeros(patch: Patch) -> None:
    """Takes what is missing of a bloom filter for zeros: keys that were added are not held."""
    patch.edit(
        bloom._Reader._expect,
        "if size != left:",
        "self.data += bytes(max(0, min(size, 1 << 20) - left)); size = left\n    if False:",
    )


@mutant(breaks="LF-041")
def positions_of_32_bits(patch: Patch) -> None:
    """Stores the lower 32 bits of record positions."""
    patch.edit(positions.encode_positions, "BitMap64(positions)", "BitMap64(p & 0xFFFFFFFF for p in positions)")


@mutant(breaks="LF-041")
def upper_halves_of_positions_dropped(patch: Patch) -> None:
    """Reads the lower 32 bits of record positions."""
    patch.edit(positions.decode_positions, "    return bitmap\n", "    return BitMap64(p & 0xFFFFFFFF for p in bitmap)\n")
