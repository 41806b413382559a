"""What a party may specialize next: nodes of its own attributes, with their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.cuts.tree import Part, Tree
from sfumato.coding.codes import CodedColumn
from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.fusing.agreement import Scoring
from sfumato.fusing.factors import count_classes, gain_ratio, information_gain, round_score

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpecializationCandidate:
    """A node that can be specialized, its children, and its score."""

    attribute: str
    number: int
    score: float
    parts: tuple[Part, ...]


class LocalAttribute:
    """One attribute at its owner: its nodes, and the number of records of each class for every value.

    Nodes are numbered as they appear; number 0 is the root. If numbers are cut, missing ones become a third part.
    Scores need only the owner's counts, so they never change while a node lives.

    Parameters
    ----------
    column : the codes of the common records.
    classes : the classes of these records, from 0.
    weight : the factor of the provider times that of the attribute.
    value_factors : one factor for all values, or one per text.
    scoring : whether a node weighs the mean or the sum of its values' factors, or nothing is weighed.
    """

    def __init__(
        self,
        column: CodedColumn,
        classes: Ints,
        *,
        weight: float,
        value_factors: float | Mapping[str, float],
        scoring: Scoring = "sensitive",
    ) -> None:
        self.name = column.name
        self.codes = column.codes.astype(np.int64)
        self.tree = Tree.of(column.domain, missing=bool((self.codes == column.domain.missing).any()))
        self._counts = count_classes(self.codes, classes, (self.tree.codes, int(classes.max(initial=0)) + 1))
        self._weight = 1.0 if scoring == "plain" else weight
        self._factors = _leaf_factors(self.tree, 1.0 if scoring == "plain" else value_factors)
        self._summed = scoring == "sensitive-sum"
        self.parts = [self.tree.top()]

    @property
    def gain(self) -> float:
        """How much the values of the attribute reveal about the class, in bits."""
        return information_gain(self._counts)

    def label(self, part: Part) -> str:
        """Return the label of a node; a missing value is published as suppressed."""
        text = self.tree.label(part).text
        return SUPPRESSED_TEXT if text is None else text

    def candidate(self, number: int) -> SpecializationCandidate | None:
        """Return what specializing a node is worth; None if it is a leaf or nothing is gained."""
        part = self.parts[number]
        parts = self._below(part)
        if parts is None:
            return None
        counts = np.array([self._counts[each.first : each.last + 1].sum(axis=0) for each in parts])
        score = round_score(gain_ratio(counts) * self._weight * self._factor(part))
        return SpecializationCandidate(self.name, number, score, parts) if score > 0 else None

    def children(self, candidate: SpecializationCandidate, records: Ints) -> Ints:
        """Return for records of the node which of its children they belong to."""
        sizes = [part.last - part.first + 1 for part in candidate.parts]
        child = np.repeat(np.arange(len(sizes)), sizes)
        return np.asarray(child[self.codes[records] - candidate.parts[0].first])

    def specialize(self, candidate: SpecializationCandidate) -> Iterator[int]:
        """Replace a node by its children; return their numbers."""
        for part in candidate.parts:
            self.parts.append(part)
            yield len(self.parts) - 1

    def _below(self, part: Part) -> tuple[Part, ...] | None:
        if part.first == part.last:
            return None
        if not self.tree.neighbors:
            return tuple(sorted(self.tree.whole(int(node)) for node in self.tree.children(part.node)))
        last = min(part.last, len(self.tree.domain) - 1)
        missing = [self.tree.whole(part.last)] if last < part.last else []
        if part.first == last:
            return self.tree.whole(last), *missing
        cut = self._best_cut(part.first, last)
        return self.tree.run(part.first, cut), self.tree.run(cut + 1, last), *missing

    def _best_cut(self, first: int, last: int) -> int:
        """Find the last code of the lower part, so that the parts reveal most about the class; ties go to the first."""
        counts = self._counts[first : last + 1]
        below = np.cumsum(counts, axis=0)[:-1]
        above = counts.sum(axis=0) - below
        inside = _weighted_entropy(below) + _weighted_entropy(above)
        return first + int(np.argmin(np.round(inside, 9)))

    def _factor(self, part: Part) -> float:
        """Weigh a node by its values, whether it is a group of a hierarchy or a range of numbers."""
        factors = self._factors[part.first : part.last + 1]
        return float(factors.sum() if self._summed else factors.mean())


def _weighted_entropy(counts: Ints) -> Floats:
    """Multiply the entropy of rows of counts by their size."""
    sizes = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = counts * np.log2(counts / sizes)
    return np.asarray(-np.nansum(terms, axis=1))


def _leaf_factors(tree: Tree, given: float | Mapping[str, float]) -> Floats:
    """Return a factor for every code; values that are not named, and missing ones, have 1."""
    if not isinstance(given, Mapping):
        return np.full(tree.codes, float(given))
    factors = [float(given.get(text, 1.0)) for text in tree.domain.texts]
    return np.array([*factors, 1.0][: tree.codes])
