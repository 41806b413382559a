"""What the columns of a table tell about each other: codes of something sensitive tell the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sfumato.schema.roles import Role
from sfumato.tables.inspection._profiles import CellType, ValueProfile
from sfumato.tables.inspection._roles import MIN_RECORDS, ProposedRole, Reason

DOUBTS = {"unknown", "says-little"}


class ColumnSummary(NamedTuple):
    """What is kept of a column while the others are looked at."""

    name: str
    kind: CellType
    distinct: int
    filled: int
    role: ProposedRole

    @classmethod
    def of(cls, column: ValueProfile, role: ProposedRole) -> ColumnSummary:
        """Keep what is needed of a column."""
        return cls(column.name, column.kind, column.distinct, column.filled, role)

    @property
    def is_doubtful(self) -> bool:
        """Whether nothing shows what its texts or numbers are, so that it is a quasi-identifier only to be safe."""
        coded = self.kind in {CellType.TEXT, CellType.WHOLE} and self.role.role is Role.QUASI
        return coded and self.filled >= MIN_RECORDS and any(each.code in DOUBTS for each in self.role.reasons)


def revise_roles(columns: Sequence[ColumnSummary], correspond: Callable[[str, str], bool]) -> dict[str, ProposedRole]:
    """Return the roles that doubtful columns get when the other columns are considered, by name.

    A column whose values correspond one to one to those of a sensitive one, such as its codes, tells the same.

    Parameters
    ----------
    columns : what was seen of every column.
    correspond : whether the values of two columns, given by name, correspond one to one.
    """
    found = {}
    for column in (each for each in columns if each.is_doubtful):
        alike = (each for each in columns if each.role.role is Role.SENSITIVE and 1 < each.distinct == column.distinct)
        other = next((each for each in alike if correspond(column.name, each.name)), None)
        if other is not None:
            found[column.name] = ProposedRole(Role.SENSITIVE, (Reason("corresponds", other=other.name),))
    return found
