"""Checks of a page in a browser."""

import shutil

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

#: Texts whose contrast with the ground behind them is below 4.5 to 1, computed as WCAG 2 says.
FAINT = """() => {
  const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const luminance = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(v => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ground = e => {
    const colour = getComputedStyle(e).backgroundColor;
    return colour.endsWith(", 0)") ? ground(e.parentElement) : colour;
  };
  const contrast = e => {
    const [bright, dim] = [getComputedStyle(e).color, ground(e)].map(luminance).sort((x, y) => y - x);
    return (bright + .05) / (dim + .05);
  };
  return [...document.querySelectorAll("p, dt, dd, td, th, h1, h2, h3, a, li, small, summary, span, b, label, code")]
    .filter(e => e.checkVisibility() && e.innerText.trim() && !e.children.length && contrast(e) < 4.5)
    .map(e => e.outerHTML);
}"""
