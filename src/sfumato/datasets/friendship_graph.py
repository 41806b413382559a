"""A made-up network of friends: communities, a few persons with very many friends, and what friends share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.graphs.graph import Graph
from sfumato.schema.schema import Schema

AT_HOME = 0.8  # the share of friends who are of one's own community
TAIL = 2.5  # the exponent of the numbers of friends
CITIES = ("Ulm", "Bonn", "Kiel", "Jena", "Trier", "Worms")
DISEASES = ("none", "asthma", "diabetes", "migraine", "ulcer")
SPREAD = 8.0  # years around the age of a community
YOUNGEST, OLDEST = 16, 95


def generate_friendship_graph(
    persons: int = 1000, *, mean_friends: float = 10.0, communities: int = 20, seed: int = 1
) -> Graph:
    """Make up a network of friends with communities and attributes.

    Numbers of friends follow a power law. Four of five friends are of the same community, whose persons are of similar
    age, mostly live in one city, and more often have the same disease than others. Nobody in it exists.

    Parameters
    ----------
    persons : how many persons, at least 10.
    mean_friends : about how many friends everybody has on average; pairs that were drawn twice count once.
    communities : how many communities.
    seed : of all draws; the same numbers give the same network.

    Examples
    --------
    >>> network = generate_friendship_graph(200, communities=4)
    >>> len(network), network.vertices.column_names
    (200, ['age', 'city', 'disease'])
    """
    owner = "generate_friendship_graph"
    require(is_integer(persons) and persons >= 10, owner, "persons", "at least 10", persons)  # noqa: PLR2004 - as it says
    require(is_finite_number(mean_friends) and mean_friends > 0, owner, "mean_friends", "above 0", mean_friends)
    good = is_integer(communities) and 1 <= communities <= persons
    require(good, owner, "communities", "from 1 to the number of persons", communities)
    rng = seeded_generator(seed)
    home = rng.integers(communities, size=persons)
    edges = _draw_edges(rng, home, int(persons * mean_friends / 2))
    bare = Graph(keys=pa.array(np.arange(persons)), edges=np.zeros((0, 2), dtype=np.int32))
    made = bare.with_edges(edges)
    schema = Schema(quasi_identifiers=["age", "city"], sensitive=["disease"])
    return Graph(keys=made.keys, edges=made.edges, vertices=_draw_attributes(rng, home, communities), schema=schema)


def _draw_edges(rng: np.random.Generator, home: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Draw pairs: one end by its sociability, the other mostly from the same community."""
    persons = len(home)
    social = rng.permutation((np.arange(persons) + 1.0) ** (-1 / (TAIL - 1)))
    order = np.argsort(home, kind="stable")
    sums = np.append(0, np.cumsum(social[order]))
    starts = np.searchsorted(home[order], np.arange(home.max() + 2))
    found = np.zeros((0, 2), dtype=np.int64)
    for _ in range(20):
        missing = count - len(found)
        if missing <= 0:
            break
        one = order[np.minimum(np.searchsorted(sums, rng.random(missing) * sums[-1], side="right") - 1, persons - 1)]
        near = rng.random(missing) < AT_HOME
        low = np.where(near, sums[starts[home[one]]], 0.0)
        high = np.where(near, sums[starts[home[one] + 1]], sums[-1])
        place = np.searchsorted(sums, low + rng.random(missing) * (high - low), side="right") - 1
        other = order[np.minimum(place, persons - 1)]
        pairs = np.sort(np.stack([one, other], axis=1)[one != other], axis=1)
        found = np.unique(np.concatenate([found, pairs]), axis=0)
    return found


def _draw_attributes(rng: np.random.Generator, home: npt.NDArray[np.int64], communities: int) -> pa.Table:
    """Draw attributes around those of the community."""
    persons = len(home)
    middle = rng.uniform(YOUNGEST + SPREAD, OLDEST - 3 * SPREAD, communities)[home]
    ages = np.clip(np.round(rng.normal(middle, SPREAD)), YOUNGEST, OLDEST).astype(np.int64)
    city, own = rng.integers(len(CITIES), size=communities)[home], rng.random(persons)
    cities = np.where(own < AT_HOME, city, rng.integers(len(CITIES), size=persons))
    usual, ill = rng.integers(1, len(DISEASES), size=communities)[home], rng.random(persons)
    some = rng.integers(1, len(DISEASES), size=persons)
    diseases = np.where(ill < 0.7, 0, np.where(ill < 0.85, usual, some))  # noqa: PLR2004 - healthy, usual, others
    return pa.table(
        {
            "age": ages,
            "city": np.array(CITIES)[cities],
            "disease": np.array(DISEASES)[diseases],
        }
    )
