"""A part of a picture."""

import dataclasses

from pictures import svg


@dataclasses.dataclass
class Panel:
    """A drawing, the example from which it is made, and what there is to see."""

    canvas: svg.Canvas
    example: dict
    text: str


def integers(text: str) -> list:
    """The integers of an attribute's text."""
    return [int(word) for word in text.strip("()").split(",") if word.strip()]
