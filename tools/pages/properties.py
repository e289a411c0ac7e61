"""`docs/properties.md`: every key of a table's properties, from the table in `hudi_reference.layout.property_table`."""

from hudi_reference.layout.merge_config import MERGE_CONFIGURATION, MODE_OF_PAYLOAD, MODE_OF_STRATEGY, PAYLOAD_STRATEGY
from hudi_reference.layout.property_table import KEY_GENERATORS, PROPERTIES, Property

HEAD = """\
# Properties of a table

Every key of `.hoodie/hoodie.properties`. This page is written by `python -m tools.pages`.

The file has the syntax of java.util.Properties. Its checksum is the CRC-32 of `<database>.<table name>` and covers
nothing else: it detects a truncated file, not a changed property. Keys that are not listed here are kept unchanged.

* *since*: the first release that knows the key; *to*: the release that deprecated it.
* *in a table of version 8*: which tables have the key. *data tables* are all except metadata tables; *where given*: if the
  table was created with it; *where it differs*: if the value is not the default; *where there is one*: if the table has what
  the key names; *older tables*: if an older release created them.

| key | default | values | since | in a table of version 8 | meaning |
|---|---|---|---|---|---|
"""


def properties_page() -> str:
    """The page's text."""
    return HEAD + "".join(map(_row, PROPERTIES)) + _merging() + _generators()


def _row(one: Property) -> str:
    default = "**mandatory**" if one.mandatory else f"`{one.default}`" if one.default else one.inferred or "none"
    values = ", ".join(f"`{value}`" for value in one.values or ()) if len(one.values or ()) < 8 else "see below"
    values += ", in any case" if one.any_case else ""
    since = " ".join(filter(None, (one.since, f"(to {one.deprecated})" if one.deprecated else "")))
    where = f"not before version {one.version}" if one.version else one.stored
    older = f" Older name: `{'`, `'.join(one.alternatives)}`." if one.alternatives else ""
    return f"| `{one.key}` | {default} | {values} | {since} | {where} | {one.meaning}{older} |\n"


def _merging() -> str:
    lines = ["", "## How merging is inferred", "", "| mode | strategy id | payload class |", "|---|---|---|"]
    lines += [f"| `{mode}` | `{strategy}` | `{payload}` |" for mode, (strategy, payload) in MERGE_CONFIGURATION.items()]
    lines += [f"| `CUSTOM` | any other; `{PAYLOAD_STRATEGY}` where only a class is given | any other |", ""]
    lines += [
        "In a table of version 8 the mode follows from the strategy id if it is known; then from the payload class; then from",
        "the stored mode; then from whether the table has an ordering field. In a table of version 9 the stored mode is",
        "mandatory and decides alone ([merging.md](merging.md#tables-of-version-9)).",
    ]
    lines += ["", "Properties that contradict this are refused. Classes that imply a mode:", ""]
    lines += [f"* `{payload}`: `{mode}`" for payload, mode in MODE_OF_PAYLOAD.items()]
    lines += ["", f"Strategies that imply a mode: {', '.join(f'`{one}`' for one in MODE_OF_STRATEGY)}.", ""]
    return "\n".join(lines)


def _generators() -> str:
    lines = ["", "## Key generator types", "", "| type | class |", "|---|---|"]
    lines += [f"| `{kind}` | {f'`{name}`' if name else 'the stored class'} |" for kind, name in KEY_GENERATORS.items()]
    return "\n".join(lines) + "\n"
