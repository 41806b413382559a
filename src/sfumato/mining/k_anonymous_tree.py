"""Grow a decision tree whose published form singles out no training record (Friedman, Wolff, Schuster 2008)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from math import floor, log10

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer, require, suggest_closest
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import format_values
from sfumato.mining.published_tree import Flags, InnerNode, Ints, Leaf, PublishedTree, TreeTest, is_numeric
from sfumato.schema.schema import Schema

CUTS = 20
MIN_GAIN = 1e-9


@dataclass(frozen=True, kw_only=True)
class KAnonymousTree:
    """Predict a class with a tree that narrows nobody down to fewer than k training records.

    An adversary who knows the public columns of a person, the quasi-identifiers, finds the leaves in which the person
    may be: her span. Every span that contains training records must contain at least k of them. A question about a
    public column is asked only if all spans stay that large; private columns do not narrow spans. Cuts of numbers are
    round, and texts are asked about only if at least k records have them, so that no question quotes a person.

    Parameters
    ----------
    k : the smallest number of training records in a span.
    target : the column of the class; it must not be a quasi-identifier.
    l : the smallest number of classes in every leaf; with 1, a leaf may reveal the class for certain.
    max_depth : the largest number of questions on a path.
    """

    k: int
    target: str
    l: int = 1
    max_depth: int = 5

    def __post_init__(self) -> None:
        for name in ("k", "l", "max_depth"):
            require(
                is_integer(getattr(self, name)) and getattr(self, name) >= 1,
                self,
                name,
                "at least 1",
                getattr(self, name),
            )

    def fit(self, data: Frame, schema: Schema) -> PublishedTree:
        """Grow a tree on all columns with a role except identifiers and the target; quasi-identifiers are public."""
        table = to_arrow(data)[0]
        require(isinstance(schema, Schema), "KAnonymousTree.fit", "schema", "an sf.Schema", schema)
        schema.check_columns(table.column_names)
        self._check_input(table, schema)
        classes = format_values(table[self.target]).dictionary_encode()
        names = classes.dictionary.to_pylist()
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        codes = rank[classes.indices.to_numpy()]
        if len(codes) < self.k or len(names) < self.l:
            raise InfeasibleError(
                f"{len(codes):,} records of {len(names)} classes cannot keep k = {self.k}, l = {self.l}."
            )
        questions = list(self._candidate_tests(table, schema))
        growth = _TreeGrower(self, [q.evaluate(table) for q in questions], questions, codes, len(names))
        root = growth.grown()
        smallest = int(np.bincount(growth.span).min())
        return PublishedTree(self.target, tuple(names[i] for i in order), root, self.k, smallest)

    def _check_input(self, table: pa.Table, schema: Schema) -> None:
        private = (*schema.sensitive, *schema.insensitive)
        if self.target not in private:
            hint = suggest_closest(self.target, private) or "; give it one of these roles."
            raise SchemaError(f"The target {self.target!r} must be sensitive or insensitive{hint}")
        if table.num_rows == 0 or table[self.target].null_count:
            raise SchemaError(f"Every training record needs a class in {self.target!r}; drop rows without one.")

    def _candidate_tests(self, table: pa.Table, schema: Schema) -> Iterator[TreeTest]:
        for name in (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive):
            if name == self.target:
                continue
            public = name in schema.quasi_identifiers
            if is_numeric(table[name].type):
                for cut in round_thresholds(np.asarray(table[name].cast(pa.float64(), safe=False).drop_null())):
                    yield TreeTest(name, public, cut=cut)
            else:
                counted = format_values(table[name]).value_counts().to_pylist()
                values = sorted(c["values"] for c in counted if c["values"] is not None and c["counts"] >= self.k)
                for value in values:
                    yield TreeTest(name, public, value=value)


def round_thresholds(values: npt.NDArray[np.float64]) -> list[float]:
    """Return about twenty round numbers at most between the lowest and the highest value.

    >>> round_thresholds(np.array([17.0, 90.0]))[:3]
    [20.0, 25.0, 30.0]
    """
    if not len(values) or values.min() == values.max():
        return []
    low, high = float(values.min()), float(values.max())
    rough = (high - low) / CUTS
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * nice for nice in (1, 2, 5, 10) if unit * nice >= rough * (1 - 1e-9))
    first, last = floor(low / step) + 1, floor(high / step)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


class _TreeGrower:
    """A tree that grows leaf by leaf, best gain first, as long as the span of every record is valid."""

    def __init__(
        self, asked: KAnonymousTree, answers: list[Flags], questions: list[TreeTest], codes: Ints, classes: int
    ) -> None:
        self.asked, self.questions, self.codes, self.classes = asked, questions, codes, classes
        self.answers = np.array(answers, dtype=np.bool_).reshape(len(answers), len(codes))
        self.span = np.zeros(len(codes), dtype=np.int64)
        self.children: dict[int, tuple[TreeTest, int, int]] = {}
        self.inside: list[Flags] = []
        self.possible: list[Flags] = []
        self.depth: list[int] = []
        self.open: list[tuple[float, int, list[int]]] = []

    def grown(self) -> InnerNode | Leaf:
        """Ask the best allowed questions until none is left."""
        everybody = np.ones(len(self.codes), dtype=np.bool_)
        self._add(everybody, everybody, 0)
        while self.open:
            _, leaf, ranked = heappop(self.open)
            for number in ranked:
                narrowed = self._restrict_spans(leaf, number)
                if narrowed is not None:
                    self.span = narrowed
                    self._split(leaf, number)
                    break
        return self._node(0)

    def _add(self, inside: Flags, possible: Flags, depth: int) -> int:
        leaf = len(self.inside)
        self.inside.append(inside)
        self.possible.append(possible)
        self.depth.append(depth)
        gains = self._gains(inside)
        ranked = [i for i in np.argsort(-gains, kind="stable").tolist() if gains[i] > MIN_GAIN]
        if ranked and depth < self.asked.max_depth:
            heappush(self.open, (-float(gains[ranked[0]]) * int(inside.sum()), leaf, ranked))
        return leaf

    def _gains(self, inside: Flags) -> npt.NDArray[np.float64]:
        """Compute the information gain of every question; none if a child would have too few classes."""
        codes = self.codes[inside]
        whole = np.bincount(codes, minlength=self.classes)
        member = np.zeros((len(codes), self.classes))
        member[np.arange(len(codes)), codes] = 1
        yes = self.answers[:, inside].astype(np.float64) @ member
        no = whole - yes
        few = (np.minimum((yes > 0).sum(axis=1), (no > 0).sum(axis=1))) < self.asked.l
        size = max(1, len(codes))
        after = (yes.sum(axis=1) * _entropy(yes) + no.sum(axis=1) * _entropy(no)) / size
        return np.where(few, 0.0, float(_entropy(whole[None, :].astype(np.float64))[0]) - after)

    def _restrict_spans(self, leaf: int, number: int) -> Ints | None:
        """Return the spans after a question; None if one would contain records, but fewer than k."""
        if not self.questions[number].public:
            return self.span
        asked = self.possible[leaf] & self.answers[number]
        _, spans, counts = np.unique(2 * self.span + asked, return_inverse=True, return_counts=True)
        return spans.astype(np.int64).ravel() if counts.min() >= self.asked.k else None

    def _split(self, leaf: int, number: int) -> None:
        question, yes = self.questions[number], self.answers[number]
        possible = self.possible[leaf]
        ways = (possible & yes, possible & ~yes) if question.public else (possible, possible)
        first = self._add(self.inside[leaf] & yes, ways[0], self.depth[leaf] + 1)
        second = self._add(self.inside[leaf] & ~yes, ways[1], self.depth[leaf] + 1)
        self.children[leaf] = (question, first, second)

    def _node(self, leaf: int) -> InnerNode | Leaf:
        if leaf not in self.children:
            return Leaf(tuple(np.bincount(self.codes[self.inside[leaf]], minlength=self.classes).tolist()))
        question, yes, no = self.children[leaf]
        return InnerNode(question, self._node(yes), self._node(no))


def _entropy(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    share = counts / total
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    entropy: npt.NDArray[np.float64] = -(share * logs).sum(axis=1)
    return entropy
