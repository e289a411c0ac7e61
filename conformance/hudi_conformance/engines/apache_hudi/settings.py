"""The settings of a write client for a table, which the Spark datasource reads from the table itself."""

from collections.abc import Mapping

from hudi_conformance.engines.apache_hudi.jvm.tables import write_options

#: Entry of hoodie.properties -> the equivalent settings of a writer.
_FROM_TABLE: Mapping[str, tuple[str, ...]] = {
    "hoodie.table.recordkey.fields": ("hoodie.datasource.write.recordkey.field",),
    "hoodie.table.partition.fields": ("hoodie.datasource.write.partitionpath.field",),
    "hoodie.table.precombine.field": ("hoodie.datasource.write.precombine.field", "hoodie.payload.ordering.field"),
    "hoodie.table.ordering.fields": ("hoodie.datasource.write.precombine.field", "hoodie.payload.ordering.field"),
    "hoodie.record.merge.mode": ("hoodie.write.record.merge.mode",),
    "hoodie.record.merge.strategy.id": ("hoodie.write.record.merge.strategy.id",),
    "hoodie.compaction.payload.class": ("hoodie.compaction.payload.class", "hoodie.datasource.write.payload.class"),
    "hoodie.datasource.write.hive_style_partitioning": ("hoodie.datasource.write.hive_style_partitioning",),
    "hoodie.datasource.write.partitionpath.urlencode": ("hoodie.datasource.write.partitionpath.urlencode",),
    "hoodie.populate.meta.fields": ("hoodie.populate.meta.fields",),
}


def settings_of(properties: Mapping[str, str], operation: str = "upsert") -> dict[str, str]:
    """The settings for a write or a service on the table with these properties."""
    from_table = {
        setting: properties[entry] for entry, settings in _FROM_TABLE.items() if entry in properties for setting in settings
    }
    of_keys = {entry: value for entry, value in properties.items() if entry.startswith("hoodie.keygen.")}
    return {
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.table.type": properties.get("hoodie.table.type", "COPY_ON_WRITE"),  # Hudi's default
        **of_keys,
        **from_table,
        **write_options(properties, operation),
        "hoodie.auto.commit": "false",
    }
