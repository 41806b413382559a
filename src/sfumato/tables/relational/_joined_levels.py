"""Which level every attribute of several joined tables is published at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding.coded_table import CodedColumn, encode_table
from sfumato.errors import UnsupportedModelError
from sfumato.tables.algorithms.full_domain._lattice import LevelMap
from sfumato.tables.algorithms.full_domain._losses import leaf_costs
from sfumato.tables.models._conjunction import find_valid_groups
from sfumato.tables.models.base import GroupModel
from sfumato.tables.relational.audit import count_individuals, sensitive_columns, sign_individuals
from sfumato.tables.relational.relation import LinkedTable

Mask = npt.NDArray[np.bool_]
Levels = tuple[int, ...]
MOST_NODES = 100_000


@dataclass(frozen=True, eq=False)
class ChosenLevels:
    """The level of every attribute, who is kept, and what it loses."""

    levels: Levels
    kept: Mask
    loss: float


class JoinedLevels:
    """All combinations of levels of the quasi-identifiers of joined tables.

    Parameters
    ----------
    linked : the tables; that of the persons first.
    models : the promises.
    limit : how many persons may be suppressed.
    """

    def __init__(self, linked: Sequence[LinkedTable], models: Sequence[GroupModel], limit: int) -> None:
        self.linked, self.models = linked, models
        self.persons = linked[0].table.num_rows
        self.limit = min(limit, self.persons - 1)
        self.smallest_group = max(model.min_group_size for model in models)
        self.columns: list[CodedColumn] = []
        self.table_of: list[int] = []
        for place, each in enumerate(linked):
            quasi = encode_table(each.table, each.schema).quasi
            self.columns += quasi
            self.table_of += [place] * len(quasi)
        self.ladders = [LevelMap.of(column.domain) for column in self.columns]
        self.costs = [leaf_costs(ladder) for ladder in self.ladders]
        self.sensitive = sensitive_columns(linked[0].table, linked[0].schema, models)
        self.shape = tuple(ladder.height + 1 for ladder in self.ladders)
        self._coded, self._lost_alone = cache(self._coded_rows), cache(self._below_k_alone)
        if prod(self.shape) > MOST_NODES:
            raise UnsupportedModelError(
                f"anonymize_relations accepts at most {MOST_NODES:,} combinations of levels, but there are "
                f"{prod(self.shape):,}; give hierarchies with fewer levels, or fewer quasi-identifiers."
            )

    def search(self) -> ChosenLevels | None:
        """Find the solution that loses least: go through all nodes by what generalization alone loses.

        Suppression only adds to that, because no cell costs more than one that is suppressed. So nothing better is left
        once a node's generalization loses as much as the best solution.
        """
        best: ChosenLevels | None = None
        bounds = self._bounds()
        for node in np.argsort(bounds, kind="stable").tolist():
            if best is not None and bounds[node] >= best.loss:
                break
            levels = tuple(int(level) for level in np.unravel_index(node, self.shape))
            if any(self._lost_alone(place, self._of(place, levels)) > self.limit for place in range(len(self.linked))):
                continue
            kept = self.published_individuals(levels)
            if int((~kept).sum()) <= self.limit and (loss := self.loss(levels, kept)) < (best.loss if best else np.inf):
                best = ChosenLevels(levels, kept, loss)
        return best

    def published_individuals(self, levels: Levels) -> Mask:
        """Return which persons are in groups that keep all models."""
        rows = [(each.person, self._coded(at, self._of(at, levels))) for at, each in enumerate(self.linked)]
        group = sign_individuals(self.persons, rows)
        return np.asarray(find_valid_groups(count_individuals(group, self.sensitive), self.models)[group])

    def loss(self, levels: Levels, kept: Mask) -> float:
        """Average the costs of cells over rows and then over attributes; those of suppressed persons count 1."""
        lost = []
        for column, costs, level, place in zip(self.columns, self.costs, levels, self.table_of, strict=True):
            shown = kept[self.linked[place].person]
            lost.append(float(np.where(shown, costs[level][column.codes], 1.0).mean()))
        return sum(lost) / max(len(lost), 1)

    def texts(self, place: int, levels: Levels) -> dict[str, pa.Array]:
        """Return what the rows of a table show of attributes that are generalized."""
        shown = {}
        for column, ladder, level, table in zip(self.columns, self.ladders, levels, self.table_of, strict=True):
            if table == place and level:
                labels = pa.array([label.text for label in ladder.labels(level)], pa.string())
                shown[column.name] = labels.take(pa.array(ladder.levels[level][column.codes]))
        return shown

    def named(self, levels: Levels) -> dict[str, Mapping[str, int]]:
        """Return levels by table and column."""
        return {
            each.name: {
                column.name: level
                for column, level, table in zip(self.columns, levels, self.table_of, strict=True)
                if table == place
            }
            for place, each in enumerate(self.linked)
        }

    def _bounds(self) -> npt.NDArray[np.float64]:
        """Return for every node, in the order of `shape`, what generalizing all rows loses."""
        means = [
            np.array([float(cost[column.codes].mean()) for cost in costs]) / len(self.columns)
            for column, costs in zip(self.columns, self.costs, strict=True)
        ]
        return np.asarray(reduce(np.add.outer, means, np.zeros(())).ravel())

    def _of(self, place: int, levels: Levels) -> Levels:
        return tuple(level for level, table in zip(levels, self.table_of, strict=True) if table == place)

    def _coded_rows(self, place: int, levels: Levels) -> npt.NDArray[np.integer]:
        """Give the rows of a table numbers by what they show at the levels of its attributes."""
        own = [at for at, table in enumerate(self.table_of) if table == place]
        if not own:
            return np.zeros(self.linked[place].table.num_rows, dtype=np.int32)
        nodes = [self.ladders[at].levels[level][self.columns[at].codes] for at, level in zip(own, levels, strict=True)]
        return group_columns(
            nodes, [self.ladders[at].widths[level] for at, level in zip(own, levels, strict=True)]
        ).labels

    def _below_k_alone(self, place: int, levels: Levels) -> int:
        """Count persons whom one table alone tells apart from too many, whatever the others tell."""
        group = sign_individuals(self.persons, [(self.linked[place].person, self._coded(place, levels))])
        sizes = np.bincount(group)
        return int(sizes[sizes < self.smallest_group].sum())
