"""Object stores in processes that were forked, which do not have the threads of the client library."""

import subprocess
import sys
from uuid import uuid4

import pytest

PROGRAM = """
import os, sys
from hudi_reference.errors import Misuse
from hudi_reference.storage import storage_of
used, uri = sys.argv[1:]
if used == "before":
    storage_of(uri).put("a", b"1")
child = os.fork()
if child == 0:
    for request in (lambda: storage_of(uri).get("a"), lambda: storage_of(uri).create("b", b"2"), lambda: print("done")):
        try:
            request()
        except FileNotFoundError:
            pass
        except Misuse as error:
            print(error.message, error.remedy)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.s3
@pytest.mark.parametrize("used", ["before", "never"])
def test_a_forked_process_gets_an_error_or_an_answer(s3_bucket: str, used: str) -> None:
    """A request after the fork of a process that sent requests is refused with a remedy; it would wait for ever."""
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM, used, f"{s3_bucket}/{uuid4()}"]
    *refused, last = subprocess.run(program, capture_output=True, text=True, check=True, timeout=100).stdout.splitlines()
    assert last == "done"
    assert len(refused) == (2 if used == "before" else 0)
    assert all("forked" in line and "spawn" in line for line in refused)
