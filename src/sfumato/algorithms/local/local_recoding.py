"""Local recoding: every group is published with nodes of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.algorithms.local.searching import RegroupingSearch
from sfumato.algorithms.publishing import label_single_group, merge_identical_groups
from sfumato.core.publication import TableSolution


@dataclass(frozen=True, kw_only=True)
class LocalRecoding(TableAlgorithm):
    r"""Publish every group with the lowest nodes above its records, and search for groups with a small `Loss`.

    First, boxes are opened, each a node of every hierarchy: again and again the one whose records are worth most beyond
    its price. Worths say which records are hard to group; they come from the Lagrangian relaxation of covering all
    records by boxes. The rest is merged where it is cheapest: combinations of levels are visited in the order of what
    their nodes cost, and records that share all nodes with enough others form a group with them. Recoding the rest
    again and again is what ARX does [1]_; here all combinations are visited (for the largest lattices, a selection),
    and nothing is left: at the end, invalid groups join their nearest neighbors. Then groups are improved: a record
    moves to another group, two records are swapped, a group is dissolved, split, or rebuilt around one of its members
    with records that larger groups can spare. Every change is checked against all models. Unless the result is close to
    what is possible, all of this is also tried without opening boxes, and the better result is published.

    The release says a loss below which no local recoding of the table exists: the sum of what records cost in their
    cheapest boxes, or that of worths which no box exceeds, checked on all boxes.

    An attribute with a hierarchy is published with its nodes, one without by its value or `*`. Nothing is suppressed,
    records with equal quasi-identifiers may be published differently, and nothing is random: the same table gives the
    same groups. The work grows about linearly with the records.

    References
    ----------
    .. [1] Prasser, Eicher, Spengler, Bild, Kuhn, "Flexible data anonymization using ARX", Software: Practice and
       Experience 50(7), 2020. https://doi.org/10.1002/spe.2812
    """

    name = "local-recoding"
    reference = "Prasser, Eicher, Spengler, Bild, Kuhn 2020, https://doi.org/10.1002/spe.2812"
    needs_monotone = "always"
    suppresses = False

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            return label_single_group(task)
        search = RegroupingSearch(task)
        grouping, proof = search.run()
        trees = search.trees
        shown, group = np.unique(grouping.label, return_inverse=True)
        recoded = {j: trees.recode(i, grouping.box[shown, i]) for i, j in enumerate(trees.columns)}
        publication = merge_identical_groups(
            group.ravel().astype(np.int32), {column.name: recoded[j] for j, column in enumerate(quasi)}
        )
        return replace(publication, proof=proof)
