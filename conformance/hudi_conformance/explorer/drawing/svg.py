"""Elements of the SVG of a run: vertical lines for processes, arrows for requests, in colours for light and dark pages."""

from collections.abc import Iterator, Mapping
from html import escape

#: Top of the lines, and the distance of two requests, in pixels.
TOP, HEIGHT = 46, 22
_STYLE = """
.run { --ink: #1d2430; --soft: #5b6573; --line: #cfccc3; --held: #ece7fb;
  --change: #24508f; --lock: #6b4fb3; --fault: #c02b2b; }
@media (prefers-color-scheme: dark) {
  .run { --ink: #e6e9ee; --soft: #a2acba; --line: #3c4756; --held: #342e4d;
    --change: #8db8f5; --lock: #b9a3f5; --fault: #ff8a80; }
}
.run text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); }
.run .name { font-weight: 600; font-size: 13px; } .run .soft { fill: var(--soft); }
.run .life { stroke: var(--line); } .run .held { fill: var(--held); }
.run .look { stroke: var(--line); fill: var(--soft); } .run .change { stroke: var(--change); fill: var(--change); }
.run .lock { stroke: var(--lock); fill: var(--lock); } .run .fault { stroke: var(--fault); fill: var(--fault); }
.run text.look, .run text.change, .run text.lock, .run text.fault { stroke: none; }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#fbfaf7, #14181f); color: light-dark(#1d2430, #e6e9ee); }}
figure {{ margin: 0; }} figcaption {{ font-weight: 600; margin-bottom: 1rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .88rem; }} dd {{ margin: 0; }}
</style></head><body>{body}</body></html>
"""


def svg_document(width: int, height: int, label: str, parts: list[str]) -> str:
    """The whole SVG; `label` is its text for screen readers."""
    return (
        f'<svg class="run" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label)}"><style>{_STYLE}</style>{"".join(parts)}</svg>\n'
    )


def draw_lifelines(at: Mapping[str, int], height: int) -> Iterator[str]:
    """A vertical line for each participant, by name and x coordinate."""
    for name, x in at.items():
        yield f'<line class="life" x1="{x}" y1="{TOP - 14}" x2="{x}" y2="{height - 20}"/>'
        yield text_element(x - 4, TOP - 22, name, "name")


def draw_arrow(start: int, end: int, y: int, what: str, kind: str) -> Iterator[str]:
    """The arrow of a request, dashed for a read."""
    dashes = ' stroke-dasharray="3 3"' if kind == "look" else ""
    yield f'<g class="{kind}"><line x1="{start}" y1="{y}" x2="{end}" y2="{y}"{dashes}/>'
    yield f'<path d="M{end} {y} l-6 -3 v6 z"/></g>'
    yield text_element(start + 6, y - 4, what, kind)


def text_element(x: int, y: int, content: str, kind: str) -> str:
    """A text element."""
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(content)}</text>'


def html_figure(title: str, drawn: str, meanings: Mapping[str, str]) -> str:
    """The SVG as a part of a page, with a legend."""
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>" for name, meaning in meanings.items())
    return (
        f'<figure class="run-of-steps"><figcaption>{escape(title)}</figcaption>'
        f'<div style="overflow-x: auto">{drawn}</div><dl class="legend">{terms}</dl></figure>\n'
    )


def html_page(title: str, body: str) -> str:
    """A whole page around it."""
    return _PAGE.format(title=escape(title), body=body)
