"""Draws the rooms into docs/explanation/the-house.md from the contract of layers; tests compare the two."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "the-house.md"
BEGIN = "<!-- picture: written by python scripts/house_picture.py -->\n"
END = "<!-- end of picture -->\n"
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)

WAY = ("table", "schema", "hierarchies", "models", "algorithms", "release", "judging", "reporting")
SISTERS = (
    "collecting",
    "condensing",
    "mining",
    "masking",
    "queries",
    "fusing",
    "relating",
    "baskets",
    "networks",
    "places",
)
WIDTH, FLOOR, GAP, LEFT, EAVES = 760, 36, 6, 70, 56
BLUE, GREEN = "#3584c8", "#459a4a"
MOST_WITH_WORDS = 2  # rooms on one floor, for more than a name to fit into each


def main() -> None:
    """Put the picture into the page."""
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Give the page as it must be."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    left = {room: leaves.replace("`", "") for _, room, _, _, leaves in ROW.findall(after)}
    return f"{before}{BEGIN}{drawn(floors(), left)}\n{END}{after}"


def floors() -> list[list[str]]:
    """Read the rooms of every floor from the contract, from the roof to the ground."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[room.strip().removeprefix("sfumato.") for room in layer.split("|")] for layer in layers]


def drawn(house: Sequence[Sequence[str]], leaves: Mapping[str, str]) -> str:
    """Draw a roof and the floors under it; colors and letters follow the page, light or dark."""
    parts = ['<figure class="picture">', *frame(house)]
    for place, rooms in enumerate(house):
        y = EAVES + GAP + place * (FLOOR + GAP)
        number = len(house) - 1 - place
        parts.append(words(LEFT - 18, y + 23, str(number), anchor="end", share=0.6))
        parts += boxes(rooms, y, leaves)
    return "\n".join([*parts, "</svg>", "</figure>"])


def frame(house: Sequence[Sequence[str]]) -> Iterator[str]:
    """Draw what is around the rooms: the roof, what the colors mean, and which way imports go."""
    height = EAVES + len(house) * (FLOOR + GAP) + GAP
    middle = (LEFT + WIDTH) / 2
    said = "; ".join(", ".join(floor) for floor in house)
    blue, green = (f'<tspan fill="{ink}">&#9632;</tspan>' for ink in (BLUE, GREEN))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-size="13">'
    yield f"<title>The rooms of Sfumato</title><desc>{said}: a room uses the floors below it.</desc>"
    yield stroke(f"M{LEFT - 14} {EAVES} L{middle} 8 L{WIDTH} {EAVES} Z", share=0.06)
    yield words(middle, EAVES - 14, f"{blue} the way of a release &#160; {green} the sisters", anchor="middle")
    yield stroke(f"M14 {EAVES + 36} V{height - 14} m-6 -10 l6 10 l6 -10", share=0)
    yield words(0, EAVES + 28, "uses")


def words(x: float, y: float, text: str, *, anchor: str = "start", share: float = 1) -> str:
    """Write a line in the color of the page."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" fill-opacity="{share}">{text}</text>'


def stroke(path: str, *, share: float) -> str:
    """Draw a line in the color of the page."""
    return f'<path d="{path}" fill="currentColor" fill-opacity="{share}" stroke="currentColor" stroke-opacity="0.5"/>'


def boxes(rooms: Sequence[str], y: float, leaves: Mapping[str, str]) -> Iterator[str]:
    """Draw the rooms of one floor side by side, and write what leaves them where there is room for it."""
    width = (WIDTH - LEFT - GAP * (len(rooms) - 1)) / len(rooms)
    for at, room in enumerate(rooms):
        x = LEFT + at * (width + GAP) - 7
        ink = BLUE if room in WAY else GREEN if room in SISTERS else "currentColor"
        share, edge = (0.05, 0.35) if ink == "currentColor" else (0.2, 1)
        name = f"{WAY.index(room) + 1}. {room}" if room in WAY else room
        more = f" &#8594; {escape(leaves.get(room, ''))}" if len(rooms) <= MOST_WITH_WORDS else ""
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{FLOOR}" rx="3" fill="{ink}" '
            f'fill-opacity="{share}" stroke="{ink}" stroke-opacity="{edge}"/>'
        )
        yield words(x + 10, y + 23, f'<tspan font-weight="600">{name}</tspan><tspan font-size="12">{more}</tspan>')


if __name__ == "__main__":
    main()
