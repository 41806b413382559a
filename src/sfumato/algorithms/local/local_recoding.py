"""Local recoding: every group is published by nodes of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.improving import improvements
from sfumato.algorithms.local.judging import Judge
from sfumato.algorithms.local.starting import gathered, settled
from sfumato.algorithms.local.trees import UNIT, Trees
from sfumato.algorithms.publishing import publish_groups
from sfumato.coding.regrouping.rows import Grouping, regrouper_for
from sfumato.core.publication import Publication

GATHERED, SETTLED = 0.5, 0.6  # shares of the work


@dataclass(frozen=True, kw_only=True)
class LocalRecoding(Algorithm):
    r"""Publish every group by the lowest nodes above its records, and search groups of little `Loss`.

    First, records are united where it is cheapest: combinations of levels are visited in the order of what their
    nodes cost, and whoever shares all nodes with enough others becomes a group with them. Recoding what is
    left, again and again, is what ARX does [1]_; here all combinations are visited (of the largest lattices, a
    choice), and nothing is left: at the end, groups that are not good join their nearest neighbors. Then groups are
    improved: a record moves to another group, two records are swapped, a group is dissolved, split, or formed anew
    around one of its members with records that larger groups can spare. Every change is checked against all models.

    An attribute with a hierarchy is published by its nodes, one without by its value or `*`. Nothing is suppressed,
    records with equal quasi-identifiers may be published differently, and nothing is drawn: the same table gives the
    same groups. Work grows about linearly with the records.

    References
    ----------
    .. [1] Prasser, Eicher, Spengler, Bild, Kuhn, "Flexible data anonymization using ARX", Software: Practice and
       Experience 50(7), 2020. https://doi.org/10.1002/spe.2812
    """

    name = "local-recoding"
    reference = "Prasser, Eicher, Spengler, Bild, Kuhn 2020, https://doi.org/10.1002/spe.2812"

    @property
    def suppresses(self) -> bool:
        """Whether the search may leave records out: it does not."""
        return False

    def refusal(self, task: Task) -> str | None:
        """Refuse flags of sensitive cells, and models for which good parts do not make a good whole."""
        for model in task.models:
            if not model.monotone:
                return (
                    f"LocalRecoding cannot serve {model!r}, because unions of its good groups may be bad; "
                    "use another one."
                )
        return super().refusal(task)

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        quasi = task.table.quasi
        if not quasi:
            task.progress(1.0)
            return publish_groups(np.zeros(task.table.rows, dtype=np.int32), {})
        trees, judge, regrouper = Trees.of(quasi), Judge(task), regrouper_for(task.table.rows)
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
