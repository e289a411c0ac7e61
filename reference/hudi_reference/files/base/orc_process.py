"""ORC files with lists, read by another process where the memory has a bound.

The ORC library does not check that it got the memory for the elements of lists and maps: without memory it ends the process.
The statistics of a file count the elements, but they may be false. A process of its own ends alone.
"""

import resource
import subprocess
import sys

import pyarrow as pa

from hudi_reference.storage.system_faults import memory_used_up

_NO_MEMORY = 3
#: Reads the file on standard input, and writes the columns in the arguments as an Arrow stream.
_PROGRAM = f"""
import sys
import pyarrow as pa
from pyarrow import orc
try:
    rows = orc.ORCFile(pa.BufferReader(sys.stdin.buffer.read())).read(columns=sys.argv[1:])
    with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as stream:
        stream.write_table(rows)
except MemoryError:
    sys.exit({_NO_MEMORY})
except (pa.ArrowException, OSError, ValueError) as error:
    sys.exit(str(error))
"""


def memory_is_bounded() -> bool:
    """Whether an allocation of this process may fail, as in commands that read tables."""
    return resource.RLIM_INFINITY not in resource.getrlimit(resource.RLIMIT_DATA)[:1] and bool(sys.executable)


def read_in_process(content: bytes, columns: list[str], path: str) -> pa.Table:
    """The columns of an ORC file, read by a process that inherits the bound of memory.

    Raises:
        StorageUnavailable: the rows need more memory than the bound allows.
        pyarrow.ArrowInvalid: the library cannot read the file.
    """
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *columns], input=content, capture_output=True, check=False)
    if done.returncode < 0 or done.returncode == _NO_MEMORY:
        raise memory_used_up(path)
    if done.returncode:
        raise pa.ArrowInvalid(done.stderr.decode("utf-8", "replace").strip())
    with pa.ipc.open_stream(done.stdout) as stream:
        return stream.read_all()
