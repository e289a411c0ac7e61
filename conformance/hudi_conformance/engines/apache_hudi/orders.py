"""Requests for table services, the write client that carries them out, and work in steps."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hudi_conformance.contract import EngineError
from hudi_conformance.contract.messages import Phase, Point
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import SETTINGS, maintaining
from hudi_conformance.engines.apache_hudi.jvm.tables import properties_of, write_options
from hudi_conformance.engines.apache_hudi.settings import settings_of
from hudi_reference.caching import cached_property

#: Settings with which every scheduled service is due.
SERVICE_OPTIONS: Mapping[str, str] = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "1",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.auto.commit": "false",
}
#: On Spark a client would otherwise build column statistics on the way.
_NO_NEW_INDEX: Mapping[str, str] = {SETTINGS["column_stats"]: "false"}
#: The points of a write or service, each with the requested time of its action, which it also returns.
Steps = Generator[tuple[Point, str], None, str | None]


@contextmanager
def write_client(session: JavaBridge, table: str, options: Mapping[str, str]) -> Iterator[Any]:
    """A client for one table, closed at the end of the block."""
    properties = properties_of(session, table)
    settings = {
        **write_options(properties, "upsert"),
        **SERVICE_OPTIONS,
        **_NO_NEW_INDEX,
        **maintaining(session, table, properties),
        **_ordering(properties),
        **_without_meta_columns(properties),
        "hoodie.datasource.write.table.type": properties["hoodie.table.type"],
        **options,
    }
    schema = properties.get("hoodie.table.create.schema")
    client = session.write_client(table, properties["hoodie.table.name"], schema, settings)
    try:
        yield client
    finally:
        client.close()


def _ordering(properties: Mapping[str, str]) -> dict[str, str]:
    """The ordering field, which the client of 1.0.2 does not take from the table by itself (ER-138)."""
    field = properties.get("hoodie.table.precombine.field")
    return {} if field is None else {"hoodie.datasource.write.precombine.field": field}


def _without_meta_columns(properties: Mapping[str, str]) -> dict[str, str]:
    """What a client makes keys and partition paths from in a table without meta columns; they cannot be enabled again."""
    return settings_of(properties) if properties.get("hoodie.populate.meta.fields") == "false" else {}


@dataclass(frozen=True)
class Order:
    """One request for a service."""

    session: JavaBridge
    table: str
    phase: Phase
    instant: str | None
    options: Mapping[str, str]

    @property
    def target(self) -> str:
        """The instant of the service. Raises EngineError if none is given."""
        if self.instant is None:
            raise EngineError("this service needs an instant")
        return self.instant

    def instants(self) -> dict[tuple[str, str], str]:
        """The active timeline: state by requested time and action."""
        found = self.session.meta_client(self.table).getActiveTimeline().getInstants()
        return {(str(i.requestedTime()), str(i.getAction())): str(i.getState()) for i in found}

    @cached_property
    def none(self) -> Any:
        """Java's empty Option."""
        return self.session.hudi.common.util.Option.empty()


def to_the_end(steps: Steps) -> str | None:
    """Run all steps without a pause, and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: str | None = end.value
            return found
