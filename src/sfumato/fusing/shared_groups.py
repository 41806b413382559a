"""The common state of all parties: which records are published alike so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.exceptions import ProtocolError
from sfumato.fusing.requirements import KAnonymityRequirement

Ints = npt.NDArray[np.int64]
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
