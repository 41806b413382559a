"""What every algorithm provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from sfumato.coding.codes import CodedColumn, CodedTable
from sfumato.core.groups import Groups
from sfumato.core.progress import Progress, silent
from sfumato.core.publication import Publication
from sfumato.models.base import PrivacyModel
from sfumato.randomness import Stream
from sfumato.schema.missing import Missing


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What an algorithm is asked to do.

    Parameters
    ----------
    table : the coded records.
    models : the promises that every published group must keep.
    most_suppressed : the largest number of records that may be suppressed.
    missing : how missing values are read.
    rng : where random choices of the search come from that hide nobody.
    stream : where random choices come from that hide somebody, such as who is in which bucket.
    progress : is called with the share of the work done, in [0, 1], and a note on its state.
    """

    table: CodedTable
    models: Sequence[PrivacyModel]
    most_suppressed: int
    missing: Missing
    rng: np.random.Generator
    stream: Stream = field(default_factory=Stream)
    progress: Progress = silent

    @property
    def watched(self) -> tuple[CodedColumn, ...]:
        """The sensitive attributes that models read."""
        names = {name for model in self.models for name in model.attributes}
        return tuple(column for column in self.table.sensitive if column.name in names)

    @property
    def smallest_group(self) -> int:
        """A size below which no group is good."""
        return max((model.smallest_group for model in self.models), default=1)

    def whole(self) -> Groups:
        """Count all records as one group."""
        return Groups.from_rows(np.zeros(self.table.rows, dtype=np.int32), 1, self.watched, self.missing)


class Algorithm(ABC):
    """A search for a publication that keeps all models. It has no privacy parameters of its own.

    `needs_monotone` tells that it relies on unions of good groups being good.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    needs_monotone: ClassVar[bool] = False

    @abstractmethod
    def search(self, task: Task) -> Publication:
        """Find what to publish."""

    @property
    def ignores_row_order(self) -> bool:
        """Whether the order of the rows has no effect on the result; if it has, they are put in a fixed order first."""
        return False

    @property
    def guides(self) -> tuple[str, ...]:
        """Columns besides quasi-identifiers that the search looks at, such as a class to predict."""
        return ()

    @property
    def centers(self) -> bool:
        """Whether quasi-identifiers are published as values that represent a whole group instead of covering it."""
        return False

    def refusal(self, task: Task) -> str | None:
        """Return in one sentence why the algorithm does not support this task, or nothing."""
        name = type(self).__name__
        for model in task.models:
            if self.needs_monotone and not model.monotone:
                return (
                    f"{name} does not support {model!r}, because merging valid groups can break it; "
                    "use another algorithm."
                )
        if task.table.flags:
            columns = ", ".join(repr(column) for column in task.table.flags)
            return f"{name} cannot protect single sensitive cells (of {columns}); drop Schema.flags."
        for model in task.models:
            if model.needs_population:
                return f"{name} cannot search for {model!r}, which needs a population table; give one to the audit."
        return None

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the algorithm, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every algorithm is a dataclass
        return {name: value for name, value in named.items() if value is not None}
