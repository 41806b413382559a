"""The attack on a search: what its groups betray to somebody who knows how they are chosen (minimality)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, ignore_progress, open_progress
from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_integer, require
from sfumato.core._kernels.grouping import group_columns
from sfumato.core.attack import clopper_pearson
from sfumato.core.recipe import Recipe
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import encode_distinct
from sfumato.tables._pipeline.apply import in_canonical_order
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms.bucketization._sensitive_cells import flatten_conjunctions
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
N_RUNS = 1_000
CONFIDENCE = 0.999  # the confidence in all lower bounds of beliefs together
MIN_REPETITIONS = 30  # times that a group must come again before its beliefs are said to be known


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MinimalityBeliefs:
    """What somebody believes about a sensitive attribute who knows the search and everybody's quasi-identifiers.

    Arrays have an entry for every row of the original; it is NaN for a suppressed row.

    Parameters
    ----------
    sensitive : the attribute.
    told : the largest share of a value in the row's group, which is what the table says.
    believed : the largest belief in a value, among all that the group may hold in any order and is found again with.
    surely : a lower bound of it; with 99.9% confidence all are right together.
    limit : the largest belief that the promise allows, 1/l of frequency-l-diversity, or else the largest of `told`.
    dealt : how often the values of the row's group were dealt again, and `again` how often the search found it again.
    """

    sensitive: str
    told: Floats
    believed: Floats
    surely: Floats
    limit: float
    dealt: Ints
    again: Ints

    @property
    def exceeding(self) -> int:
        """How many individuals are surely believed to have a value with more than the promise allows."""
        return int(np.count_nonzero(self.surely > self.limit))

    @property
    def undecided(self) -> int:
        """How many individuals are in groups that came again too seldom to tell."""
        return int(np.count_nonzero(~np.isnan(self.told) & (self.again < MIN_REPETITIONS)))

    @property
    def targets(self) -> int:
        """How many individuals are published."""
        return int(np.count_nonzero(~np.isnan(self.told)))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        decided = self.again >= MIN_REPETITIONS
        return {
            "sensitive": self.sensitive,
            "targets": self.targets,
            "exceeding": self.exceeding,
            "undecided": self.undecided,
            "limit": self.limit,
            "largest_belief": float(np.nanmax(self.believed[decided], initial=0.0)),
            "dealt": int(self.dealt[~np.isnan(self.told)].min(initial=np.iinfo(np.int64).max)),
        }

    def __repr__(self) -> str:
        said = self.to_dict()
        return (
            f"<minimality of {self.sensitive!r}: {said['exceeding']:,} of {said['targets']:,} individuals are surely "
            f"believed to have a value with more than {said['limit']:.3g}; the largest belief found is "
            f"{said['largest_belief']:.3g}; "
            f"{said['undecided']:,} undecided, as every group was dealt again at least {said['dealt']:,} times>"
        )


def minimality_attack(
    data: Frame,
    recipe: Recipe,
    *,
    runs: int = N_RUNS,
    unknown: float = 1.0,
    seed: int | None = None,
    progress: Progress | bool = False,
) -> tuple[MinimalityBeliefs, ...]:
    """Attack the search of a recipe as somebody would who knows how it works and everybody's quasi-identifiers.

    A search that does not cut a group, or merges two, because of sensitive values tells something about them (Wong and
    others, Minimality attack in privacy preserving data publishing, VLDB 2007). The sensitive values of every group are
    dealt again in random order among its records, and the search runs again: a group that it finds again may hold its
    values in that order. What is believed of an individual is the share of a value in these orders. All groups are
    dealt anew in every run, so what is counted is what a group tells by itself. The search draws the same random
    numbers every time, as if they were known.

    Parameters
    ----------
    data : the original table (pandas, Polars or Arrow).
    recipe : the recipe of its release, such as `release.recipe`.
    runs : how often to run the search; groups that come again seldom need many.
    unknown : the share of groups whose values she does not know, drawn anew in every run; she knows those of the
        others. Less than 1 makes groups of large tables come again more often.
    seed : a seed makes the orders repeatable.

    Returns
    -------
    The beliefs about every sensitive attribute that a model reads.
    """
    require(is_integer(runs) and runs >= 1, "attack_search", "runs", "a whole number of at least 1", runs)
    require(0 < unknown <= 1, "attack_search", "unknown", "above 0 and at most 1", unknown)
    table, _ = to_arrow(data)
    recipe.schema.check_columns(table.column_names)
    _check_recipe(recipe)
    found = _search(recipe, table)
    assert found is not None  # noqa: S101 - what cannot be kept is refused
    with open_progress(progress, "Searching again") as tell:
        dealt = _ShuffledTables.of(recipe, table, found)
        return tuple(dealt.beliefs(runs, unknown, seeded_generator(draw_seed() if seed is None else seed), tell))


def _check_recipe(recipe: Recipe) -> None:
    """Refuse recipes whose groups are not chosen by sensitive values alone, or cannot be told from the search."""
    if not any(model.sensitive_attributes for model in recipe.models):
        raise SchemaError("No model is about a sensitive attribute, so groups are not chosen by their values.")
    if recipe.algorithm.publishes == "buckets" or recipe.schema.flags or recipe.masking or recipe.block_rows:
        raise SchemaError(
            "Only searches for groups of whole tables can be attacked: no buckets, flagged cells, masking or blocks."
        )


def _search(recipe: Recipe, table: pa.Table) -> TableSolution | None:
    """Search, and put the groups in the order of the rows; None where nothing keeps the promise."""
    order, searched = (None, table) if recipe.algorithm.ignores_row_order else in_canonical_order(table, recipe.schema)
    try:
        found = recipe.algorithm.search(build_request(recipe, searched, ignore_progress))
    except InfeasibleError:
        return None
    if order is None:
        return found
    group = np.empty_like(found.group)
    group[order] = found.group
    return TableSolution(group, found.recoded)


@dataclass(frozen=True, eq=False)
class _ShuffledTables:
    """A table, its groups, and the sensitive values that are dealt again."""

    recipe: Recipe
    table: pa.Table
    group: Ints
    sizes: Ints
    first: Ints
    shown: tuple[npt.NDArray[np.object_], ...]
    codes: Mapping[str, Ints]

    @classmethod
    def of(cls, recipe: Recipe, table: pa.Table, found: TableSolution) -> _ShuffledTables:
        """Give numbers from 0 to the groups in which rows are published."""
        named = {name for model in recipe.models for name in model.sensitive_attributes}
        kept = np.flatnonzero(found.group != NOT_PUBLISHED)
        group = np.full(table.num_rows, NOT_PUBLISHED, dtype=np.int64)
        group[kept] = group_columns([found.group[kept]], [int(found.group.max()) + 1]).labels
        order = kept[np.argsort(group[kept], kind="stable")]
        sizes = np.bincount(group[kept])
        first = order[np.cumsum(sizes) - sizes]
        codes = {}
        for name in recipe.schema.sensitive:
            if name in named:
                distinct, places = encode_distinct(table[name])
                codes[name] = places.fill_null(len(distinct)).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(recipe, table, group, sizes, first, _labels(found, first), codes)

    def beliefs(
        self, runs: int, unknown: float, rng: np.random.Generator, tell: Progress
    ) -> Iterator[MinimalityBeliefs]:
        """Run the search again and again, and count with which values groups are found again."""
        kept = np.flatnonzero(self.group != NOT_PUBLISHED)
        order = kept[np.argsort(self.group[kept], kind="stable")]
        times, again = np.zeros((2, len(self.sizes)), dtype=np.int64)
        some = max(1, round(unknown * len(self.sizes)))
        widths = {name: int(codes.max()) + 1 for name, codes in self.codes.items()}
        counts = {name: np.zeros((self.table.num_rows, width), dtype=np.int64) for name, width in widths.items()}
        for run in range(runs):
            tell(run / runs)
            chosen = np.zeros(len(self.sizes), dtype=np.bool_)
            chosen[rng.permutation(len(self.sizes))[:some]] = True
            mine, dealt = order[chosen[self.group[order]]], np.arange(self.table.num_rows)
            dealt[mine] = mine[np.lexsort((rng.random(len(mine)), self.group[mine]))]
            same = chosen & self._same(_search(self.recipe, self._with(dealt)))
            times += chosen
            again += same
            rows = kept[same[self.group[kept]]]
            for name, codes in self.codes.items():
                counts[name][rows, codes[dealt[rows]]] += 1
        for name, codes in self.codes.items():
            yield self._of(name, codes, counts[name], times, again)

    def _with(self, dealt: Ints) -> pa.Table:
        """Give every row the sensitive values of another of its group."""
        table, places = self.table, pa.array(dealt)
        for name in self.recipe.schema.sensitive:
            table = table.set_column(table.schema.get_field_index(name), name, table[name].take(places))
        return table

    def _same(self, found: TableSolution | None) -> npt.NDArray[np.bool_]:
        """Tell which groups are found again, with the same records and the same labels."""
        if found is None:
            return np.zeros(len(self.sizes), dtype=np.bool_)
        mine = found.group[self.first]
        kept = np.flatnonzero(self.group != NOT_PUBLISHED)
        met = np.bincount(self.group[kept], found.group[kept] == mine[self.group[kept]], minlength=len(self.sizes))
        whole = np.bincount(found.group[found.group != NOT_PUBLISHED], minlength=int(found.group.max()) + 2)
        same = (mine != NOT_PUBLISHED) & (met == self.sizes) & (whole[mine] == self.sizes)
        for known, shown in zip(self.shown, _labels(found, self.first), strict=True):
            same &= known == shown
        return np.asarray(same)

    def _of(self, name: str, codes: Ints, counts: Ints, dealt: Ints, again: Ints) -> MinimalityBeliefs:
        rows, width = self.table.num_rows, counts.shape[1]
        kept = np.flatnonzero(self.group != NOT_PUBLISHED)
        held = np.bincount(self.group[kept] * width + codes[kept], minlength=len(self.sizes) * width)
        share = held.reshape(-1, width).max(axis=1) / self.sizes
        told, believed, surely = np.full(rows, np.nan), np.full(rows, np.nan), np.zeros(rows)
        told[kept] = share[self.group[kept]]
        drawn, times = np.zeros((2, rows), dtype=np.int64)
        drawn[kept], times[kept] = dealt[self.group[kept]], again[self.group[kept]]
        seen = np.flatnonzero(times > 0)
        believed[seen] = counts[seen].max(axis=1) / times[seen]
        promised = [each for each in flatten_conjunctions(self.recipe.models) if isinstance(each, FrequencyLDiversity)]
        limit = min((1 / each.l for each in promised if each.sensitive == name), default=float(np.nanmax(told)))
        claims = max(1, int(np.count_nonzero(counts[seen])))
        for row in seen[believed[seen] > limit].tolist():
            level = 1 - 2 * (1 - CONFIDENCE) / claims
            surely[row] = clopper_pearson(int(counts[row].max()), int(times[row]), level)[0]
        return MinimalityBeliefs(
            sensitive=name, told=told, believed=believed, surely=surely, limit=limit, dealt=drawn, again=times
        )


def _labels(found: TableSolution, rows: Ints) -> tuple[npt.NDArray[np.object_], ...]:
    """Return what is published of some rows, column by column."""
    shown = []
    for each in found.recoded.values():
        texts = np.array([*each.texts.to_pylist(), None], dtype=object)
        place = np.append(each.by_group, len(each.labels))
        shown.append(texts[place[np.minimum(found.group[rows], len(each.by_group))]])
    return tuple(shown)
