"""Unicity: how many persons are alone with a few of their points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.attacks.results import clopper_pearson
from sfumato.coding.known_points import IndividualPoints
from sfumato.places.cells import discretize_points
from sfumato.places.public_places import PublicCells
from sfumato.places.trajectories import Trajectories
from sfumato.randomness import draw_seed, seeded_generator
from sfumato.validation import is_integer, require


@dataclass(frozen=True, kw_only=True)
class Unicity:
    """The share of persons whom a few known points single out.

    Parameters
    ----------
    share : the mean over persons of the share of their sets of points that nobody else has.
    points, meters, seconds : how many points are known, and how exactly.
    persons : how many persons there are, and `fewer` how many of them have fewer points and give all they have.
    """

    share: float
    points: int
    meters: float
    seconds: float
    persons: int
    fewer: int

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the share over persons; several sets of a person only make it smaller."""
        return clopper_pearson(round(self.share * self.persons), self.persons)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        named = ("share", "points", "meters", "seconds", "persons", "fewer")
        return {**{name: getattr(self, name) for name in named}, "interval": list(self.interval)}

    def __float__(self) -> float:
        return self.share

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"<Unicity of {self.points} points within {self.meters:g} m and {self.seconds:g} s: {self.share:.3g} "
            f"({low:.3g} to {high:.3g}) of {self.persons:,} persons; {self.fewer:,} have fewer points>"
        )


def unicity(
    ways: Trajectories,
    *,
    points: int = 4,
    meters: float = 500.0,
    seconds: float = 3600.0,
    cells: PublicCells | None = None,
    draws: int = 10,
    seed: int | None = None,
) -> Unicity:
    """Find how many persons are alone with a few known points of theirs [1]_.

    Points are made coarse first, then different, then drawn. A person with at most `draws` different sets of points is
    asked all of them, so the result is exact for short ways.

    Parameters
    ----------
    ways : the trajectories.
    points : how many points are known.
    meters, seconds : the side of a cell and the length of a bin of time, as exactly as points are known.
    cells : `Squares` or `Hexagons` of a public area in place of squares of `meters`.
    draws : how many sets of points are drawn of every person.
    seed : repeats the draws, which protect nobody.

    References
    ----------
    .. [1] de Montjoye, Hidalgo, Verleysen, Blondel, "Unique in the crowd", Scientific Reports 3, 2013.
       https://doi.org/10.1038/srep01376

    Examples
    --------
    >>> import pyarrow as pa, sfumato as sf
    >>> table = {"person": [1, 1, 2], "time": ["2026-01-31T08:00Z", "2026-01-31T10:00Z", "2026-01-31T08:00Z"]}
    >>> ways = sf.places.Trajectories(pa.table({**table, "place": ["mall", "park", "mall"]}), place="place")
    >>> sf.places.unicity(ways, points=1).share
    0.25
    """
    for name, value in (("points", points), ("draws", draws)):
        require(is_integer(value) and value >= 1, "unicity", name, "a whole number of at least 1", value)
    known = discretize_points(ways, meters=meters, seconds=seconds, cells=cells)
    different = IndividualPoints.from_pairs(ways.points.individual, known, int(ways.points.individual_of.max()) + 1)
    shares = different.unique_shares(points, draws, seeded_generator(draw_seed() if seed is None else seed))
    return Unicity(
        share=float(shares.mean()),
        points=points,
        meters=meters if cells is None else cells.meters,
        seconds=seconds,
        persons=len(shares),
        fewer=int((different.counts < points).sum()),
    )
