"""What every masking step provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import pyarrow as pa

from sfumato._locale.messages import LocalizedText, quote_names
from sfumato._randomness import KeyedRandom
from sfumato._validation import require, suggest_closest
from sfumato.errors import SchemaError


@dataclass(frozen=True, kw_only=True)
class StepDescription:
    """What reports say about a step: what it promises, and what it leaves open."""

    promise: str
    open: str


class MaskingStep(ABC):
    """A method that changes or hides single cells of some columns, row by row, and leaves everything else alone.

    Facts: `words` say what the step promises and what not; `random` says whether a secret is drawn from; `covers` says
    whether every cell still contains the value that it stands for, so that it can be compared with the original;
    `hides` says whether it hides cells of what is about to be published, after every other step and every recoding.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    description: ClassVar[StepDescription]
    hides: ClassVar[bool] = False
    private: ClassVar[tuple[str, ...]] = ()  # parameters that receivers are not told

    @property
    @abstractmethod
    def attributes(self) -> tuple[str, ...]:
        """The columns that the step changes."""

    @property
    def random(self) -> bool:
        """Whether the step draws from a secret."""
        return False

    @property
    def covers(self) -> bool:
        """Whether every cell still contains the value that it stands for."""
        return False

    @abstractmethod
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Return a table of the same rows and columns with the step's columns masked.

        Parameters
        ----------
        table : a table of canonical types.
        stream : where bits come from that nobody can repeat.
        """

    @abstractmethod
    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure what the step changed, row by row; for the owner alone."""

    def warnings(self, before: pa.Table, after: pa.Table, measures: Mapping[str, float]) -> tuple[str, ...]:  # noqa: ARG002 - some steps warn by them
        """Say what the owner should know about what the step did, without any cell value."""
        if all(before[name].equals(after[name]) for name in self.attributes):
            return (
                LocalizedText(
                    "masking.warnings.unchanged", name=type(self).__name__, columns=quote_names(self.attributes)
                ),
            )
        return ()

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the step, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every step is a dataclass
        return {name: value for name, value in named.items() if value is not None and value != ()}

    def public_parameters(self) -> dict[str, object]:
        """Return the parameters that receivers may know: those that the data had no part in."""
        return {name: value for name, value in self.parameters().items() if name not in self.private}

    def check_columns(self, table: pa.Table) -> None:
        """Refuse columns that the table does not have."""
        for name in self.attributes:
            if name not in table.column_names:
                hint = suggest_closest(name, table.column_names) or "; name a column of the table."
                raise SchemaError(f"{type(self).__name__} names {name!r}, which is not in the table{hint}")


@dataclass(frozen=True, kw_only=True)
class ColumnsStep(MaskingStep):
    """A step that changes the columns in its parameter `columns`."""

    columns: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", check_names(self, "columns", self.columns))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that the step changes."""
        return tuple(self.columns)


def check_names(owner: object, parameter: str, given: object) -> tuple[str, ...]:
    """Refuse anything but a list of different names, at least one."""
    names = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    good = all(isinstance(each, str) for each in names) and 0 < len(set(names)) == len(names)
    require(good, owner, parameter, "a list of different names", given)
    return names


def format_names(names: Sequence[str]) -> str:
    """Write column names in a row."""
    return ", ".join(repr(name) for name in names)


def replace_columns(table: pa.Table, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """Return a table with some columns replaced."""
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def changed_share(before: pa.Table, after: pa.Table, names: Sequence[str]) -> float:
    """Return the share of the cells of some columns that are not what they were."""
    from sfumato.io._values import equal_texts

    same = sum(equal_texts(before[name], after[name]).true_count for name in names)
    cells = before.num_rows * len(names)
    return float((cells - same) / max(1, cells))
