"""Whether published centers can be true: each lies among the original values of the records it represents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn
from sfumato.coding.domain import Domain
from sfumato.core.published.coverage import place_bounds
from sfumato.core.published.table import PublishedColumn, PublishedTable
from sfumato.schema.scales import Scale

Ints = npt.NDArray[np.int64]
ROUNDING = 1e-9


def count_invalid_centers(published: PublishedTable, at: int, column: CodedColumn, rows: Ints | None) -> int:
    """Count the cells of one quasi-identifier that lie outside the values of their group.

    A number, date or rank must lie between the smallest and largest of the group; any other value must be a member's.

    Parameters
    ----------
    published : the published table.
    at : the index of the column.
    column : the original column.
    rows : the original row of every published row; without it, groups are compared with the whole column.
    """
    shown = published.columns[at]
    if rows is None:
        group, codes = np.zeros(len(column.codes), dtype=np.int64), column.codes.astype(np.int64)
        cells = np.arange(len(shown.texts))
        many = np.bincount(shown.codes, published.weights, minlength=len(cells))
        cell_group = np.zeros(len(cells), dtype=np.int64)
    else:
        group, codes = published.grouped.labels.astype(np.int64), column.codes[rows].astype(np.int64)
        cells, many = published.by_group(shown).astype(np.int64), published.grouped.counts
        cell_group = np.arange(len(published.grouped))
    places = _axis_positions(shown, column.domain)[cells]
    if column.domain.scale.ordered:
        true = _between(places, cell_group, _positions(column.domain)[codes], group)
    else:
        true = _among(places, cell_group, codes, group, len(column.domain) + 1)
    return int(many[~true].sum())


def _axis_positions(shown: PublishedColumn, domain: Domain) -> npt.NDArray[np.float64]:
    """Place the texts of a column on the axis of its domain; NaN if they have no place there."""
    codes = {text: code for code, text in enumerate(domain.texts)}
    found = np.array([codes.get(text or "", np.nan) for text in shown.texts])
    if domain.scale is not Scale.NUMERIC:
        return found
    values = [getattr(label, "value", None) for label in shown.labels]
    known = [i for i, value in enumerate(values) if value is not None]
    places = np.full(len(values), np.nan)
    places[known] = place_bounds([values[i] for i in known], domain)
    return places


def _positions(domain: Domain) -> npt.NDArray[np.float64]:
    return np.append(domain.positions, np.nan)


def _between(
    places: npt.NDArray[np.float64], cell_group: Ints, positions: npt.NDArray[np.float64], group: Ints
) -> npt.NDArray[np.bool_]:
    low, high = np.full(int(group.max()) + 1, np.inf), np.full(int(group.max()) + 1, -np.inf)
    known = ~np.isnan(positions)
    np.minimum.at(low, group[known], positions[known])
    np.maximum.at(high, group[known], positions[known])
    slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))[cell_group]
    return np.asarray((places >= low[cell_group] - slack) & (places <= high[cell_group] + slack))


def _among(
    places: npt.NDArray[np.float64], cell_group: Ints, codes: Ints, group: Ints, width: int
) -> npt.NDArray[np.bool_]:
    wanted = cell_group * width + np.nan_to_num(places, nan=width - 1).astype(np.int64)
    return np.asarray(np.isin(wanted, group * width + codes) & ~np.isnan(places))
