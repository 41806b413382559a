"""How well a classifier does that was trained on a release instead of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError, SfumatoError
from sfumato.judging.comparing.reading import both_tables, numbers_of, refuse_absent, shared
from sfumato.randomness import generator
from sfumato.table.extras import optional_library
from sfumato.table.frames import Frame, SameKind, to_arrow
from sfumato.table.numbers import Numbers, has_distances
from sfumato.table.values import texts
from sfumato.validation import is_number, require

LEAST_LEAF = 10
MISSING = "(missing)"


class Classifier(Protocol):
    """Any classifier of scikit-learn."""

    def fit(self, features: Any, classes: Any, /) -> Any:
        """Learn from records and their classes."""

    def predict(self, features: Any, /) -> Any:
        """Give the class of every record."""


@dataclass(frozen=True, kw_only=True)
class ClassifierComparison:
    """Shares of held-out records that are classified rightly: trained on the original, on the release, or by majority.

    `majority` is the share of the class that is most frequent in the original: who learns nothing reaches that much.
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


def hold_out(data: Frame, *, share: float = 0.3, seed: int = 0) -> tuple[SameKind, SameKind]:
    """Part a table at random: publish from the first part, and test on the second, which the release never saw."""
    require(is_number(share) and 0 < share < 1, "hold_out", "share", "between 0 and 1", share)
    table, kind = to_arrow(data)
    cut = round(table.num_rows * share)
    if not 0 < cut < table.num_rows:
        raise SchemaError(f"{table.num_rows:,} rows cannot be parted at a share of {share:g}; bring more rows.")
    order = generator(seed).permutation(table.num_rows)
    parts = np.sort(order[cut:]), np.sort(order[:cut])
    kept, held = (kind.restore(table.take(pa.array(rows))) for rows in parts)
    return kept, held


def compare_classifiers(
    original: Frame,
    published: Frame,
    held_out: Frame,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    classifier: Classifier | None = None,
    seed: int = 0,
) -> ClassifierComparison:
    """Train a classifier on the original and on a release of it, and test both on records that neither has seen.

    Columns of numbers and dates are used as numbers, where a generalized cell counts as its midpoint and an empty one
    as the original's mean; all others are used as categories, where a generalized cell is a category of its own. It
    needs scikit-learn: install `sfumato[learn]`.

    Parameters
    ----------
    original, published, held_out : pandas, Polars or Arrow tables; the release is made of the original alone, see
        `hold_out`.
    target : the column of classes.
    columns : what to classify by; otherwise all columns that the tables share.
    classifier : any of scikit-learn; otherwise a decision tree with at least 10 records in a leaf.
    seed : repeats the training of the default classifier.
    """
    tables = *both_tables(original, published), to_arrow(held_out)[0]
    if columns is None:
        columns = [name for name in shared(*tables[:2]) if name in tables[2].column_names and name != target]
    tables = _with_classes(tables, target, columns)
    classes = [texts(table.column(target)).to_numpy(zero_copy_only=False) for table in tables]
    features = _features(tables, columns)
    numeric = [has_distances(tables[0].column(name).type) for name in columns]
    accuracies = []
    for trained in (0, 1):
        model = _pipeline(numeric, classifier, seed).fit(features[trained], classes[trained])
        accuracies.append(float((model.predict(features[2]) == classes[2]).mean()))
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
    """Leave out records without a class; refuse columns that a table lacks, and tables without any class."""
    for name in (target, *columns):
        refuse_absent(name, *tables)
    if not columns or target in columns:
        raise SchemaError(f"Name at least one column to classify {target!r} by, and not itself.")
    kept = tuple(table.filter(table.column(target).is_valid()) for table in tables)
    if not all(table.num_rows for table in kept):
        raise SchemaError(f"A table has no record with a value of {target!r}; there is nothing to learn or to test.")
    return kept


def _features(tables: Sequence[pa.Table], columns: Sequence[str]) -> list[Any]:
    """Return every table as a matrix of numbers and texts."""
    found = [np.empty((table.num_rows, len(columns)), dtype=object) for table in tables]
    for place, name in enumerate(columns):
        numeric = has_distances(tables[0].column(name).type)
        usual = _mean(numbers_of(tables[0].column(name))) if numeric else 0.0
        for matrix, table in zip(found, tables, strict=True):
            if numeric:
                numbers = numbers_of(table.column(name))
                matrix[:, place] = np.where(np.isnan(numbers), usual, numbers)
            else:
                matrix[:, place] = texts(table.column(name)).fill_null(MISSING).to_numpy(zero_copy_only=False)
    return found


def _mean(numbers: Numbers) -> float:
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else 0.0


def _pipeline(numeric: Sequence[bool], classifier: Any, seed: int) -> Any:
    """Make an untrained classifier that takes numbers in standard deviations and categories one by one."""
    base, compose, pipeline, preprocessing, tree = (
        optional_library(f"sklearn.{module}", extra="learn", error=SfumatoError)
        for module in ("base", "compose", "pipeline", "preprocessing", "tree")
    )
    numbers = [place for place, held in enumerate(numeric) if held]
    others = [place for place, held in enumerate(numeric) if not held]
    columns = compose.ColumnTransformer(
        [
            ("numbers", preprocessing.StandardScaler(), numbers),
            ("values", preprocessing.OneHotEncoder(handle_unknown="ignore"), others),
        ]
    )
    if classifier is None:
        classifier = tree.DecisionTreeClassifier(min_samples_leaf=LEAST_LEAF, random_state=seed)
    return pipeline.make_pipeline(columns, base.clone(classifier))
