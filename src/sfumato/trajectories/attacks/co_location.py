"""Who knows whom: persons who are often at the same places at the same time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_finite_number, require
from sfumato.core.attack import INFERENCE, AttackResult
from sfumato.errors import InfeasibleError
from sfumato.trajectories._spatiotemporal import SECOND, label_pairs, spatial_cells
from sfumato.trajectories.trajectories import Trajectories

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MAX_CO_LOCATIONS = 50_000_000
MAX_PLACES = 3  # from which on it does not matter at how many places somebody met


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CoLocations:
    """Pairs of persons who were at one place at one time.

    Parameters
    ----------
    pairs : a row of two persons, the smaller number first.
    places : at how many different places each pair met.
    rarity : the sum over these places of -ln of the share of persons who were ever seen there.
    """

    pairs: Integers
    places: Integers
    rarity: Floats

    def score(self, pairs: Integers) -> tuple[Integers, Floats]:
        """Return places and rarity of some pairs; 0 for those who never met."""
        width = int(max(self.pairs.max(initial=0), pairs.max(initial=0))) + 1
        known = self.pairs[:, 0] * width + self.pairs[:, 1]
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        asked = low * width + high
        at = np.minimum(np.searchsorted(known, asked), max(len(known) - 1, 0))
        met = np.zeros(len(asked), dtype=np.bool_) if not len(known) else known[at] == asked
        if not len(known):
            return np.zeros(len(asked), dtype=np.int64), np.zeros(len(asked))
        return np.where(met, self.places[at], 0), np.where(met, self.rarity[at], 0.0)


def find_co_locations(ways: Trajectories, *, meters: float = 200.0, seconds: float = 3600.0) -> CoLocations:
    """Find who was in one cell within one bin of time, and at how many different cells.

    Parameters
    ----------
    ways : the trajectories.
    meters, seconds : the side of a cell and the length of a bin of time.
    """
    for name, value in (("meters", meters), ("seconds", seconds)):
        require(is_finite_number(value) and value > 0, "find_meetings", name, "a number above 0", value)
    cell, person = spatial_cells(ways, meters), ways.points.individual
    bins = ways.points.times // int(seconds * SECOND)
    event = label_pairs(cell, bins - bins.min())
    persons, cells = int(person.max()) + 1, int(cell.max()) + 1
    there = np.unique(event * persons + person)
    events, who = np.divmod(there, persons)
    of_event = np.zeros(int(events.max()) + 1, dtype=np.int64)
    of_event[event] = cell
    first, second, where = _event_pairs(events, who, of_event)
    met = np.unique((first * persons + second) * cells + where)
    pair, place = np.divmod(met, cells)
    seen = np.bincount(np.unique(cell * persons + person) // persons, minlength=cells) / len(np.unique(person))
    keys, starts = np.unique(pair, return_index=True)
    rare = -np.log(seen[place])
    return CoLocations(
        pairs=np.column_stack(np.divmod(keys, persons)),
        places=np.diff(np.append(starts, len(pair))),
        rarity=np.add.reduceat(rare, starts) if len(pair) else np.zeros(0),
    )


def _event_pairs(events: Integers, who: Integers, cell: Integers) -> tuple[Integers, Integers, Integers]:
    """Return all pairs of persons of every event, with its cell."""
    sizes = np.bincount(events)
    if int((sizes * (sizes - 1) // 2).sum()) > MAX_CO_LOCATIONS:
        raise InfeasibleError("Too many persons meet at once to list all pairs; use smaller cells or shorter times.")
    first, second, where = [], [], []
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 1]):
        of_size = np.flatnonzero(sizes == size)
        members = who[starts[of_size][:, None] + np.arange(size)]
        a, b = np.triu_indices(int(size), 1)
        first.append(members[:, a].ravel())
        second.append(members[:, b].ravel())
        where.append(np.repeat(cell[of_size], len(a)))
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *first]), np.concatenate([nothing, *second]), np.concatenate([nothing, *where])


def infer_friends(
    ways: Trajectories, friends: Integers, *, meters: float = 200.0, seconds: float = 3600.0, seed: int | None = None
) -> AttackResult:
    """Infer who knows whom from meetings [1]_.

    Half of the friends, and as many random pairs, tell how much more likely friends meet at so many places; the other
    half of both is tested. A pair is claimed to be friends if that is more likely than not, and to be none otherwise;
    guessing is right half of the time. The control asks the same about pairs of other persons, drawn at random.

    Parameters
    ----------
    ways : the trajectories.
    friends : a row of two persons for every pair who know each other, by their numbers.
    meters, seconds : as for `find_co_locations`.
    seed : repeats the choice of random pairs.

    References
    ----------
    .. [1] Crandall et al., "Inferring social ties from geographic coincidences", PNAS 107(52), 2010.
       https://doi.org/10.1073/pnas.1006155107
    """
    rng = seeded_generator(draw_seed() if seed is None else seed)
    known = np.unique(np.sort(np.asarray(friends, dtype=np.int64), axis=1), axis=0)
    strangers = _sample_non_friends(known, int(ways.points.individual_of.max()) + 1, rng)
    met = find_co_locations(ways, meters=meters, seconds=seconds)
    sides = [pairs[rng.permutation(len(pairs))] for pairs in (known, strangers)]
    halves = [np.split(pairs, [len(pairs) // 2]) for pairs in sides]
    fitted = [_places(met, pairs[0]) for pairs in halves]
    chances = [(np.bincount(places, minlength=MAX_PLACES + 1) + 1) / (len(places) + 4) for places in fitted]
    likely = chances[0] > chances[1]
    someone = rng.permutation(int(ways.points.individual_of.max()) + 1)
    claimed = [likely[_places(met, pairs[1])] for pairs in halves]
    controls = [likely[_places(met, someone[pairs[1]])] for pairs in halves]
    tested = len(claimed[0]) + len(claimed[1])
    return AttackResult(
        attack="who-knows-whom",
        question=INFERENCE,
        targets=max(tested, 1),
        claims=tested,
        successes=int(claimed[0].sum() + (~claimed[1]).sum()),
        baseline=0.5,
        control_targets=tested,
        control_successes=int(controls[0].sum() + (~controls[1]).sum()),
        details={
            "friends found": float(claimed[0].mean()) if len(claimed[0]) else 0.0,
            "strangers taken for friends": float(claimed[1].mean()) if len(claimed[1]) else 0.0,
        },
    )


def _places(met: CoLocations, pairs: Integers) -> Integers:
    """Return at how many places pairs met; many are all alike."""
    return np.minimum(met.score(pairs)[0], MAX_PLACES)


def _sample_non_friends(friends: Integers, persons: int, rng: np.random.Generator) -> Integers:
    """Draw as many pairs who do not know each other."""
    known = set(map(tuple, friends.tolist()))
    found: set[tuple[int, int]] = set()
    for a, b in np.sort(rng.integers(0, persons, (20 * len(friends) + 20, 2)), axis=1).tolist():
        if a != b and (a, b) not in known:
            found.add((a, b))
        if len(found) == len(friends):
            break
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
