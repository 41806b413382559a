"""How close published or synthetic records come to original ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato._randomness import seeded_generator
from sfumato._validation import is_integer, require
from sfumato.io._dataframes import Frame
from sfumato.io._values import Numbers
from sfumato.tables.metrics._paired_columns import numeric_matrices, row_keys, shared_columns, to_arrow_pair

SHARES = (0.01, 0.05, 0.25, 0.5)


@dataclass(frozen=True, kw_only=True)
class ClosestRecordDistances:
    """Distances to the nearest original record, in standard deviations of the original.

    `distances` are quantiles over published records. `baseline` are the same quantiles over original records, to the
    nearest other original: much smaller distances suggest that published records imitate single people.
    `copies` is the share of published records that equal an original in all columns that both tables have.
    """

    columns: tuple[str, ...]
    distances: Mapping[float, float]
    baseline: Mapping[float, float]
    copies: float

    def __repr__(self) -> str:
        lines = [
            f"Nearest originals by {len(self.columns)} columns; {self.copies:.3g} of the records are copies",
            "  share of records  within    between originals",
        ]
        lines += [f"  {share:<16g}  {near:<8.3g}  {self.baseline[share]:.3g}" for share, near in self.distances.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        quantiles = {
            name: {f"{share:g}": value for share, value in getattr(self, name).items()}
            for name in ("distances", "baseline")
        }
        return {**asdict(self), "columns": list(self.columns), **quantiles}


def distance_to_closest_record(
    original: Frame,
    published: Frame,
    *,
    columns: Sequence[str] | None = None,
    most_records: int = 20_000,
    seed: int = 0,
) -> ClosestRecordDistances:
    """Measure how far published or synthetic records are from the nearest original.

    Parameters
    ----------
    original, published : pandas, Polars or Arrow tables.
    columns : the columns that distances are computed on; by default all numbers or dates that both tables have.
    most_records : how many records of each table to look up, chosen at random if there are more.
    seed : makes that choice repeatable.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 60]})
    >>> distance_to_closest_record(table, pa.table({"age": [20, 35]})).copies
    0.5
    """
    from scipy.spatial import KDTree

    good = is_integer(most_records) and most_records >= 1
    require(good, "nearest_originals", "most_records", "a whole number of at least 1", most_records)
    tables = to_arrow_pair(original, published)
    names, first, second = numeric_matrices(*tables, columns)
    shift, scales = first.mean(axis=0), first.std(axis=0)
    scales[scales == 0] = 1.0
    first, second = (first - shift) / scales, (second - shift) / scales
    rng = seeded_generator(seed)
    tree = KDTree(first)
    distances, _ = tree.query(_sample(second, most_records, rng))
    to_others, _ = tree.query(_sample(first, most_records, rng), k=2)
    before, after = row_keys(tables, shared_columns(*tables))
    return ClosestRecordDistances(
        columns=names,
        distances=_quantiles(np.asarray(distances)),
        baseline=_quantiles(np.asarray(to_others)[:, 1]),
        copies=float(np.isin(after, before).mean()),
    )


def _sample(records: Numbers, most: int, rng: np.random.Generator) -> Numbers:
    return records if len(records) <= most else records[rng.choice(len(records), most, replace=False)]


def _quantiles(distances: Numbers) -> dict[float, float]:
    return dict(zip(SHARES, np.quantile(distances, SHARES).tolist(), strict=True))
