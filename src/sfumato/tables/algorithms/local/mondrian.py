"""Mondrian: top-down multidimensional partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato._threads import map_in_threads
from sfumato._validation import require
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._labels import label_ranges, label_sets, label_single_group, merge_identical_groups
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._top_down import MedianPartitioning
from sfumato.tables.published.solution import RecodedAttribute, TableSolution


@dataclass(frozen=True, kw_only=True)
class Mondrian(TableAlgorithm):
    r"""Cut the quasi-identifier space at medians while both sides keep every model [1]_.

    All segments of one depth are cut together: each at its widest attribute that leaves two valid sides. Width is the
    range divided by the range of the domain for numbers and ranks, and the share of leaves under the lowest common
    ancestor for taxonomies, whose cuts separate children of that ancestor. The work grows as $d\,n \log n$ for $n$
    records and $d$ quasi-identifiers. Nothing is suppressed.

    Parameters
    ----------
    strict : whether records with equal quasi-identifiers stay together; relaxed cuts of ordered attributes
        separate them so that both sides have equally many records.
    publish : `"nodes"` publishes the lowest common ancestor of a group's values in a taxonomy; `"sets"` publishes
        the values that occur. Numbers, dates and ranks become intervals, nominal values sets, either way.
    bounds : `"hierarchy"` ends intervals at the bounds of the attribute's hierarchy, where it has one; `"exact"` ends
        them at the least and greatest value of the group, each of which is somebody's own.

    References
    ----------
    .. [1] LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
       https://doi.org/10.1109/ICDE.2006.101
    """

    name = "mondrian"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006, https://doi.org/10.1109/ICDE.2006.101"
    needs_monotone = "always"
    suppresses = False

    strict: bool = True
    publish: Literal["nodes", "sets"] = "nodes"
    bounds: Literal["hierarchy", "exact"] = "hierarchy"

    def __post_init__(self) -> None:
        require(isinstance(self.strict, bool), self, "strict", "true or false", self.strict)
        require(self.publish in {"nodes", "sets"}, self, "publish", "'nodes' or 'sets'", self.publish)
        require(self.bounds in {"hierarchy", "exact"}, self, "bounds", "'hierarchy' or 'exact'", self.bounds)

    @property
    def supports_weights(self) -> bool:
        """Whether equal records may come as one case: relaxed cuts separate them."""
        return self.strict

    @property
    def ignores_row_order(self) -> bool:
        """Whether the order of the rows has no effect: relaxed cuts separate equal values in row order."""
        return self.strict

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            return label_single_group(task)
        cutting = MedianPartitioning(task, strict=self.strict)
        cutting.run()
        group, ranges = cutting.groups(), cutting.ranges()

        def recode(j: int) -> RecodedAttribute:
            if self._as_set(quasi[j].domain):
                return label_sets(quasi[j], group, cutting.leaves)
            low, high, exact = ranges.low[:, j], ranges.high[:, j], self.bounds == "exact"
            return label_ranges(quasi[j].domain, low, high, ranges.missing[:, j], exact=exact)

        columns = map_in_threads(recode, range(len(quasi)), task.table.n_weighted_records)
        recoded = {column.name: each for column, each in zip(quasi, columns, strict=True)}
        return merge_identical_groups(group, recoded)

    def _as_set(self, domain: Domain) -> bool:
        return domain.scale is Scale.NOMINAL or (domain.scale is Scale.CATEGORICAL and self.publish == "sets")
