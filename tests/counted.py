"""Groups for tests: matrices of counts together with the values that they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.published.groups import Groups

if TYPE_CHECKING:
    from collections.abc import Sequence


def named(matrix: Sequence[Sequence[int]], values: Sequence[str], **options: object) -> Groups:
    """Count nominal values s: groups in rows, values in columns; one column more counts missing values."""
    domain = Domain("s", Scale.NOMINAL, pa.array(values, pa.string()))
    return Groups.from_counts(s=matrix, domains={"s": domain}, **options)


def numeric(matrix: Sequence[Sequence[int]], values: Sequence[object], **options: object) -> Groups:
    """Count ascending numbers or dates s: groups in rows, values in columns; one column more counts missing ones."""
    domain = Domain("s", Scale.NUMERIC, pa.array(values))
    return Groups.from_counts(s=matrix, domains={"s": domain}, **options)
