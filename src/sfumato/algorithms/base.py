"""What an algorithm is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from sfumato.coding.codes import CodedTable
from sfumato.core.progress import Progress, silent
from sfumato.core.publication import Publication
from sfumato.models.base import PrivacyModel
from sfumato.randomness import Stream
from sfumato.schema.missing import Missing


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What an algorithm is asked for.

    Parameters
    ----------
    table : the coded records.
    models : the promises that every published group must keep.
    most_suppressed : how many records may be left out.
    missing : what a missing value means.
    rng : where random choices of the search come from that hide nobody.
    stream : where random choices come from that hide somebody, such as who is in which bucket.
    progress : is told the share of the work that is done, in [0, 1], and a note on how it stands.
    """

    table: CodedTable
    models: Sequence[PrivacyModel]
    most_suppressed: int
    missing: Missing
    rng: np.random.Generator
    stream: Stream = field(default_factory=Stream)
    progress: Progress = silent


class Algorithm(ABC):
    """A search for a publication that keeps all models. It has no privacy parameters of its own."""

    name: ClassVar[str]
    reference: ClassVar[str]

    @abstractmethod
    def search(self, task: Task) -> Publication:
        """Find what to publish."""

    @property
    def ignores_row_order(self) -> bool:
        """Whether rows in another order are published alike; if not, they are put in a fixed order first."""
        return False

    @property
    def suppresses(self) -> bool:
        """Whether the search may leave records out; if not, a group of all records must keep every monotone model."""
        return True

    @property
    def guides(self) -> tuple[str, ...]:
        """Columns besides quasi-identifiers that the search looks at, such as a class to be predicted."""
        return ()

    @property
    def centers(self) -> bool:
        """Whether quasi-identifiers are published as values that stand for a whole group, instead of covering it."""
        return False

    def refusal(self, task: Task) -> str | None:
        """Say in one sentence why the algorithm cannot serve this task, or nothing."""
        name = type(self).__name__
        if task.table.flags:
            columns = ", ".join(repr(column) for column in task.table.flags)
            return f"{name} cannot protect single sensitive cells (of {columns}); drop Schema.flags."
        for model in task.models:
            if model.needs_population:
                return f"{name} cannot search for {model!r}, which needs a population table; give one to the audit."
        return None

    def parameters(self) -> dict[str, object]:
        """List the parameters that the algorithm was made with, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every algorithm is a dataclass
        return {name: value for name, value in named.items() if value is not None}
