"""Maps and curves for the report, drawn by ourselves: no map of a server is asked for, and no person's way is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.places.trajectories import Trajectories
from sfumato.reporting.drawing import AFTER, BEFORE_EDGE, FAINT, INK, QUIET, bar, dot, line, path, picture, words

SIDE = 40  # squares along the longer side of a map
WIDTH = 340.0
MARGIN = 26.0
SHADES = 12
CURVE = 200.0


def density_maps(original: Trajectories, published: Trajectories) -> tuple[str, str]:
    """Draw how many points are in every square, before and after."""
    counts = [_counts(ways, original) for ways in (original, published)]
    most = max(float((each / max(each.sum(), 1)).max()) for each in counts)
    titles = ("Where points are in the original", "Where points are in what is published")
    drawn = [_map(each, most, title) for each, title in zip(counts, titles, strict=True)]
    return drawn[0], drawn[1]


def _counts(ways: Trajectories, frame: Trajectories) -> npt.NDArray[np.int64]:
    area = frame.area
    square = max(area.width, area.height) / SIDE
    x, y = area.to_plane(ways.points.longitudes, ways.points.latitudes)
    columns, rows = (max(1, int(np.ceil(side / square))) for side in (area.width, area.height))
    across = np.clip((x // square).astype(np.int64), 0, columns - 1)
    along = np.clip((y // square).astype(np.int64), 0, rows - 1)
    return np.bincount(along * columns + across, minlength=columns * rows).reshape(rows, columns)


def _map(counts: npt.NDArray[np.int64], most: float, title: str) -> str:
    """Shade squares by the root of their share, so that seldom visited ones are seen, too."""
    rows, columns = counts.shape
    size = WIDTH / max(rows, columns)
    shares = counts / max(counts.sum(), 1)
    shapes = [bar(0, MARGIN, columns * size, rows * size, fill="#ffffff", edge=FAINT), words(0, 16, title, ink=INK)]
    for row, column in zip(*np.nonzero(counts), strict=True):
        shade = int(np.ceil(SHADES * np.sqrt(shares[row, column] / most))) / SHADES
        top = MARGIN + (rows - 1 - row) * size
        shapes.append(bar(column * size, top, size, size, fill=_shade(shade)))
    told = f"{int((counts > 0).sum())} of {counts.size} squares hold points."
    return picture(columns * size, MARGIN + rows * size + 2, title=title, description=told, shapes=shapes)


def _shade(share: float) -> str:
    """Return a blue between nearly white and the color of what is published."""
    light, dark = (226, 236, 246), tuple(int(AFTER[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in zip(light, dark, strict=True))


def unicity_curve(shares: Mapping[str, Sequence[float]]) -> str:
    """Draw the share of persons who are alone with one, two, ... known points."""
    left, top, width = 40.0, 22.0, 300.0
    shapes = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + CURVE * (1 - share)
        shapes += [line(left, y, left + width, y), words(left - 6, y + 4, f"{share:g}", ink=QUIET, anchor="end")]
    count = max(len(each) for each in shares.values())
    step = width / max(count - 1, 1)
    shapes += [
        words(left + step * at, top + CURVE + 18, str(at + 1), ink=QUIET, anchor="middle") for at in range(count)
    ]
    shapes.append(words(left + width / 2, top + CURVE + 36, "known points", ink=QUIET, anchor="middle"))
    for (name, each), ink in zip(shares.items(), (BEFORE_EDGE, AFTER), strict=False):
        places = [(left + step * at, top + CURVE * (1 - share)) for at, share in enumerate(each)]
        shapes += [path(places, ink=ink, width=2), *(dot(x, y, 4, fill=ink, edge="#ffffff") for x, y in places)]
        shapes.append(words(left + width + 8, places[-1][1] + (4 if ink == AFTER else -6), name, ink=ink))
    told = "; ".join(f"{name}: {', '.join(f'{share:.2f}' for share in each)}" for name, each in shares.items())
    return picture(left + width + 90, top + CURVE + 46, title="Unicity", description=told, shapes=shapes)
