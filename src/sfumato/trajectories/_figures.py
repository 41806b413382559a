"""Maps and curves for the report, drawn by ourselves: no server is asked for maps, and no way is shown unasked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt

from sfumato.report.charts.svg import (
    AFTER,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    QUIET,
    circle,
    draw_line,
    offset_shapes,
    polyline,
    rectangle,
    svg_document,
    text_line,
)
from sfumato.trajectories._space_time_boxes import SpaceTimeBoxes
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.trajectories import Trajectories

Floats = npt.NDArray[np.float64]
SIDE = 40  # squares along the longer side of a map
WIDTH, HIGHEST = 360.0, 420.0
GAP = 40.0  # between two maps
TOP, BELOW = 26.0, 66.0  # above and below a map, for its title, its scale and its legend
SHADES = 12
LEAST = 0.001  # of the darkest square, below which a square stays white
CURVE = 200.0
PAPER = "#ffffff"


@dataclass(frozen=True, kw_only=True)
class _MapCanvas:
    """A map of a part of the plane: where points are drawn, its frame, its scale and where north is.

    Parameters
    ----------
    across, along : its sides, in meters.
    west, south : its corner, in meters.
    """

    across: float
    along: float
    west: float = 0.0
    south: float = 0.0

    @property
    def scale(self) -> float:
        return min(WIDTH / self.across, HIGHEST / self.along)

    @property
    def width(self) -> float:
        return self.across * self.scale

    @property
    def height(self) -> float:
        return self.along * self.scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the plane is drawn."""
        return (x - self.west) * self.scale, TOP + self.height - (y - self.south) * self.scale

    def frame(self, title: str) -> list[str]:
        return [
            rectangle(0.5, TOP, self.width - 1, self.height, fill=PAPER, edge=BEFORE_EDGE),
            text_line(0, 16, title, ink=INK, weight=600),
        ]

    def scale_and_north(self) -> list[str]:
        """Draw a bar of a round length, and an arrow to the north."""
        length = _round_length(self.across / 3)
        y, end = TOP + self.height + 14, length * self.scale
        told = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"  # noqa: PLR2004 - meters in a kilometer
        ticks = [draw_line(x, y - 4, x, y + 4, ink=INK) for x in (0.5, end)]
        x, top = self.width - 14, TOP + 8
        arrow = [(x, top + 26), (x, top), (x - 4, top + 7), (x, top), (x + 4, top + 7)]
        return [
            draw_line(0.5, y, end, y, ink=INK, width=2),
            *ticks,
            text_line(end + 8, y + 4, told, ink=QUIET),
            polyline(arrow, ink=INK, width=1.5),
            text_line(x, top + 40, "N", ink=INK, anchor="middle", halo=True),
        ]

    def drawn(self, title: str, sides: Sequence[tuple[str, str, Sequence[str]]]) -> str:
        """Draw maps beside each other, each with a title, what it shows in words, and its shapes."""
        shapes = [
            (at * (WIDTH + GAP), [*self.frame(each), *drawn, *self.scale_and_north()])
            for at, (each, _, drawn) in enumerate(sides)
        ]
        told = " ".join(f"{each}: {words}" for each, words, _ in sides)
        width = len(sides) * (WIDTH + GAP) - GAP
        return svg_document(
            width, TOP + self.height + BELOW, title=title, description=told, shapes=[offset_shapes(shapes)]
        )


def _round_length(most: float) -> float:
    """Return the longest of 1, 2, 5, 10, 20, ... meters that fits.

    >>> _round_length(730.0), _round_length(4999.0)
    (500.0, 2000.0)
    """
    ten = 10.0 ** floor(log10(most))
    return max(step * ten for step in (1.0, 2.0, 5.0) if step * ten <= most)


def density_maps(original: Trajectories, published: Trajectories | CloakedTrajectories) -> str:
    """Draw the share of points in every square, before and after; regions count everywhere inside alike."""
    area = original.area
    square = max(area.width, area.height) / SIDE
    shape = max(1, ceil(area.width / square)), max(1, ceil(area.height / square))
    sheet = _MapCanvas(across=shape[0] * square, along=shape[1] * square)
    shares = [_boxes(ways, area).grid_density(shape, square) for ways in (original, published)]
    most = max(float(each.max()) for each in shares)
    sides = [
        (title, f"{int((each > 0).sum())} of {each.size} squares hold points.", _squares(sheet, each, most, square))
        for each, title in zip(shares, ("Original", "Published"), strict=True)
    ]
    return sheet.drawn("Where points are", sides)


