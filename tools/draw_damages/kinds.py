"""All kinds of damage by name."""

import random

from tools.draw_damages import actions, base_files, entries, files, history, log_files
from tools.draw_damages.drawn import Damage, Drawn, NotPossible

from hudi_reference.storage import MemoryStorage

AT_ONE_PLACE: dict[str, Damage] = {
    one.__name__: one
    for one in (
        files.delete, files.cut, files.exchange, files.overwrite, files.rename, files.duplicate, files.flip, files.damage_file,
        actions.change_action, actions.change_instant, actions.change_properties,
        history.change_history_rows, history.change_manifest,
        base_files.change_rows, base_files.change_columns, base_files.change_footer,
        log_files.change_log_rows, log_files.change_change_rows, log_files.change_deletes, log_files.change_header,
        entries.change_entry,
    )
}  # fmt: skip


def several(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Two or three damages of drawn kinds in one table."""
    found = []
    for _ in range(draw.choice((2, 2, 3))):
        try:
            found.append(AT_ONE_PLACE[draw.choice(sorted(AT_ONE_PLACE))](draw, storage))
        except (ValueError, OSError):  # the file is one that is already damaged
            raise NotPossible from None
    return Drawn("several", "; ".join(f"{one.kind} {one.place}" for one in found), tuple(found))


DAMAGES: dict[str, Damage] = {**AT_ONE_PLACE, "several": several}
