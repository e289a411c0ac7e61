"""An engine as an object: the same messages through the same dispatch, without a process."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hudi_conformance.contract.engine import Engine
from hudi_conformance.contract.errors import EngineCrash
from hudi_conformance.contract.serve import dispatch


class InProcessTransport:
    """An engine in this process. Every message and answer is turned into JSON and back, as on the wire.

    Time limits are not kept: nothing can be killed without killing the suite.
    """

    def __init__(self, make: Callable[[], Engine]) -> None:
        try:
            self._engine = make()
        except Exception as e:
            raise EngineCrash(f"the engine could not be made: {type(e).__name__}: {e}") from e

    def ask(self, message: Mapping[str, Any], timeout: float) -> Any:
        """The JSON value that answers `message`."""
        del timeout
        return json.loads(json.dumps(dispatch(self._engine, json.loads(json.dumps(message, allow_nan=False)))))

    def close(self, grace: float = 0) -> bool:
        """Free what the engine holds."""
        del grace
        self._engine.close()
        return True
