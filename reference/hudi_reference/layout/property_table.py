"""Every key of `hoodie.properties`, spec "Table Properties", as data.

Defaults, releases and older names are those of the classes of Apache Hudi 1.0.2 and 1.2.0, and the presence of keys is that of
tables that they wrote. Reading, checking, creating and docs/properties.md follow this table. Unknown keys are kept.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

#: When a table of version 8 has the key.
Stored = Literal["always", "data tables", "where given", "where it differs", "where there is one", "never", "older tables"]


@dataclass(frozen=True)
class Property:
    """One key with its default (None: none) and its allowed values.

    `since` and `deprecated` are releases; `version` is the first table version that may have the key;
    from the version after `last_version` on, writers store it only for custom merging. `alternatives` are older
    names, which are read if the key itself is absent. `rule` is the rule that an invalid or missing value violates.
    `any_case` says that a value counts in capital and in small letters, as booleans always do (ER-262).
    """

    key: str
    meaning: str
    default: str | None = None
    values: tuple[str, ...] | None = None
    mandatory: bool = False
    since: str | None = None
    deprecated: str | None = None
    version: int = 0
    last_version: int = 9
    stored: Stored = "where given"
    inferred: str | None = None
    alternatives: tuple[str, ...] = ()
    rule: str = "PROP-001"
    any_case: bool = False

    def allowed(self, text: str) -> str | None:
        """The allowed value that a stored text stands for, or the text if all are allowed; None if it is unknown."""
        if self.values is None or text in self.values:
            return text
        if self.any_case or self.values is _BOOLEAN:
            return next((value for value in self.values if value.lower() == text.lower()), None)
        return None


_BOOLEAN = ("true", "false")
#: The prefix of properties for merging that a table of version 9 stores; without it they are as at version 8.
MERGE_PROPERTY = "hoodie.record.merge.property."
#: The first version for which this table says what writers always store.
_FIRST_VERSION = 8

#: Key generator type -> its class. Any other class is USER_PROVIDED, and the class is stored too.
KEY_GENERATORS = {
    "SIMPLE": "org.apache.hudi.keygen.SimpleKeyGenerator",
    "SIMPLE_AVRO": "org.apache.hudi.keygen.SimpleAvroKeyGenerator",
    "COMPLEX": "org.apache.hudi.keygen.ComplexKeyGenerator",
    "COMPLEX_AVRO": "org.apache.hudi.keygen.ComplexAvroKeyGenerator",
    "TIMESTAMP": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    "TIMESTAMP_AVRO": "org.apache.hudi.keygen.TimestampBasedAvroKeyGenerator",
    "CUSTOM": "org.apache.hudi.keygen.CustomKeyGenerator",
    "CUSTOM_AVRO": "org.apache.hudi.keygen.CustomAvroKeyGenerator",
    "NON_PARTITION": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "NON_PARTITION_AVRO": "org.apache.hudi.keygen.NonpartitionedAvroKeyGenerator",
    "GLOBAL_DELETE": "org.apache.hudi.keygen.GlobalDeleteKeyGenerator",
    "GLOBAL_DELETE_AVRO": "org.apache.hudi.keygen.GlobalAvroDeleteKeyGenerator",
    "AUTO_RECORD": "org.apache.hudi.keygen.AutoRecordGenWrapperKeyGenerator",
    "AUTO_RECORD_AVRO": "org.apache.hudi.keygen.AutoRecordGenWrapperAvroKeyGenerator",
    "HOODIE_TABLE_METADATA": "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
    "SPARK_SQL": "org.apache.spark.sql.hudi.command.SqlKeyGenerator",
    "SPARK_SQL_UUID": "org.apache.spark.sql.hudi.command.UuidKeyGenerator",
    "SPARK_SQL_MERGE_INTO": "org.apache.spark.sql.hudi.command.MergeIntoKeyGenerator",
    "STREAMER_TEST": "org.apache.hudi.utilities.deltastreamer.TestHoodieDeltaStreamer$TestGenerator",
    "USER_PROVIDED": "",
}

PROPERTIES = (
    # What the table is.
    Property("hoodie.table.name", "Name of the table.", mandatory=True, stored="always", rule="PROP-004"),
    Property("hoodie.database.name", "Database of the table.", default="", stored="data tables", rule="PROP-003"),
    Property("hoodie.table.type", "How changes are stored.", values=("COPY_ON_WRITE", "MERGE_ON_READ"), mandatory=True,
             stored="always", rule="PROP-005"),
    Property("hoodie.table.version", "Version of the table's format.", mandatory=True, stored="always", rule="PROP-006"),
    Property("hoodie.table.initial.version", "Version at creation; an upgraded table keeps it.", since="1.0.0",
             stored="always", rule="PROP-006"),
    Property("hoodie.table.checksum", "CRC-32 of `<database>.<table name>`, decimal.", since="0.11.0", stored="always",
             inferred="from database and table name", rule="PROP-011"),
    Property("hoodie.table.create.schema", "Avro schema at creation, without meta columns.", stored="data tables"),
    Property("hoodie.table.format", "Table format that wraps this one; 1.2 writes it into version 8 too.", default="native",
             since="1.1.0"),
    # Timeline.
    Property("hoodie.timeline.layout.version", "Layout of the timeline.", mandatory=True, stored="always", rule="PROP-010"),
    # ER-211: the text of version 9 has hoodie.table.timeline.path and hoodie.table.timeline.history.path.
    Property("hoodie.timeline.path", "Folder of the timeline, below `.hoodie`.", default="timeline", stored="always"),
    Property("hoodie.timeline.history.path", "Folder of the history, below that of the timeline.", default="history",
             stored="always"),
    Property("hoodie.archivelog.folder", "Folder of the archived timeline in layout 1.", default="archived",
             deprecated="1.0.0", stored="always"),
    Property("hoodie.table.timeline.timezone", "Time zone of instant times.", default="LOCAL",
             values=("LOCAL", "UTC"), stored="where it differs"),
    # Keys, partitions, columns.
    Property("hoodie.table.recordkey.fields", "Record key fields, separated by commas.", default="", stored="where given",
             rule="PROP-007"),
    Property("hoodie.table.partition.fields", "Partition fields, separated by commas; of a custom generator `field:TYPE`.",
             default="", stored="where given", rule="PROP-008"),
    Property("hoodie.table.ordering.fields", "Ordering fields, separated by commas; 1.0 knows the older name only (ER-030).",
             default="", since="1.1.0", alternatives=("hoodie.table.precombine.field",), rule="PROP-009"),
    Property("hoodie.table.keygenerator.type", "How keys and partition paths are generated.", values=tuple(KEY_GENERATORS),
             since="1.0.0", stored="always", inferred="from the class"),
    Property("hoodie.table.keygenerator.class", "Class that generates keys; overrides the type.", deprecated="1.0.0",
             inferred="from the type"),
    Property("hoodie.populate.meta.fields", "Whether the meta columns are filled.", default="true", values=_BOOLEAN,
             stored="where it differs"),
    Property("hoodie.datasource.write.hive_style_partitioning", "Whether folders are named `field=value`.",
             default="false", values=_BOOLEAN, stored="data tables"),
    Property("hoodie.datasource.write.partitionpath.urlencode", "Whether partition values are escaped.", default="false",
             values=_BOOLEAN, stored="data tables"),
    Property("hoodie.datasource.write.slash.separated.date.partitioning", "Whether a date is split into three folders.",
             default="false", values=_BOOLEAN, since="1.2.0"),
    Property("hoodie.datasource.write.drop.partition.columns", "Whether files lack the partition columns.",
             default="false", values=_BOOLEAN, stored="always"),
    Property("hoodie.table.partition_extractor_class", "Class that extracts partition values from paths.", since="1.2.0"),
    Property("hoodie.keygen.timebased.timestamp.type", "What a time-based key generator reads."),
    Property("hoodie.keygen.timebased.timestamp.scalar.time.unit", "Unit of a numeric timestamp."),
    Property("hoodie.keygen.timebased.input.dateformat", "Patterns of input strings."),
    Property("hoodie.keygen.timebased.input.dateformat.list.delimiter.regex", "Separator of these patterns."),
    Property("hoodie.keygen.timebased.input.timezone", "Time zone of input strings."),
    Property("hoodie.keygen.timebased.output.dateformat", "Pattern of partition paths."),
    Property("hoodie.keygen.timebased.output.timezone", "Time zone of partition paths."),
    Property("hoodie.keygen.timebased.timezone", "Zone of both."),
    Property("hoodie.keygen.datetime.parser.class", "Class that parses input strings."),
    # Files.
    Property("hoodie.table.base.file.format", "Format of base files.", default="PARQUET", stored="where it differs",
             values=("PARQUET", "ORC", "HFILE", "LANCE"), alternatives=("hoodie.table.ro.file.format",)),
    Property("hoodie.table.log.file.format", "Format of log files.", default="HOODIE_LOG", values=("HOODIE_LOG",),
             alternatives=("hoodie.table.rt.file.format",)),
    Property("hoodie.table.multiple.base.file.formats.enable", "Whether the table may have base files of several formats.",
             default="false", values=_BOOLEAN, since="1.0.0"),
    Property("hoodie.partition.metafile.use.base.format", "Whether `.hoodie_partition_metadata` has the format of base files.",
             default="false", values=_BOOLEAN),
    # Merging.
    Property("hoodie.record.merge.mode", "How records with the same key are merged.",
             values=("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"), since="1.0.0", stored="always",
             inferred="see below", rule="MRG-016", any_case=True),
    Property("hoodie.record.merge.strategy.id", "The merge strategy, a UUID.", since="0.13.0", stored="always", last_version=8,
             inferred="see below", alternatives=("hoodie.compaction.record.merger.strategy",), rule="MRG-018"),
    Property("hoodie.compaction.payload.class", "The class that merged records before merge modes existed.",
             deprecated="1.0.0", stored="always", last_version=8, inferred="see below", rule="MRG-018"),
    Property("hoodie.payload.delete.field", "The column that marks deleted rows.", rule="MRG-014"),
    Property("hoodie.payload.delete.marker", "The value that marks them.", rule="MRG-014"),
    Property("hoodie.table.legacy.payload.class", "The payload class before an upgrade.", since="1.1.0", version=9,
             stored="never"),
    Property("hoodie.table.partial.update.mode", "How partial updates are merged.",
             values=("IGNORE_DEFAULTS", "FILL_UNAVAILABLE"), since="1.1.0", version=9, stored="never"),
    # Metadata table and indexes.
    Property("hoodie.table.metadata.partitions", "Complete partitions of the metadata table, separated by commas.",
             default="", since="0.11.0", stored="where there is one", rule="PROP-012"),
    Property("hoodie.table.metadata.partitions.inflight", "Its partitions being built, separated by commas.", default="",
             since="0.11.0", stored="where there is one", rule="PROP-012"),
    Property("hoodie.table.index.defs.path", "File with the definitions of indexes, below the base path (ER-019).",
             since="1.0.0", stored="where there is one", rule="PROP-014"),
    Property("hoodie.table.secondary.indexes.metadata", "Secondary indexes of an older kind.", since="0.13.0"),
    # Change data capture.
    Property("hoodie.table.cdc.enabled", "Whether changes are logged for change data capture.", default="false",
             values=_BOOLEAN, since="0.13.0"),
    Property("hoodie.table.cdc.supplemental.logging.mode", "Which images of a row are logged.", default="DATA_BEFORE_AFTER",
             values=("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"), since="0.13.0", any_case=True),
    # Bootstrap.
    Property("hoodie.bootstrap.base.path", "Folder of the files from which the table was bootstrapped."),
    Property("hoodie.bootstrap.index.enable", "Whether an index maps skeleton files to these files.", default="true",
             values=_BOOLEAN),
    Property("hoodie.bootstrap.index.class", "Class of that index.", deprecated="1.0.0", stored="older tables",
             default="org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex"),
    Property("hoodie.bootstrap.index.type", "Type of that index.", default="HFILE", values=("HFILE", "NO_OP"), since="1.0.0"),
)  # fmt: skip

#: By key.
BY_KEY = {one.key: one for one in PROPERTIES}
MANDATORY = tuple(one.key for one in PROPERTIES if one.mandatory)


@cache
def always_stored(version: int) -> tuple[str, ...]:
    """The keys that every writer stores in a table of this version; none for versions before 8."""
    if version < _FIRST_VERSION:
        return ()
    return tuple(one.key for one in PROPERTIES if one.stored == "always" and version <= one.last_version)
