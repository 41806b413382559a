# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every measure obeys.

`check_metric(MyMeasure())` runs them all on your own measure. Each check generalizes small tables from fixed
seeds and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, isfinite

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato.encoding.coded_table import CodedColumn, encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.metrics.base import Metric, MetricInput
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.published_table import PublishedTable
from sfumato.tables.published.solution import SUPPRESSED_TEXT, ValueSet

Rows = npt.NDArray[np.intp]
SEEDS = range(5)
ROWS = 40
TOLERANCE = 1e-9
JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}})
GRADES = OrderedGroups({"low": ["none", "school"], "high": ["degree", "doctor"]})
ZIPS = ("53703", "53706", "53715", "90210", "90211")
COLORS = ("blue", "brown", "green", "grey")
DISEASES = ("asthma", "flu", "ulcer")
SCHEMA = Schema(
    quasi_identifiers=["age", "zip", "job", "grade", "eyes"],
    sensitive=["disease"],
    hierarchies={"age": Intervals(5, 10, 20), "zip": Prefixes(), "job": JOBS, "grade": GRADES},
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MetricSample:
    """Records that can be published at any level of generalization."""

    columns: tuple[CodedColumn, ...]
    disease: CodedColumn
    rng: np.random.Generator

    @property
    def heights(self) -> list[int]:
        """The highest level of every attribute, where all its cells are suppressed."""
        return [2 if c.domain.hierarchy is None else c.domain.hierarchy.height for c in self.columns]

    def read(self, levels: Sequence[int], rows: Rows | slice = slice(None), *, known: bool = True) -> PublishedTable:
        """Publish some of the records at some levels; the original is known or not."""
        texts = {
            column.name: pa.array(_published_texts(column, level), pa.string()).take(pa.array(np.arange(ROWS)[rows]))
            for column, level in zip(self.columns, levels, strict=True)
        }
        domains = {column.name: column.domain for column in self.columns} if known else None
        disease = self.disease.take(np.arange(ROWS)[rows])
        shown = pa.table(texts | {disease.name: disease.domain.values.take(pa.array(disease.codes))})
        return PublishedTable.read(shown, SCHEMA, domains)

    def at_levels(self, levels: Sequence[int], rows: Rows | slice = slice(None), *, known: bool = True) -> MetricInput:
        """Measure some of the records, published at some levels; the others are left out."""
        table, disease = self.read(levels, rows, known=known), self.disease.take(np.arange(ROWS)[rows])
        groups = Groups.from_rows(table.grouped.labels, len(table.grouped), [disease])
        return MetricInput.of(table, ROWS - table.rows if known else 0, groups.histograms)

    def climbs(self) -> Iterator[list[int]]:
        """Go from exact values to full suppression, one attribute and one level at a time."""
        levels = [0] * len(self.columns)
        steps = [j for j, height in enumerate(self.heights) for _ in range(height)]
        yield list(levels)
        for j in self.rng.permutation(steps).tolist():
            levels[j] += 1
            yield list(levels)


def check_metric(measure: Metric) -> None:
    """Run every check on one measure."""
    for check in METRIC_CHECKS:
        check(measure)


def check_metadata(measure: Metric) -> None:
    """A measure states its name and its source."""
    assert measure.name == measure.name.lower().replace(" ", "-")
    assert measure.reference


def check_value_is_a_number(measure: Metric) -> None:
    """A measure is a finite, nonnegative number, whatever is published."""
    for sample in draw_samples():
        for levels in sample.climbs():
            value = measure.compute(sample.at_levels(levels))
            assert isinstance(value, float)
            assert isfinite(value)
            assert value >= 0


def check_coarser_is_never_better(measure: Metric) -> None:
    """Publishing an attribute one level higher never lowers a measure."""
    for sample in draw_samples():
        values = [measure.compute(sample.at_levels(levels)) for levels in sample.climbs()]
        assert all(_is_at_most(finer, coarser) for finer, coarser in pairwise(values))


def check_original_is_best_and_suppression_worst(measure: Metric) -> None:
    """Every release lies between exact values, which are best, and full suppression of all cells, which is worst."""
    for sample in draw_samples():
        best, worst = (measure.compute(sample.at_levels(ends)) for ends in ([0] * len(sample.columns), sample.heights))
        for levels in sample.climbs():
            value = measure.compute(sample.at_levels(levels))
            assert _is_at_most(best, value)
            assert _is_at_most(value, worst)


def check_suppressing_groups_is_never_better(measure: Metric) -> None:
    """Leaving out another group of records never lowers a measure."""
    for sample in draw_samples():
        for levels in sample.climbs():
            grouped = sample.read(levels).grouped
            order = sample.rng.permutation(len(grouped))
            values = [measure.compute(sample.at_levels(levels))]
            for left in range(1, len(order), 1 + len(order) // 4):
                kept = np.flatnonzero(np.isin(grouped.labels, order[left:]))
                values.append(measure.compute(sample.at_levels(levels, kept)))
            assert all(_is_at_most(more, fewer) for more, fewer in pairwise(values))


def check_order_of_rows_is_ignored(measure: Metric) -> None:
    """The order of the rows does not change a measure."""
    for sample in draw_samples():
        for levels in sample.climbs():
            shuffled = sample.at_levels(levels, sample.rng.permutation(ROWS))
            assert isclose(measure.compute(shuffled), measure.compute(sample.at_levels(levels)), rel_tol=TOLERANCE)


def check_original_is_not_needed(measure: Metric) -> None:
    """A table whose original is unknown is measured in the domains that its labels refer to."""
    for sample in draw_samples():
        for levels in sample.climbs():
            value = measure.compute(sample.at_levels(levels, known=False))
            assert isfinite(value)
            assert value >= 0


def check_metric_is_repeatable(measure: Metric) -> None:
    """Measuring the same table twice gives the same number."""
    for sample in draw_samples():
        for levels in sample.climbs():
            measured = sample.at_levels(levels)
            assert measure.compute(measured) == measure.compute(measured)


def check_serialization(measure: Metric) -> None:
    """A measure equals what its pickle restores."""
    copy = pickle.loads(pickle.dumps(measure))  # noqa: S301 - made here
    assert copy == measure
    assert hash(copy) == hash(measure)


METRIC_CHECKS: tuple[Callable[[Metric], None], ...] = (
    check_metadata,
    check_value_is_a_number,
    check_coarser_is_never_better,
    check_original_is_best_and_suppression_worst,
    check_suppressing_groups_is_never_better,
    check_order_of_rows_is_ignored,
    check_original_is_not_needed,
    check_metric_is_repeatable,
    check_serialization,
)


def draw_samples() -> Iterator[MetricSample]:
    """Draw records of all scales, in some samples with missing values."""
    for seed in SEEDS:
        rng = seeded_generator(seed)
        ages = [20 + int(age) for age in rng.integers(0, 25, ROWS)]
        cells = {
            "age": pa.array(ages),
            "zip": pa.array([ZIPS[i] for i in rng.integers(0, len(ZIPS), ROWS)]),
            "job": pa.array([str(JOBS.hierarchy.leaves[i]) for i in rng.integers(0, 5, ROWS)]),
            "grade": pa.array([str(GRADES.hierarchy.leaves[i]) for i in rng.integers(0, 4, ROWS)]),
            "eyes": pa.array([COLORS[i] for i in rng.integers(0, len(COLORS), ROWS)]),
        }
        diseases = pa.array([DISEASES[i] for i in rng.integers(0, len(DISEASES), ROWS)])
        if seed % 2:
            lost = rng.random((len(cells), ROWS)) < 1 / 10
            cells = {
                name: pa.array(column.to_pylist(), column.type, mask=mask)
                for (name, column), mask in zip(cells.items(), lost, strict=True)
            }
        coded = encode_table(pa.table(cells | {"disease": diseases}), SCHEMA)
        yield MetricSample(columns=coded.quasi, disease=coded.sensitive[0], rng=rng)


def _published_texts(column: CodedColumn, level: int) -> list[str | None]:
    """Publish a column at a level; missing cells stay missing until everything is suppressed."""
    domain, hierarchy = column.domain, column.domain.hierarchy
    if hierarchy is None:
        pairs = [ValueSet(domain.texts[i - i % 2 : i - i % 2 + 2]).text for i in range(len(domain))]
        texts: list[str] = [domain.texts, pairs, [SUPPRESSED_TEXT] * len(domain)][level]  # type: ignore[assignment]  # texts all
        top = 2
    else:
        texts, top = [hierarchy.labels[level][node] for node in hierarchy.levels[level]], hierarchy.height
    shown: list[str | None] = [*texts, SUPPRESSED_TEXT if level == top else None]
    return [shown[code_] for code_ in column.codes.tolist()]


def _is_at_most(less: float, more: float) -> bool:
    return less <= more or isclose(less, more, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
