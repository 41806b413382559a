"""Local recoding: every group is published with nodes of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.improving import improvements
from sfumato.algorithms.local.judging import Judge
from sfumato.algorithms.local.starting import gathered, settled
from sfumato.algorithms.local.trees import UNIT, QuasiTrees
from sfumato.algorithms.publishing import publish_groups, publish_one_group
from sfumato.coding.regrouping.rows import Grouping, regrouper_for
from sfumato.core.publication import Publication

GATHERED, SETTLED = 0.5, 0.6  # shares of the work


@dataclass(frozen=True, kw_only=True)
class LocalRecoding(Algorithm):
    r"""Publish every group with the lowest nodes above its records, and search for groups with a small `Loss`.

    First, records are merged where it is cheapest: combinations of levels are visited in the order of what their nodes
    cost, and records that share all nodes with enough others form a group with them. Recoding the rest again and again
    is what ARX does [1]_; here all combinations are visited (for the largest lattices, a selection), and nothing is
    left: at the end, invalid groups join their nearest neighbors. Then groups are improved: a record moves to another
    group, two records are swapped, a group is dissolved, split, or rebuilt around one of its members with records that
    larger groups can spare. Every change is checked against all models.

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

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            return publish_one_group(task)
        trees, judge, regrouper = QuasiTrees.of(quasi), Judge(task), regrouper_for(task.table.rows)
        leaves = trees.places(quasi)
        label = gathered(regrouper, trees, leaves, judge, lambda done: task.progress(GATHERED * done))
        grouping = settled(regrouper, Grouping.of(leaves, trees.forest, label), judge)
        task.progress(SETTLED, _note(grouping))
        for done, grouping in improvements(regrouper, grouping, judge):  # noqa: B020 - each is better than the one before
            task.progress(SETTLED + (1 - SETTLED) * done, _note(grouping))
        task.progress(1.0, _note(grouping))
        shown, group = np.unique(grouping.label, return_inverse=True)
        recoded = {j: trees.recode(i, grouping.box[shown, i]) for i, j in enumerate(trees.columns)}
        return publish_groups(
            group.ravel().astype(np.int32), {column.name: recoded[j] for j, column in enumerate(quasi)}
        )


def _note(grouping: Grouping) -> str:
    rows, width = grouping.leaves.shape
    return f"loss {grouping.loss / (UNIT * rows * width):.4f}"