def _boxes(ways: Trajectories | CloakedTrajectories, area: Area) -> SpaceTimeBoxes:
    if isinstance(ways, CloakedTrajectories):
        return SpaceTimeBoxes.from_cloaked(ways, area)
    return SpaceTimeBoxes.from_points(ways.points, area)


def _squares(sheet: _MapCanvas, shares: Floats, most: float, square: float) -> list[str]:
    """Shade squares by the root of their share, so that seldom visited ones are seen, too."""
    size = square * sheet.scale
    shapes = []
    for column, row in zip(*np.nonzero(shares > most * LEAST), strict=True):
        shade = ceil(SHADES * np.sqrt(shares[column, row] / most)) / SHADES
        x, y = sheet.at(column * square, (row + 1) * square)
        tip = f"{shares[column, row]:.2%} of the points"
        shapes.append(rectangle(x, y, size, size, fill=_color(shade), tip=tip))
    return [*shapes, *_legend(sheet, most, square)]


def _legend(sheet: _MapCanvas, most: float, square: float) -> list[str]:
    """Say which shade is which share of the points."""
    y = TOP + sheet.height + 32
    shapes = [text_line(0, y + 28, f"of the points, in a square of {square:,.0f} m", ink=QUIET, size=11)]
    for at, step in enumerate((0.25, 0.5, 0.75, 1.0)):
        shapes.append(rectangle(72 * at, y, 12, 12, fill=_color(step), edge=FAINT))
        shapes.append(text_line(72 * at + 17, y + 10, f"{most * step**2:.2%}", ink=QUIET, size=11))
    return shapes


