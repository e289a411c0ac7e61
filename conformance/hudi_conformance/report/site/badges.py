"""Badges as SVG: the name of an engine's score and its right answers."""

from html import escape

from hudi_conformance.report.matrix import Cell

#: Width of a character of the badge's font, and height and padding of the badge, in pixels.
CHARACTER, HEIGHT, PADDING = 6.6, 20, 8

#: Grounds of the score: all right, three quarters or more right, less; white text has a contrast of 4.5 to 1 on each.
ALL_RIGHT, MOSTLY, LESS, LABEL = "#24693f", "#7a5b00", "#a32626", "#3d4552"


def render_badge(label: str, cell: Cell, engine: str) -> str:
    """The badge `label | passed of asked` of an engine."""
    score = cell.score if cell.asked else "no results"
    left, right = (round(len(text) * CHARACTER) + 2 * PADDING for text in (label, score))
    title = escape(f"{engine}: {label} · {score}")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" aria-label="{title}">
<title>{title}</title>
<rect width="{left + right}" height="{HEIGHT}" rx="3" fill="{_ground(cell)}"/>
<path d="M3 0h{left - 3}v{HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="{LABEL}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left / 2}" y="14" textLength="{left - 2 * PADDING}">{escape(label)}</text>
<text x="{left + right / 2}" y="14" textLength="{right - 2 * PADDING}">{escape(score)}</text>
</g>
</svg>
"""


def _ground(cell: Cell) -> str:
    if cell.all_right:
        return ALL_RIGHT
    return MOSTLY if cell.asked and cell.passed >= 0.75 * cell.asked else LESS
