"""How well a classifier works that was trained on a release instead of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError, SfumatoError
from sfumato.judging.comparing.features import build_features
from sfumato.judging.comparing.reading import missing_column_error, shared_columns, to_arrow_pair
from sfumato.randomness import seeded_generator
from sfumato.schema.schema import Schema
from sfumato.table.extras import import_optional
from sfumato.table.frames import Frame, SameBackend, to_arrow
from sfumato.table.values import format_values
from sfumato.validation import is_finite_number, require

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
        model = _new_classifier(classifier, seed)
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


def _new_classifier(classifier: Any, seed: int) -> Any:
    """Copy the given classifier, or make the default one."""
    base, tree = require_sklearn()
    if classifier is None:
        classifier = tree.DecisionTreeClassifier(min_samples_leaf=LEAST_LEAF, random_state=seed)
    return base.clone(classifier)
