"""`docs/locks.md`: lock providers and their settings, from the tables in `hudi_reference.locks`."""

from hudi_reference.locks.providers import PROVIDERS
from hudi_reference.locks.settings import ABOUT, SETTINGS, LockSetting

HEAD = """\
# Locks

All writers and services of a table share one lock. They hold it while they generate instant times, check for conflicts,
complete actions and change the table's properties. This page describes the lock providers and their settings. It is written
by `python -m tools.pages`.

```python
open_table(uri, options={"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"})
open_table(uri, lock=a_lock_of_your_own)  # acquire, release, check, in_process
```

Before publishing, a writer revalidates and renews its lock. If the lock was lost, `LockLost` is raised and nothing is
published. If the lock is lost during the request that publishes, `LockLost` is raised too, although the action may be
complete.

Under a lock for the threads of one process, generating a time takes milliseconds. Under any other lock the writer also waits
for the clocks of other machines to catch up: 200 ms, or `hoodie.time.generator.max_expected_clock_skew_ms`.

## Which one to choose

| provider | where the lock is stored | when the lock of a crashed holder ends | choose it if |
|---|---|---|---|
"""

NEXT = "Read next: [concurrency.md](concurrency.md), [object-stores.md](object-stores.md)."


def locks_page() -> str:
    """The page's text."""
    rows = [f"| `{name}` | {about.keeps} | {about.ends} | {about.choose} |" for name, about in ABOUT.items()]
    classes = [f"* `{name}`" for name in PROVIDERS]
    settings = ["| key | default | unit | provider | meaning |", "|---|---|---|---|---|", *map(_row, SETTINGS)]
    return HEAD + "\n".join(
        [
            *rows,
            "",
            "Class names of the providers:",
            "",
            *classes,
            "",
            "## Settings",
            "",
            *settings,
            "",
            NEXT,
            "",
        ]
    )


def _row(one: LockSetting) -> str:
    default = f"`{one.default}`" if one.default is not None else one.otherwise or ""
    older = f". Older name: `{'`, `'.join(one.alternatives)}`." if one.alternatives else ""
    whose = ", ".join(f"`{name}`" for name in one.providers) or "all"
    return f"| `{one.key}` | {default} | {one.unit or ''} | {whose} | {one.meaning}{older} |"