def _color(share: float) -> str:
    """Return a blue between nearly white and the color of what is published."""
    light, dark = (226, 236, 246), tuple(int(AFTER[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in zip(light, dark, strict=True))


def trajectory_maps(original: Trajectories, published: Trajectories | CloakedTrajectories, person: int) -> str:
    """Draw the ways of one chosen person, before and after, on the same scale.

    Parameters
    ----------
    original, published : the ways; what is published must know its origin.
    person : the number of the person in the original.
    """
    area = original.area
    origin = published.origin if isinstance(published, CloakedTrajectories) else published.points.origin
    assert origin is not None  # noqa: S101 - a release knows it
    sides = (
        (_boxes(original, area), np.flatnonzero(original.points.individual_of == person)),
        (_boxes_of_each(published, area), np.flatnonzero(original.points.individual_of[origin] == person)),
    )
    boxes = [
        [(ways.low[steps], ways.high[steps]) for way in own for steps in [slice(*ways.offsets[way : way + 2])]]
        for ways, own in sides
    ]
    sheet = _canvas_around([box for side in boxes for box in side])
    drawn = [
        (title, f"{sum(len(low) for low, _ in side):,} steps.", _draw_trajectory(sheet, side, ink))
        for side, title, ink in zip(boxes, ("Original", "Published"), (BEFORE_EDGE, AFTER), strict=True)
    ]
    return sheet.drawn("The chosen way", drawn)


def _boxes_of_each(ways: Trajectories | CloakedTrajectories, area: Area) -> SpaceTimeBoxes:
    """Take every way by itself, also those that are the same as others."""
    if not isinstance(ways, CloakedTrajectories):
        return SpaceTimeBoxes.from_points(ways.points, area)
    west, south, east, north = ways.boxes.T
    begin, end = ways.intervals.T.astype(np.float64)
    low = np.column_stack([*area.to_plane(west, south), begin])
    high = np.column_stack([*area.to_plane(east, north), end])
    return SpaceTimeBoxes(low=low, high=high, offsets=ways.offsets, times=np.ones(len(ways), dtype=np.int64))


def _canvas_around(boxes: Sequence[tuple[Floats, Floats]]) -> _MapCanvas:
    """Return a sheet around steps, with a rim."""
    low = np.min([low[:, :2].min(axis=0) for low, _ in boxes], axis=0)
    high = np.max([high[:, :2].max(axis=0) for _, high in boxes], axis=0)
    sides = np.maximum(high - low, 200.0)
    rim = 0.06 * sides.max()
    middle = (low + high) / 2
    across, along = (float(side + 2 * rim) for side in np.maximum(sides, 0.6 * sides.max()))
    return _MapCanvas(
        west=float(middle[0] - across / 2), south=float(middle[1] - along / 2), across=across, along=along
    )


def _draw_trajectory(sheet: _MapCanvas, ways: Sequence[tuple[Floats, Floats]], ink: str) -> list[str]:
    """Draw steps as points or boxes, with a line through them, and where ways begin and end."""
    shapes, count = [], 0
    for low, high in ways:
        count += len(low)
        middles = [sheet.at(*step) for step in (low[:, :2] + high[:, :2]) / 2]
        shapes += [_draw_step(sheet, *box, ink) for box in zip(low, high, strict=True)]
        shapes.append(polyline(middles, ink=ink, width=1))
        shapes.append(circle(*middles[0], 5, fill=PAPER, edge=LINE, width=2))
        shapes.append(circle(*middles[-1], 5, fill=LINE, edge=PAPER, width=1))
    y = TOP + sheet.height + 38
    return [
        *shapes,
        circle(6, y, 5, fill=PAPER, edge=LINE, width=2),
        text_line(16, y + 4, "begin", ink=QUIET, size=11),
        circle(62, y, 5, fill=LINE, edge=PAPER),
        text_line(72, y + 4, f"end; {count:,} steps", ink=QUIET, size=11),
    ]


def _draw_step(sheet: _MapCanvas, low: Floats, high: Floats, ink: str) -> str:
    x, y = sheet.at(low[0], high[1])
    across, along = (high[:2] - low[:2]) * sheet.scale
    if max(across, along) < 2:  # noqa: PLR2004 - pixels that a point takes
        return circle(x, y, 2, fill=ink, edge="none")
    return rectangle(x, y, across, along, fill="none", edge=ink)


def unicity_curve(shares: Mapping[str, Sequence[float]]) -> str:
    """Draw the share of persons who are alone with one, two, ... known points."""
    left, top, width = 62.0, 30.0, 300.0
    shapes = [text_line(0, 14, "Share of persons who are alone", ink=QUIET)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + CURVE * (1 - share)
        shapes += [
            draw_line(left, y, left + width, y),
            text_line(left - 8, y + 4, f"{share:.0%}", ink=QUIET, anchor="end"),
        ]
    count = max(len(each) for each in shares.values())
    step = width / max(count - 1, 1)
    shapes += [
        text_line(left + step * at, top + CURVE + 18, str(at + 1), ink=QUIET, anchor="middle") for at in range(count)
    ]
    shapes.append(text_line(left + width / 2, top + CURVE + 38, "known points", ink=QUIET, anchor="middle"))
    ends = _separate_labels([top + CURVE * (1 - each[-1]) for each in shares.values()])
    for (name, each), ink, end in zip(shares.items(), (BEFORE_EDGE, AFTER), ends, strict=False):
        places = [(left + step * at, top + CURVE * (1 - share)) for at, share in enumerate(each)]
        shapes += [polyline(places, ink=ink, width=2), *(circle(x, y, 4, fill=ink, edge=PAPER) for x, y in places)]
        shapes.append(text_line(left + width + 10, end + 4, name, ink=ink, weight=600))
    told = "; ".join(f"{name}: {', '.join(f'{share:.2f}' for share in each)}" for name, each in shares.items())
    return svg_document(left + width + 90, top + CURVE + 46, title="Unicity", description=told, shapes=shapes)


def _separate_labels(heights: Sequence[float]) -> list[float]:
    """Move the ends of two curves apart, so that their names do not cover each other."""
    if len(heights) == 1 or abs(heights[0] - heights[1]) >= 16:  # noqa: PLR2004 - a line of text
        return list(heights)
    middle = sum(heights) / 2
    upper = int(heights[1] < heights[0])
    return [middle - 8 if at == upper else middle + 8 for at in (0, 1)]
