"""How well a classifier works that was trained on a release instead of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sfumato._optional import import_optional
from sfumato._randomness import seeded_generator
from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError, SfumatoError
from sfumato.io._dataframes import Frame, SameBackend, to_arrow
from sfumato.io._values import Numbers, format_values, is_metric_type, to_numbers
from sfumato.schema.schema import Schema
from sfumato.tables.metrics._paired_columns import (
    concatenate_columns,
    expected_in,
    missing_column_error,
    shared_columns,
    to_arrow_pair,
)
from sfumato.tables.metrics.moments import unit_of
from sfumato.tables.metrics.tabulation import read_columns_without_roles
from sfumato.tables.published.published_table import PublishedColumn

# Cells of both tables as numbers that a classifier can learn from, so that a generalized cell says what it covers.

MOST_LABELS = 100  # of a column that become features, the most frequent ones
DENSE = 20_000_000  # the most cells of a matrix that is not sparse


@dataclass(frozen=True)
class Features:
    """What a classifier learns from, and held-out records as they look to it."""

    training: Any
    held_out: Any


def build_features(
    training: pa.Table, original: pa.Table, held_out: pa.Table, columns: Sequence[str], schema: Schema | None
) -> Features:
    """Return the features of a table to learn from, and of held-out records.

    A column of numbers or dates becomes one feature, in standard deviations of the original. A generalized cell counts
    as the mean of the numbers that it covers. A held-out number counts as what the table would show of it: the mean of
    the only cell that covers it, or the number itself where none does, or several do. An empty or suppressed cell
    counts as the mean of the column.

    Every other column becomes one feature for each of its labels: the share of the values that a cell covers which the
    label covers, too. An exact value is covered or not, so that a held-out record has the feature of the label that
    the table would show of it.
    """
    parts: list[tuple[Any, Any]] = []
    for name in columns:
        known = concatenate_columns([original[name], held_out[name]])
        read = read_columns_without_roles(pa.table({name: known}), training.select([name]), [name], schema)[0]
        codes = read[0].codes[original.num_rows :].astype(np.int64)
        if is_metric_type(original[name].type):
            parts.append(_numbers(read[1], codes, to_numbers(original[name])))
        else:
            parts.append(_labels(read[1], codes))
    return Features(*(_stack([part[side] for part in parts]) for side in (0, 1)))


def _numbers(column: PublishedColumn, codes: np.ndarray[Any, Any], original: Numbers) -> tuple[Numbers, Numbers]:
    known = original[~np.isnan(original)]
    mean, unit = (float(known.mean()), unit_of(known)) if len(known) else (0.0, 1.0)
    expected = expected_in(column)
    shown = np.bincount(column.codes, minlength=len(expected)).astype(np.float64)
    values = to_numbers(pa.chunked_array([column.domain.values]))
    seen = np.append(_published_midpoint(column, expected, shown, values), np.nan)
    sides = expected[column.codes], seen[np.minimum(codes, len(values))]
    trained, tested = (((np.where(np.isnan(side), mean, side) - mean) / unit)[:, None] for side in sides)
    return trained, tested


def _published_midpoint(column: PublishedColumn, expected: Numbers, shown: Numbers, values: Numbers) -> Numbers:
    """Return for every value the expected number of the only cell that covers it, or else itself."""
    known = ~np.isnan(expected) & (shown > 0)
    counts, total = _summed(column, known.astype(np.float64)), _summed(column, np.where(known, expected, 0.0))
    return np.where(np.round(counts) == 1, total, values)


def _summed(column: PublishedColumn, amounts: Numbers) -> Numbers:
    """Sum up for every value the amounts of the labels that cover it."""
    coverage, width = column.coverage, len(column.domain)
    ranged = np.ones(len(amounts), dtype=np.bool_)
    ranged[list(coverage.members)] = False
    ranged &= coverage.low <= coverage.high
    steps = np.bincount(coverage.low[ranged], weights=amounts[ranged], minlength=width + 1)
    steps -= np.bincount(coverage.high[ranged] + 1, weights=amounts[ranged], minlength=width + 1)
    summed = np.cumsum(steps)[:width]
    for label, members in coverage.members.items():
        summed[members] += amounts[label]
    return np.asarray(summed)


def _labels(column: PublishedColumn, codes: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    from scipy.sparse import csr_matrix

    coverage, width = column.coverage, len(column.domain)
    shown = np.bincount(column.codes, minlength=len(column.texts))
    chosen = np.sort(np.argsort(-shown, kind="stable")[:MOST_LABELS])
    covers = np.zeros((width + 1, len(chosen)))
    for place, label in enumerate(chosen.tolist()):
        covers[coverage.members.get(label, slice(coverage.low[label], coverage.high[label] + 1)), place] = 1.0
    covers[width] = coverage.missing[chosen]
    leaves = coverage.leaf_counts()
    before = np.vstack([np.zeros(len(chosen)), np.cumsum(covers[:width], axis=0)])
    shares = before[np.maximum(coverage.high + 1, 0)] - before[np.maximum(coverage.low, 0)]
    for label, members in coverage.members.items():
        shares[label] = covers[members].sum(axis=0)
    shares /= np.maximum(leaves, 1)[:, None]
    shares[leaves == 0] = covers[width]
    return csr_matrix(shares)[column.codes], csr_matrix(covers)[codes]


def _stack(parts: Sequence[Any]) -> Any:
    from scipy.sparse import csr_matrix, hstack

    stacked = hstack([csr_matrix(part) for part in parts], format="csr")
    return stacked.toarray() if stacked.shape[0] * stacked.shape[1] <= DENSE else stacked


LEAST_LEAF = 10


class Classifier(Protocol):
    """Any classifier of scikit-learn."""

    def fit(self, features: Any, classes: Any, /) -> Any:
        """Learn from records and their classes."""

    def predict(self, features: Any, /) -> Any:
        """Give the class of every record."""


@dataclass(frozen=True, kw_only=True)
class ClassifierComparison:
    """Shares of held-out records classified correctly: trained on the original, on the release, or by majority.

    `majority` is the share of the most frequent class of the original: what a classifier reaches without learning.
    """

    target: str
    columns: tuple[str, ...]
    held_out: int
    original: float
    published: float
    majority: float

    def __repr__(self) -> str:
        return (
            f"Accuracy on {self.held_out:,} held-out records, {self.target!r} from {len(self.columns)} columns\n"
            f"  trained on the original  {self.original:.3f}\n"
            f"  trained on the release   {self.published:.3f}\n"
            f"  the most frequent class  {self.majority:.3f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {**asdict(self), "columns": list(self.columns)}


def hold_out(data: Frame, *, share: float = 0.3, seed: int = 0) -> tuple[SameBackend, SameBackend]:
    """Split a table at random: publish from the first part and test on the second, which the release never saw."""
    require(is_finite_number(share) and 0 < share < 1, "hold_out", "share", "between 0 and 1", share)
    table, kind = to_arrow(data)
    cut = round(table.num_rows * share)
    if not 0 < cut < table.num_rows:
        raise SchemaError(f"{table.num_rows:,} rows cannot be split at a share of {share:g}; give more rows.")
    order = seeded_generator(seed).permutation(table.num_rows)
    parts = np.sort(order[cut:]), np.sort(order[:cut])
    kept, held = (kind.restore(table.take(pa.array(rows))) for rows in parts)
    return kept, held


def compare_classifiers(
    original: Frame,
    published: Frame,
    held_out: Frame,
    *,
    target: str,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    classifier: Classifier | None = None,
    seed: int = 0,
) -> ClassifierComparison:
    """Train a classifier on the original and on a release of it, and test both on records that neither has seen.

    Held-out records are shown to the classifier as the release would show them, so that a release is judged by what it
    keeps and not by how it writes it. A column of numbers or dates is used as one number: a generalized cell counts as
    its midpoint, and so does a held-out number that only one published cell covers; an empty or suppressed cell counts
    as the mean of the original. Any other column is used as one feature for each published label: the share of what a
    cell covers that the label covers, too.
    Requires scikit-learn: install `sfumato[learn]`.

    Parameters
    ----------
    original, published, held_out : pandas, Polars or Arrow tables; the release is made from the original alone, see
        `hold_out`.
    target : the column of classes.
    schema : its hierarchies are needed to read the labels of taxonomies.
    columns : the columns to classify by; by default all columns that the tables share.
    classifier : any scikit-learn classifier; by default a decision tree with at least 10 records in a leaf.
    seed : makes the training of the default classifier repeatable.
    """
    tables = *to_arrow_pair(original, published), to_arrow(held_out)[0]
    if columns is None:
        columns = [name for name in shared_columns(*tables[:2]) if name in tables[2].column_names and name != target]
    tables = _with_classes(tables, target, columns)
    classes = [format_values(table.column(target)).to_numpy(zero_copy_only=False) for table in tables]
    accuracies = []
    for trained in (0, 1):
        model = _make_classifier(classifier, seed)
        learned = build_features(tables[trained], tables[0], tables[2], columns, schema)
        model.fit(learned.training, classes[trained])
        accuracies.append(float((model.predict(learned.held_out) == classes[2]).mean()))
    names, counts = np.unique(classes[0], return_counts=True)
    return ClassifierComparison(
        target=target,
        columns=tuple(columns),
        held_out=tables[2].num_rows,
        original=accuracies[0],
        published=accuracies[1],
        majority=float((classes[2] == names[counts.argmax()]).mean()),
    )


def _with_classes(tables: Sequence[pa.Table], target: str, columns: Sequence[str]) -> tuple[pa.Table, ...]:
    """Drop records without a class; refuse columns that a table does not have, and tables without any class."""
    for name in (target, *columns):
        missing_column_error(name, *tables)
    if not columns or target in columns:
        raise SchemaError(f"Name at least one column other than {target!r} to classify it by.")
    kept = tuple(table.filter(table.column(target).is_valid()) for table in tables)
    if not all(table.num_rows for table in kept):
        raise SchemaError(f"A table has no record with a value of {target!r}; there is nothing to learn or test.")
    return kept


def require_sklearn() -> tuple[Any, Any]:
    """Return what classifiers are made with; refuse, and say how to install it, where it is missing."""
    base, tree = (
        import_optional(f"sklearn.{module}", extra="learn", error=SfumatoError) for module in ("base", "tree")
    )
    return base, tree


def _make_classifier(classifier: Any, seed: int) -> Any:
    """Copy the given classifier, or make the default one."""
    base, tree = require_sklearn()
    if classifier is None:
        classifier = tree.DecisionTreeClassifier(min_samples_leaf=LEAST_LEAF, random_state=seed)
    return base.clone(classifier)
