"""What the adapters on Spark and on plain Java have in common: table creation, table services and paused work."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager

from hudi_conformance.contract import Call, Engine, Refused, TableSpec
from hudi_conformance.contract.messages import Phase, Point, Service, Work
from hudi_conformance.engines.apache_hudi import maintenance
from hudi_conformance.engines.apache_hudi.jvm import tables
from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.orders import Order
from hudi_conformance.engines.apache_hudi.pausing import steps_of
from hudi_conformance.engines.support.pausing import PausedWork

#: The feature of releases that create tables of version 9.
CREATES_9 = "create.table-version.9"


class WriteClientEngine(Engine):
    """An engine that creates tables and runs services through Hudi's write client.

    `contract_errors` is a context manager that translates the exceptions of the bridge's library into those of the contract.
    """

    def __init__(
        self,
        bridge: JavaBridge,
        features: AbstractSet[str],
        contract_errors: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._bridge = bridge
        self._features = features
        self._contract_errors = contract_errors
        self._paused = PausedWork()

    def create(self, table: str, spec: TableSpec) -> None:
        """An empty table."""
        if spec.version != tables.OLDEST_WRITTEN and CREATES_9 not in self._features:
            raise Refused(CREATES_9, f"{self._bridge.version} does not create tables of version {spec.version}")
        if len(spec.ordering) > 1 and "merge.multiple-ordering-fields" not in self._features:
            raise Refused("merge.multiple-ordering-fields", f"{self._bridge.version} orders by one field")
        with self._contract_errors():
            tables.create(self._bridge, tables.place(self._bridge, table), spec)

    def service(
        self,
        table: str,
        service: Service,
        *,
        phase: Phase = "run",
        instant: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> str | None:
        """One table service through the write client."""
        table = self._writable("service", service, table)
        order = Order(self._bridge, table, phase, instant, options or {})
        with self._contract_errors():
            return maintenance.run(order, service)

    def begin(self, writer: str, work: Work, until: Point) -> str | None:
        """Start a pausable write or service with its own client."""
        kind, name = ("service", work.service) if isinstance(work, Call) else ("write", work.operation)
        table = self._writable(kind, name, work.table)
        with self._contract_errors():
            return self._paused.begin(writer, steps_of(self._bridge, table, work, until), until)

    def resume(self, writer: str, until: Point | None = None) -> str | None:
        """Resume paused work."""
        with self._contract_errors():
            return self._paused.resume(writer, until)

    def _writable(self, kind: str, name: str, table: str) -> str:
        """The table's URI for Hudi. Raises Refused for a write or service that this release does not offer."""
        feature = f"{kind}.{name.replace('_', '-')}"
        if feature not in self._features:
            raise Refused(feature, f"the adapter for {self._bridge.version} does not support it")
        return tables.admitted(self._bridge, table, self._bridge.version, writing=True)
