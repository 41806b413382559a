"""Records whose missing values go along with any others, because they match all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Task
from sfumato.algorithms.publishing import publish_groups, with_missing
from sfumato.core.publication import MissingCell, Publication, Recoded
from sfumato.exceptions import InfeasibleError
from sfumato.models.base import PrivacyModel
from sfumato.schema.missing import Missing


def missing_rides(models: Sequence[PrivacyModel], missing: Missing) -> bool:
    """Whether missing values may go along with any others without breaking a model."""
    return missing is Missing.MATCHES_ALL and all(model.extendable and not model.scope for model in models)


def without_hollow(task: Task, search: Callable[[Task], Publication]) -> Publication:
    """Search among the records that have a quasi-identifier, and publish those without any as missing throughout.

    A record that is missing everywhere matches everybody, so it hides nobody: groups must keep the models without it.
    """
    columns = task.table.quasi
    if not columns or not missing_rides(task.models, task.missing):
        return search(task)
    hollow = np.logical_and.reduce([column.codes == column.domain.missing for column in columns])
    if not hollow.any():
        return search(task)
    rest = np.flatnonzero(~hollow)
    if not len(rest):
        task.progress(1.0)
        lost = Recoded((MissingCell(),), np.zeros(1, dtype=np.int32))
        return publish_groups(np.zeros(task.table.cases, dtype=np.int32), {column.name: lost for column in columns})
    known = replace(task, table=task.table.take(rest))
    _refuse_impossible(known, task.table.rows)
    return _joined(search(known), rest, task.table.cases)


def _refuse_impossible(task: Task, records: int) -> None:
    whole = task.together(task.table, task.table.sensitive)
    for model in task.models:
        if not model.kept_by(whole)[0]:
            raise InfeasibleError(
                f"All records with any quasi-identifier ({task.table.rows:,} of {records:,}) break "
                f"{model!r} as one group, and the others hide nobody; ask for less or drop the others."
            )


def _joined(found: Publication, rest: npt.NDArray[np.intp], cases: int) -> Publication:
    """Add a group of all records that are missing everywhere to what is published of the others."""
    groups = int(found.group.max()) + 1
    group = np.full(cases, groups, dtype=np.int32)
    group[rest] = found.group
    recoded = {
        name: Recoded(with_missing(each.labels), np.append(each.by_group, len(each.labels)).astype(np.int32))
        for name, each in found.recoded.items()
    }
    return publish_groups(group, recoded)
