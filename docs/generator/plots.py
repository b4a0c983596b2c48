"""Draws plots as SVG inside a page. Colours come from the page, so that a plot follows its theme:
`plot-bar`, `plot-miss`, `plot-mark`, `plot-grid` and `plot-text` of lockstep.css."""

import html

import rst

ROW, BAR, TEXT, LABELS, WIDTH, VALUES = 22, 14, 12, 210, 590, 60


def svg(body: list, width: int, height: int, title: str) -> str:
    """A block of raw HTML with a picture, which a reader without eyes hears as its title."""
    named = html.escape(title, quote=True)
    opening = f'<svg class="plot" role="img" aria-label="{named}" viewBox="0 0 {width} {height}">'
    return rst.block("raw", "html", "\n".join([opening, *body, "</svg>"]))


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return (f'<text class="plot-text" x="{x:g}" y="{y:g}" font-size="{TEXT}" '
            f'text-anchor="{anchor}">{html.escape(words)}</text>')  # fmt: skip


def rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return (f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>')


def bars(title: str, rows: list, most: float, unit: str, line: float) -> str:
    """Horizontal bars, a row each: (name, value, mark or None, missed, shown text). A mark is a
    target; `line` is where a line goes through all rows."""
    room = WIDTH - LABELS - VALUES
    height = ROW * len(rows) + 2 * ROW
    scale = room / most
    body = [text(0, TEXT, unit)]
    at = LABELS + line * scale
    body.append(rect("plot-grid", at, ROW, 1, ROW * len(rows)))
    body.append(text(at, height - ROW + TEXT + 4, f"{line:g}", "middle"))
    for k, (name, value, mark, missed, shown) in enumerate(rows):
        y = ROW * (k + 1)
        body.append(text(LABELS - 8, y + BAR, name, "end"))
        kind = "plot-miss" if missed else "plot-bar"
        body.append(rect(kind, LABELS, y + 4, max(value * scale, 1), BAR))
        if mark is not None:
            body.append(rect("plot-mark", LABELS + mark * scale - 1, y + 2, 2, BAR + 4))
        end = max(value, mark or 0) * scale
        body.append(text(LABELS + end + 6, y + BAR + 1, shown))
    return svg(body, WIDTH, height, title)


def matrix(title: str, columns: list, rows: int) -> str:
    """A square for each (column, row): `columns` holds the rows of each column."""
    drawn = ["".join(f"M{x} {y}h1v1h-1z" for y in column) for x, column in enumerate(columns)]
    body = [rect("plot-frame", 0, 0, len(columns), rows),
            '<path class="plot-bar" d="', *drawn, '"/>']  # fmt: skip
    return svg(body, len(columns), rows, title)
