"""The rounds of one party: offer the party's best candidate, learn who won, and follow the winner."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress
from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import ProtocolError
from sfumato.fusion.result import Disclosure
from sfumato.fusion.scoring import count_classes, gain_ratio, information_gain, round_score
from sfumato.fusion.session import KAnonymityRequirement, Scoring
from sfumato.tables.algorithms.subtree._tree import Part, Tree
from sfumato.tables.published.solution import SUPPRESSED_TEXT

if TYPE_CHECKING:
    from sfumato.fusion.secure.channel import Parties

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# What a party may specialize next: nodes of its own attributes, with their scores.


# What a party may specialize next: nodes of its own attributes, with their scores.


# What a party may specialize next: nodes of its own attributes, with their scores.


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


# The common state of all parties: which records are published alike so far.
SPARSE = 4  # possible keys per record above which sorting is faster than counting


@dataclass(eq=False)
class PublishedAttribute:
    """One attribute as published so far: the text of every node, its records, and the node of every record."""

    labels: list[str]
    records: dict[int, Ints]
    node: npt.NDArray[np.int32]


@dataclass(eq=False)
class EquivalenceClasses:
    """The common records, grouped by what is published about them so far.

    Parameters
    ----------
    rows : the number of records.
    owners : the owner of every attribute, in the order in which attributes are published.
    requirements : the requirements that every group must meet.
    """

    rows: int
    owners: Mapping[str, str]
    requirements: Sequence[KAnonymityRequirement]
    shown: dict[str, PublishedAttribute] = field(init=False)
    _labels: list[Ints] = field(init=False)
    _used: list[int] = field(init=False)

    def __post_init__(self) -> None:
        everybody = np.arange(self.rows)
        self.shown = {
            name: PublishedAttribute([SUPPRESSED_TEXT], {0: everybody}, np.zeros(self.rows, dtype=np.int32))
            for name in self.owners
        }
        self._labels = [np.zeros(self.rows, dtype=np.int64) for _ in self.requirements]
        self._used = [1 for _ in self.requirements]

    def allows_split(self, attribute: str, records: Ints, children: Ints) -> bool:
        """Return whether every requirement still holds if these records are split in this way.

        An attribute that no requirement names is split while every part has at least the smallest k.
        """
        concerned = [j for j, each in enumerate(self.requirements) if attribute in each.quasi]
        if not concerned:
            counts = np.bincount(children)
            return bool(counts[counts > 0].min() >= min(each.k for each in self.requirements))
        many = int(children.max()) + 1
        for j in concerned:
            _, sizes = _numbered(self._labels[j][records] * many + children, self._used[j] * many)
            if sizes.min() < self.requirements[j].k:
                return False
        return True

    def split(self, attribute: str, number: int, labels: Sequence[str], children: Ints) -> None:
        """Publish the records of a node with its children from now on; refuse what breaks a requirement."""
        shown = self.shown[attribute]
        records = shown.records.get(number)
        if records is None or not len(records) or not _covers_children(children, len(records), len(labels)):
            raise ProtocolError(
                f"The party that owns {attribute!r} sent a specialization that does not fit the common records; "
                "start again at all parties."
            )
        if not self.allows_split(attribute, records, children):
            raise ProtocolError(
                f"The party that owns {attribute!r} sent a specialization that breaks a requirement; nothing is "
                "published."
            )
        for j, each in enumerate(self.requirements):
            if attribute in each.quasi:
                many = len(labels)
                place, sizes = _numbered(self._labels[j][records] * many + children, self._used[j] * many)
                self._labels[j][records] = self._used[j] + place
                self._used[j] += len(sizes)
        first = len(shown.labels)
        del shown.records[number]
        shown.labels += labels
        shown.node[records] = first + children
        for child in range(len(labels)):
            shown.records[first + child] = records[children == child]

    def table(self, target: str, classes: pa.Array) -> pa.Table:
        """Return what is published, with records in their common order."""
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(shown.node), pa.array(shown.labels, pa.string())).cast(
                pa.string()
            )
            for name, shown in self.shown.items()
        }
        return pa.table({**columns, target: classes})


def _covers_children(children: Ints, records: int, many: int) -> bool:
    """Return whether every record has one of this many children."""
    return children.shape == (records,) and 0 <= int(children.min()) <= int(children.max()) < many


def _numbered(keys: Ints, bound: int) -> tuple[Ints, Ints]:
    """Return a number for every key, which lies below a bound, and how often each key occurs."""
    if bound > SPARSE * len(keys):
        _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        return place.ravel(), sizes
    counts = np.bincount(keys, minlength=bound)
    number = np.cumsum(counts > 0) - 1
    return number[keys], counts[counts > 0]


FEW_CHILDREN = 256  # this many have numbers of one byte
HALF_WAY = 50  # rounds after which half of the progress is shown; the total is unknown


@dataclass(frozen=True, eq=False)
class SplitMessage:
    """How the winner of a round splits the records of one of its nodes."""

    round: int
    winner: str
    attribute: str
    node: int
    labels: list[str]
    children: Ints


class SpecializationRounds:
    """What one party does until nobody has a candidate left.

    Parameters
    ----------
    me : the name of this party.
    parties : the connections to the others; None if there are none.
    partition : the common state.
    own : the attributes of this party, by name.
    """

    def __init__(
        self, me: str, parties: Parties | None, partition: EquivalenceClasses, own: dict[str, LocalAttribute]
    ) -> None:
        self.me, self.parties, self.partition, self.own = me, parties, partition, own
        self.order = {name: place for place, name in enumerate(own)}
        self.candidates: list[SpecializationCandidate] = []
        for attribute in own.values():
            self._update_candidates(attribute, [0])
        self._find: Callable[[int], int | None] = lambda score: 0 if score else None
        if parties is not None:
            from sfumato.fusion.secure.comparison import MaximumSession

            self._find = MaximumSession(parties).find

    def run(self, progress: Progress) -> list[Disclosure]:
        """Specialize until nobody has a candidate left."""
        names = (self.me,) if self.parties is None else self.parties.names
        transcript: list[Disclosure] = []
        while True:
            best = self._best()
            winner = self._find(0 if best is None else _score_bits(best.score))
            if winner is None:
                return transcript
            number = len(transcript) + 1
            if names[winner] == self.me:
                if best is None:
                    raise ProtocolError(
                        "The maximum names this party, but it has no candidate; start again at all parties."
                    )
                learned = self._lead(best, number)
            else:
                learned = self._follow(names[winner], number)
            transcript.append(learned)
            groups = sum(len(shown.records) for shown in self.partition.shown.values())
            done = number / (number + HALF_WAY)
            progress(done, f"round {number:,}: {learned.winner} specializes {learned.attribute}, {groups:,} nodes")

    def _best(self) -> SpecializationCandidate | None:
        """Find the best candidate that meets all requirements; one that does not never will, so it is dropped."""
        while self.candidates:
            best = self.candidates[-1]
            records = self.partition.shown[best.attribute].records[best.number]
            if self.partition.allows_split(best.attribute, records, self.own[best.attribute].children(best, records)):
                return best
            self.candidates.pop()
        return None

    def _lead(self, best: SpecializationCandidate, number: int) -> Disclosure:
        """Specialize the winning node, and tell the others which record goes to which child."""
        attribute = self.own[best.attribute]
        records = self.partition.shown[best.attribute].records[best.number]
        children = attribute.children(best, records)
        labels = [attribute.label(part) for part in best.parts]
        if self.parties is not None:
            self.parties.broadcast(
                "specialize",
                attribute=best.attribute,
                node=best.number,
                labels=[label.encode() for label in labels],
                children=children.astype(np.uint8 if len(labels) <= FEW_CHILDREN else np.int32),
            )
        self.candidates.remove(best)
        learned = self._split(SplitMessage(number, self.me, best.attribute, best.number, labels, children))
        self._update_candidates(attribute, list(attribute.specialize(best)))
        return learned

    def _follow(self, winner: str, number: int) -> Disclosure:
        """Learn from the winner which record goes to which child."""
        assert self.parties is not None  # noqa: S101 - without others nobody else wins
        told = self.parties.receive(winner, "specialize")
        attribute = told.text("attribute")
        if self.partition.owners.get(attribute) != winner:
            raise ProtocolError(f"Party {winner!r} specializes an attribute that is not its own; nothing is published.")
        labels = [label.decode("utf-8", "replace") for label in told.blobs("labels")]
        dtype = "u1" if len(labels) <= FEW_CHILDREN else "i4"
        children = told.array("children", dtype=dtype).astype(np.int64)
        most = len(self.partition.shown[attribute].labels)
        node = told.integer("node", least=0, most=most)
        return self._split(SplitMessage(number, winner, attribute, node, labels, children))

    def _split(self, told: SplitMessage) -> Disclosure:
        """Split the records of a node as its owner says."""
        shown = self.partition.shown[told.attribute]
        before = shown.labels[told.node] if told.node < len(shown.labels) else ""
        self.partition.split(told.attribute, told.node, told.labels, told.children)
        counts = np.bincount(told.children, minlength=len(told.labels))
        return Disclosure(
            round=told.round,
            winner=told.winner,
            attribute=told.attribute,
            node=before,
            children=tuple(told.labels),
            records=tuple(counts.tolist()),
        )

    def _update_candidates(self, attribute: LocalAttribute, numbers: list[int]) -> None:
        """Add nodes that are worth specializing; the best is last, among equals the first attribute's first node."""
        found = (attribute.candidate(number) for number in numbers)
        self.candidates += [each for each in found if each is not None]
        self.candidates.sort(key=lambda each: (each.score, -self.order[each.attribute], -each.number))


def _score_bits(score: float) -> int:
    """Return a 64-bit whole number for a positive score; greater scores have greater numbers."""
    return int(struct.unpack(">Q", struct.pack(">d", score))[0])
