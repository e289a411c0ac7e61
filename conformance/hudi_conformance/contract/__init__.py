"""The contract between the suite and an engine.

An engine is whatever answers these messages: a process that speaks JSON lines, or a Python class. Rows travel as Arrow
IPC files whose path is in the message; tables are addressed by URI.
"""

from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import (
    Conflict,
    ContractError,
    EngineCrash,
    EngineError,
    EngineTimeout,
    ProtocolFault,
    Refused,
)
from hudi_conformance.contract.messages import FEATURES, FUNCTIONS, PROTOCOL, Call, Hello, Query, TableSpec, Write

__all__ = [
    "FEATURES",
    "FUNCTIONS",
    "PROTOCOL",
    "Call",
    "Conflict",
    "ContractError",
    "Engine",
    "EngineCrash",
    "EngineError",
    "EngineTimeout",
    "Hello",
    "ProtocolFault",
    "Query",
    "Refused",
    "TableSpec",
    "Write",
]
