"""How often a decision tree trained on a fused table is right, on records that were not fused.

These are generalized like the fused ones. The smallest leaf size of the tree is chosen by threefold cross-validation
on the training data, so that neither raw nor generalized values are overfitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from papers.fusion.setting import FusionSubject
from sfumato._optional import import_optional
from sfumato.errors import SfumatoError
from sfumato.io._values import format_values
from sfumato.tables.published.solution import SUPPRESSED_TEXT

LEAF_SIZES = (10, 30, 100, 300)
FOLDS = 3
Texts = npt.NDArray[np.object_]


def check_scikit_learn() -> None:
    """Say how to install the library that learns, if it is missing."""
    _library("tree")


def tree_accuracy(learned: pa.Table, tested: pa.Table, *, target: str, columns: Sequence[str], seed: int) -> float:
    """Return the share of records that a tree classifies correctly; numbers are used as such, texts as categories."""
    tree = _library("tree").DecisionTreeClassifier(random_state=seed)
    selection = _library("model_selection")
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    search = selection.GridSearchCV(tree, {"min_samples_leaf": list(LEAF_SIZES)}, cv=folds)
    features = _features(learned, tested, columns)
    search.fit(features[0], _texts(learned[target]))
    return float((search.predict(features[1]) == _texts(tested[target])).mean())


def majority_accuracy(learned: pa.Table, tested: pa.Table, *, target: str) -> float:
    """Return the share of records in the class that is most frequent in the training data."""
    names, counts = np.unique(_texts(learned[target]), return_counts=True)
    return float((_texts(tested[target]) == names[counts.argmax()]).mean())


def _library(module: str) -> Any:
    return import_optional(f"sklearn.{module}", extra="learn", error=SfumatoError)


def _texts(column: pa.ChunkedArray) -> Texts:
    return np.asarray(format_values(column).to_numpy(zero_copy_only=False))


def _is_number(column: pa.Array) -> bool:
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _features(learned: pa.Table, tested: pa.Table, columns: Sequence[str]) -> list[npt.NDArray[np.float32]]:
    """Return both tables as numbers: one column per number, one per text that occurs."""
    encoder = _library("preprocessing").OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    numeric = [name for name in columns if _is_number(learned[name])]
    others = [name for name in columns if name not in numeric]
    if others:
        encoder.fit(np.column_stack([_texts(learned[name]) for name in others]))
    found = []
    for table in (learned, tested):
        parts = [np.column_stack([table[name].to_numpy() for name in numeric])] if numeric else []
        parts += [encoder.transform(np.column_stack([_texts(table[name]) for name in others]))] if others else []
        found.append(np.hstack(parts).astype(np.float32))
    return found


def recode_held_out(held: pa.Table, published: pa.Table, subject: FusionSubject) -> pa.Table:
    """Give held-out records the labels that their values have in the fused table.

    A number between two ranges belongs to the lower one, one below all to the lowest. A text without a published
    generalization is suppressed.
    """
    columns = {}
    for name in subject.columns:
        labels: list[str] = pc.unique(published[name]).to_pylist()
        column = held[name].combine_chunks()
        if _is_number(column):
            columns[name] = _recode_numbers(column, labels)
        else:
            columns[name] = _recode_texts(column, labels, subject, name)
    return pa.table({**columns, subject.target: held[subject.target]})


def _recode_numbers(column: pa.Array, labels: list[str]) -> pa.Array:
    if labels == [SUPPRESSED_TEXT]:
        return pa.array([SUPPRESSED_TEXT] * len(column))
    lows = np.array([float(label.strip("[]").split(", ")[0]) for label in labels])
    order = np.argsort(lows)
    place = np.searchsorted(lows[order], column.to_numpy(zero_copy_only=False), side="right") - 1
    return pa.array(labels).take(pa.array(order[np.maximum(place, 0)]))


def _recode_texts(column: pa.Array, labels: list[str], subject: FusionSubject, name: str) -> pa.Array:
    distinct = pc.unique(format_values(column))
    paths = _paths(subject, name, distinct)
    shown = set(labels)
    found = [
        next((label for label in paths[value] if label in shown), SUPPRESSED_TEXT) for value in distinct.to_pylist()
    ]
    return pa.array(found, pa.string()).take(pc.index_in(format_values(column), value_set=distinct))


def _paths(subject: FusionSubject, name: str, distinct: pa.Array) -> Mapping[str, list[str]]:
    """Return for every value what it may be published as, from the finest."""
    if name not in subject.hierarchies:
        return {value: [value] for value in distinct.to_pylist()}
    known = pc.unique(pa.chunked_array([distinct, pc.unique(format_values(subject.table[name]))])).cast(pa.string())
    hierarchy = subject.hierarchies[name].build(known)
    return {
        leaf: [hierarchy.labels[level][int(nodes[place])] for level, nodes in enumerate(hierarchy.levels)]
        for place, leaf in enumerate(hierarchy.labels[0])
    }
