"""A drawing that grows with what is drawn on it, as SVG that takes its colors from the page."""

import html

MARGIN = 4
LETTER = 8.4  # the width of a digit or a capital letter, at most
WIDER = {"name": 1.15, "sign": 1.4}  # the styles that are bold or large


def number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def width_of(text: str) -> float:
    return sum(4.5 if c in " .,:()" else 7.4 if c.islower() else LETTER for c in text)


class Canvas:
    """Shapes with a class each, which the style sheet of the site colors."""

    def __init__(self):
        self.items = []
        self.left = self.top = float("inf")
        self.right = self.bottom = float("-inf")

    def _grow(self, *points):
        for x, y in points:
            self.left, self.right = min(self.left, x), max(self.right, x)
            self.top, self.bottom = min(self.top, y), max(self.bottom, y)

    def _add(self, tag: str, style: str, **attributes):
        given = "".join(f' {key}="{number(v) if isinstance(v, (int, float)) else v}"'
                        for key, v in attributes.items())  # fmt: skip
        self.items.append(f'<{tag} class="{style}"{given}/>')

    def box(self, x, y, width, height, style: str):
        self._grow((x, y), (x + width, y + height))
        self._add("rect", style, x=x, y=y, width=width, height=height)

    def line(self, x1, y1, x2, y2, style: str):
        self._grow((x1, y1), (x2, y2))
        self._add("line", style, x1=x1, y1=y1, x2=x2, y2=y2)

    def dot(self, x, y, radius, style: str):
        self._grow((x - radius, y - radius), (x + radius, y + radius))
        self._add("circle", style, cx=x, cy=y, r=radius)

    def polygon(self, points: list, style: str):
        self._grow(*points)
        listed = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._add("polygon", style, points=listed)

    def arrow(self, x1, y1, x2, y2, style: str = "arrow"):
        """A line with a head at its second end."""
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        base = (x2 - 7 * dx, y2 - 7 * dy)
        self.line(x1, y1, *base, style)
        self.polygon([(x2, y2), (base[0] - 4 * dy, base[1] + 4 * dx),
                      (base[0] + 4 * dy, base[1] - 4 * dx)], f"{style} head")  # fmt: skip

    def text(self, x, y, words: str, style: str = "", anchor: str = "middle"):
        """A line of text whose middle is at height y."""
        width = width_of(words) * WIDER.get(style.partition(" ")[0], 1)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        self._grow((left, y - 9), (left + width, y + 9))
        self.items.append(f'<text class="{style}" x="{number(x)}" y="{number(y)}" '
                          f'text-anchor="{anchor}">{html.escape(words)}</text>')  # fmt: skip

    def svg(self, name: str, title: str, description: str) -> str:
        """The drawing; name makes the ids of title and description."""
        x, y = self.left - MARGIN, self.top - MARGIN
        width, height = self.right - self.left + 2 * MARGIN, self.bottom - self.top + 2 * MARGIN
        box = " ".join(map(number, (x, y, width, height)))
        head = (f'<svg role="img" aria-labelledby="{name}-title {name}-text" viewBox="{box}" '
                f'width="{number(width)}" height="{number(height)}">')  # fmt: skip
        told = (f'<title id="{name}-title">{html.escape(title)}</title>'
                f'<desc id="{name}-text">{html.escape(description)}</desc>')  # fmt: skip
        return "\n".join([head, told, *self.items, "</svg>"])
