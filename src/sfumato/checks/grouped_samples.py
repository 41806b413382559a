"""Small tables in groups, drawn from fixed seeds, on which laws of models are checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.codes import CodedColumn
from sfumato.coding.domain import Domain
from sfumato.core.groups import Counts, Groups
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.models.base import GroupModel
from sfumato.randomness import seeded_generator
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.scales import Scale

Labels = npt.NDArray[np.intp]
SEEDS = range(4)
GROUPS = 45


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedSample:
    """Records in groups, drawn so that some groups are diverse, some even, some skewed and some small.

    `persons` is the number of people in the population that each record represents, if the model needs one.
    """

    group: Labels
    columns: tuple[CodedColumn, ...]
    missing: MissingPolicy
    rng: np.random.Generator
    persons: Counts | None = None

    def count_groups(self, rows: Labels | slice = slice(None), *, labels: Labels | None = None) -> Groups:
        """Count some of the records, in their groups or in merged groups."""
        columns = [column.take(rows) for column in self.columns]
        group = self.group if labels is None else labels[self.group]
        groups = GROUPS if labels is None else int(labels.max()) + 1
        counted = Groups.from_rows(group[rows], groups, columns, self.missing)
        if self.persons is None:
            return counted
        return replace(counted, population=np.bincount(group[rows], self.persons[rows], groups).astype(np.int64))


def draw_grouped_samples(model: GroupModel, *policies: MissingPolicy, lost: float = 0.15) -> Iterator[GroupedSample]:
    """Draw records that give a model both valid and invalid groups, with some missing values."""
    values = 2 * model.min_group_size + 3
    domain = make_numeric_domain if model.numeric else make_categorical_domain
    for policy in policies:
        for seed in SEEDS:
            rng = seeded_generator(seed)
            sizes = rng.integers(1, 4 * model.min_group_size + 4, GROUPS)
            sizes[::5] = values * rng.integers(1, 3, len(sizes[::5]))
            group = rng.permutation(np.repeat(np.arange(GROUPS), sizes))
            columns = tuple(
                CodedColumn(domain(name, values), _draw_codes(rng, group, values, lost))
                for name in model.sensitive_attributes
            )
            persons = _draw_population_weights(rng, group) if model.needs_population else None
            yield GroupedSample(group=group, columns=columns, missing=policy, rng=rng, persons=persons)


def make_categorical_domain(name: str, values: int) -> Domain:
    """Make a domain with an order and a hierarchy: triples of neighbors, and triples of these."""
    leaves = [f"value {i}" for i in range(values)]
    threes, nines = [f"three {i // 3}" for i in range(values)], [f"nine {i // 9}" for i in range(values)]
    hierarchy = Hierarchy.from_levels(leaves, [leaves, threes, nines], ordered=True)
    return Domain(name, Scale.ORDINAL, pa.array(leaves), hierarchy)


def make_numeric_domain(name: str, values: int) -> Domain:
    """Make a domain of numbers with growing distances: 0, 0.5, 1.5, 3, 5 and so on."""
    steps = np.arange(values)
    return Domain(name, Scale.NUMERIC, pa.array(steps * (steps + 1) / 4))


def _draw_codes(rng: np.random.Generator, group: Labels, values: int, lost: float) -> npt.NDArray[np.unsignedinteger]:
    codes = np.empty(len(group), dtype=np.uint16)
    for number in range(GROUPS):
        rows = np.flatnonzero(group == number)
        order = rng.permutation(values)
        if number % 5 == 0:
            codes[rows] = np.resize(order, len(rows))
        elif number % 2:
            codes[rows] = np.resize(order[: rng.integers(1, values + 1)], len(rows))
        else:
            codes[rows] = order[np.minimum(rng.geometric(rng.uniform(0.1, 0.9), len(rows)), values) - 1]
    gone = (rng.random(len(group)) < lost) & (group % 3 > 0)
    codes[gone | ((group == 1) & (lost > 0))] = values
    return codes


def _draw_population_weights(rng: np.random.Generator, group: Labels) -> Counts:
    """Let records represent themselves and others: nobody else in some groups, very many in others."""
    others = np.append(rng.integers(0, 4, GROUPS - GROUPS // 5), rng.integers(10, 40, GROUPS // 5))
    return 1 + rng.poisson(others[group])
