"""The functions of the contract about merging, by classes of Apache Hudi: settings, mergers, inferred properties."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hudi_conformance.contract import EngineError
from hudi_conformance.engines.apache_hudi.jvm.session import Session

#: Record type of a merger -> the execution engine whose records have it.
_ENGINES = {"SPARK": "SPARK", "FLINK": "FLINK", "AVRO": "JAVA"}
#: A merger with a strategy id and a record type; how it merges does not matter.
_MERGER = """
public class {name} extends org.apache.hudi.common.model.HoodieAvroRecordMerger {{
  public String getMergingStrategy() {{ return "{strategy}"; }}
  public org.apache.hudi.common.model.HoodieRecord.HoodieRecordType getRecordType() {{
    return org.apache.hudi.common.model.HoodieRecord.HoodieRecordType.{kind};
  }}
}}
"""


def read_settings(session: Session, options: Mapping[str, str]) -> dict[str, Any]:
    """The settings of merging in the options of a writer."""
    utils, names = session.hudi.common.util.ConfigUtils, session.hudi.config.HoodieWriteConfig
    typed = session.hudi.common.config.TypedProperties()
    typed.putAll(session.properties(options))
    config = session.hudi.common.config.HoodieConfig(typed)
    mode = config.getString(names.RECORD_MERGE_MODE)
    modes = session.hudi.common.config.RecordMergeMode
    payload = session.hudi.common.table.HoodieTableConfig.PAYLOAD_CLASS_NAME
    return {
        "mode": None if mode is None else str(modes.getValue(mode)),
        "strategy": config.getString(names.RECORD_MERGE_STRATEGY_ID),
        "payload": config.getString(names.WRITE_PAYLOAD_CLASS_NAME) or config.getString(payload),
        "classes": [str(name) for name in utils.split2List(config.getString(names.RECORD_MERGE_IMPL_CLASSES) or "")],
        "ordering": _ordering_fields(session, typed),
    }


def _ordering_fields(session: Session, options: Any) -> list[str]:
    utils = session.hudi.common.util.ConfigUtils
    if session.version == "1.0.2":
        found = utils.getOrderingField(options)
        return [] if found is None else [str(found)]
    return [str(field) for field in utils.getOrderingFields(options) or ()]


def choose_merger(session: Session, strategy: str | None, record_type: str, mergers: Sequence[Mapping[str, str]]) -> int:
    """The place of the merger that a reader of that record type takes. Raises EngineError if it takes none."""
    names = [f"Merger{n}_{m['strategy']}_{m['record_type']}".replace("-", "") for n, m in enumerate(mergers)]
    known = [str(kind) for kind in session.hudi.common.model.HoodieRecord.HoodieRecordType.values()]
    # 1.0.2 has no record type for Flink, so that no merger can have it.
    possible = {name: m for name, m in zip(names, mergers, strict=True) if m["record_type"] in known}
    source = [_MERGER.format(name=name, strategy=m["strategy"], kind=m["record_type"]) for name, m in possible.items()]
    engine = session.hudi.common.engine.EngineType.valueOf(_ENGINES[record_type])
    _make_loadable(session, possible, "".join(source))
    choose = session.hudi.common.util.HoodieRecordUtils.createValidRecordMerger
    found = choose(engine, session.list_of(possible), strategy)
    if not found.isPresent():
        raise EngineError("HoodieRecordUtils.createValidRecordMerger: no merger fits")
    return names.index(str(found.get().getClass().getSimpleName()))


def _make_loadable(session: Session, names: Iterable[str], source: str) -> None:
    """Compile classes of Java, and put them where Hudi keeps the classes that it has loaded."""
    compiler, thread = session.jvm.org.codehaus.janino.SimpleCompiler(), session.jvm.java.lang.Thread.currentThread()
    compiler.setParentClassLoader(thread.getContextClassLoader())
    compiler.cook(source)
    utils = thread.getContextClassLoader().loadClass("org.apache.hudi.common.util.ReflectionUtils")
    cache = utils.getDeclaredField("CLAZZ_CACHE")
    cache.setAccessible(True)
    for name in names:
        cache.get(None).put(name, compiler.getClassLoader().loadClass(name))


def infer_properties(
    session: Session, mode: str | None, strategy: str | None, payload: str | None, ordering: str | None, version: int = 8
) -> dict[str, str | None]:
    """Merge mode, strategy and payload class of a table with these entries."""
    if version == 9:
        return _infer_for_9(session, mode, strategy, payload, ordering)
    config = session.hudi.common.table.HoodieTableConfig
    infer = config.inferCorrectMergingBehavior if session.version == "1.0.2" else config.inferMergingConfigsForPreV9Table
    given = None if mode is None else session.hudi.common.config.RecordMergeMode.valueOf(mode)
    found = infer(given, payload, strategy, ordering, session.hudi.common.table.HoodieTableVersion.EIGHT)
    return {"mode": str(found.getLeft()), "payload": str(found.getMiddle()), "strategy": str(found.getRight())}


def _infer_for_9(
    session: Session, mode: str | None, strategy: str | None, payload: str | None, ordering: str | None
) -> dict[str, str | None]:
    table = session.hudi.common.table
    given = None if mode is None else session.hudi.common.config.RecordMergeMode.valueOf(mode)
    infer = table.HoodieTableConfig.inferMergingConfigsForV9TableCreation
    found = {str(k): str(v) for k, v in dict(infer(given, payload, strategy, ordering, table.HoodieTableVersion.NINE)).items()}
    return {
        "mode": found.get("hoodie.record.merge.mode"),
        "strategy": found.get("hoodie.record.merge.strategy.id"),
        "payload": found.get("hoodie.compaction.payload.class"),
        "legacy_payload": found.get("hoodie.table.legacy.payload.class"),
        "partial_update": found.get("hoodie.table.partial.update.mode"),
    }
