"""Made-up movers: persons with homes, work, errands and friends whom they meet, and what sources see of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.trajectories.geometry import Area

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CITY = Area(west=13.2, south=52.4, east=13.6, north=52.6)
MONDAY = 1_767_571_200  # seconds: 2026-01-05, a Monday, in UTC
HOUR, DAY = 3600, 86_400
NIGHT, MORNING, OFFICE, EVENING = 6, 9, 17, 22
WEEKEND = 5
TAKEN = 0.15  # hours beside home and work that somebody spends away
EXPLORED, RETURNED = 0.6, 0.21  # of exploration and preferential return
SPREAD = 0.12  # of homes around the middle of the city, as a share of its sides


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MobilityTraces:
    """Where made-up persons really are, hour by hour, and what is known of them.

    Parameters
    ----------
    x, y : persons by hours, in meters in the plane of the city.
    homes, works : two columns of meters.
    friends : pairs of persons who meet.
    """

    x: Floats
    y: Floats
    homes: Floats
    works: Floats
    friends: Integers

    def observe(self, *, rate: float = 0.5, error: float = 30.0, seed: int = 0) -> pa.Table:
        """Return what a source sees: a share of all hours, at random minutes, with an error in meters."""
        require(is_finite_number(rate) and 0 < rate <= 1, "seen", "rate", "a share above 0", rate)
        rng = seeded_generator(seed)
        person, hour = np.nonzero(rng.random(self.x.shape) < rate)
        moved = rng.normal(0, error, (2, len(person)))
        longitude, latitude = CITY.to_degrees(
            np.clip(self.x[person, hour] + moved[0], 0, CITY.width),
            np.clip(self.y[person, hour] + moved[1], 0, CITY.height),
        )
        seconds = MONDAY + hour * HOUR + rng.integers(0, HOUR, len(person))
        return pa.table(
            {
                "person": person + 1,
                "time": pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC")),
                "longitude": longitude.round(6),
                "latitude": latitude.round(6),
            }
        )


def generate_mobility(persons: int, days: int = 7, *, seed: int = 0) -> MobilityTraces:
    """Make up persons who sleep at home, work on weekdays, run errands and meet friends.

    Errands go to a new place with a chance that falls with the number of places known, and else to a known one, most
    often to those visited most. Everybody has a friend; on some evenings both are at the home of one of them.

    Parameters
    ----------
    persons, days : how many there are, at least 2 and 1; the first day is a Monday.
    seed : the same gives the same persons.
    """
    require(
        is_integer(persons) and persons > 1, "generate_mobility", "persons", "a whole number of at least 2", persons
    )
    require(is_integer(days) and days >= 1, "generate_mobility", "days", "a whole number of at least 1", days)
    rng = seeded_generator(seed)
    sides = np.array([CITY.width, CITY.height])
    homes = np.clip(rng.normal(0.5, SPREAD, (persons, 2)), 0.02, 0.98) * sides
    works = np.clip(rng.normal(0.5, SPREAD / 2, (persons, 2)), 0.02, 0.98) * sides
    order = rng.permutation(persons)
    friends = np.column_stack([order, np.roll(order, 1)])
    places = np.repeat(homes[:, None], 24 * days, axis=1)
    clock, weekday = np.arange(24 * days) % 24, np.arange(24 * days) // 24 % 7
    at_work = (weekday < WEEKEND) & (clock >= MORNING) & (clock < OFFICE)
    places[:, at_work] = works[:, None]
    free = ~at_work & (clock >= NIGHT) & (clock < EVENING)
    _visit_locations(rng, places, free, homes)
    _simulate_meetings(rng, places, friends, homes, np.flatnonzero(clock == EVENING - 2))
    return MobilityTraces(x=places[..., 0], y=places[..., 1], homes=homes, works=works, friends=friends)


def generate_trajectories(persons: int, days: int = 7, *, seed: int = 0) -> pa.Table:
    """Make up points of persons in a city, as `Trajectories` reads them: `generate_mobility` seen by one source."""
    return generate_mobility(persons, days, seed=seed).observe(seed=seed)


def _visit_locations(rng: np.random.Generator, places: Floats, free: npt.NDArray[np.bool_], homes: Floats) -> None:
    """Send persons to new or known places in some of their free hours, hour by hour for all at once."""
    persons = len(homes)
    hours = np.flatnonzero(free)
    known = np.zeros((persons, len(hours) + 1, 2))
    visits = np.zeros((persons, len(hours) + 1))
    count = np.zeros(persons, dtype=np.int64)
    for hour in hours:
        out = np.flatnonzero(rng.random(persons) < TAKEN)
        fresh = (count[out] == 0) | (rng.random(len(out)) < EXPLORED * np.maximum(count[out], 1.0) ** -RETURNED)
        explorers, others = out[fresh], out[~fresh]
        away = rng.exponential(1500, (len(explorers), 1)) * _directions(rng, len(explorers))
        known[explorers, count[explorers]] = np.clip(homes[explorers] + away, 0, (CITY.width, CITY.height))
        chosen = np.empty(len(out), dtype=np.int64)
        chosen[fresh] = count[explorers]
        count[explorers] += 1
        weights = np.cumsum(visits[others], axis=1)
        drawn = rng.random(len(others)) * weights[:, -1] if len(others) else np.zeros(0)
        chosen[~fresh] = (weights < drawn[:, None]).sum(axis=1)
        visits[out, chosen] += 1
        places[out, hour] = known[out, chosen]


def _directions(rng: np.random.Generator, count: int) -> Floats:
    angle = rng.random(count) * 2 * np.pi
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _simulate_meetings(
    rng: np.random.Generator, places: Floats, friends: Integers, homes: Floats, evenings: Integers
) -> None:
    """Put both friends of some pairs at the home of the first, for two hours of an evening."""
    for hour in evenings:
        first, second = friends[rng.random(len(friends)) < TAKEN].T
        free = ~np.isin(second, first)
        for later in (hour, hour + 1):
            places[first, later] = homes[first]
            places[second[free], later] = homes[first[free]]
