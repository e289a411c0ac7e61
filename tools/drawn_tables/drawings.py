"""The ways to draw a table from a number and a seed, by name."""

from collections.abc import Callable, Mapping

from tools.drawn_tables.changing import draw_changing
from tools.drawn_tables.drawing import Drawn, draw
from tools.drawn_tables.further import draw_further
from tools.drawn_tables.varying import draw_varying
from tools.drawn_tables.wide import draw_wide

DRAWINGS: Mapping[str, Callable[[int, int], Drawn]] = {
    "usual": draw, "wide": draw_wide, "further": draw_further, "changing": draw_changing, "varying": draw_varying,
}  # fmt: skip
