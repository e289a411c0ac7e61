"""`docs/locks.md`: lock providers and their settings, from the tables in `hudi_reference.locks`."""

from hudi_reference.locks.providers import PROVIDERS
from hudi_reference.locks.settings import ABOUT, SETTINGS, LockSetting

HEAD = """\
# Locks

Writers and services of a table decide under one lock: they draw times, check for conflicts, complete actions and change the
properties of the table while they hold it. This page is written by `python -m tools.pages`.

```python
open_table(uri, options={"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider"})
open_table(uri, lock=a_lock_of_your_own)  # acquire, release, check, in_process
```

Right before something is published its writer asks whether he still has the lock, and renews it by that. Who lost it gets a
`LockLost`, and nothing is published; who loses it while his request is under way gets one too, and finds his action complete.

Under a lock that only threads of one process can hold a time is drawn within milliseconds. Under any other one each time waits
for the clocks of the other machines, 200 ms unless `hoodie.time.generator.max_expected_clock_skew_ms` says otherwise.

## Which one to choose

| provider | the lock is | what ends it when its holder is gone | choose it where |
|---|---|---|---|
"""


def locks_page() -> str:
    """The page's text."""
    rows = [f"| `{name}` | {about.keeps} | {about.ends} | {about.choose} |" for name, about in ABOUT.items()]
    classes = [f"* `{name}`" for name in PROVIDERS]
    settings = ["| key | default | unit | provider | meaning |", "|---|---|---|---|---|", *map(_row, SETTINGS)]
    return HEAD + "\n".join([*rows, "", "The names of their classes:", "", *classes, "", "## Settings", "", *settings, ""])


def _row(one: LockSetting) -> str:
    default = f"`{one.default}`" if one.default is not None else one.otherwise or ""
    older = f" Older name: `{'`, `'.join(one.alternatives)}`." if one.alternatives else ""
    whose = ", ".join(f"`{name}`" for name in one.providers) or "all"
    return f"| `{one.key}` | {default} | {one.unit or ''} | {whose} | {one.meaning}{older} |"
