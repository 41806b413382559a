r"""SUDA: special uniques, the records that few attributes suffice to single out.

A *minimal sample unique* of a record is a set of attributes on which no other record agrees with it, while on every
proper subset some other record does. Many small ones make a record more likely to be unique in the population [1]_.

References
----------
.. [1] Elliot, Manning, Ford, "A computational algorithm for handling the special uniques problem", IJUFKS 10(5), 2002,
   pages 493-509.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.tables.risk._estimators import check_fraction
from sfumato.tables.risk._record_groups import Flags, RecordGroups, check_largest, missing_patterns

Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SpecialUniques:
    """The minimal sample uniques of every record, scored.

    Parameters
    ----------
    largest : the largest size of minimal sample uniques searched for.
    records : the number of records that have at least one.
    by_size : the number of minimal sample uniques of every size.
    shares : for every quasi-identifier, the share of the scores of all minimal sample uniques that contain it.
    dis : the data intrusion simulation: the probability that a unique match is right; None without a sampling fraction.
    highest_dis : the highest of the `dis_scores`.
    scores : the score of every record, in the order of the table without its suppressed records.
    dis_scores : for every record, the probability that a match with it is right.
    """

    largest: int
    records: int
    by_size: dict[int, int]
    shares: dict[str, float]
    dis: float | None
    highest_dis: float | None
    scores: Floats = field(repr=False, compare=False)
    dis_scores: Floats | None = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, without those of single records."""
        return {
            "largest": self.largest,
            "records": self.records,
            "by_size": {str(size): count for size, count in self.by_size.items()},
            "shares": self.shares,
            "dis": self.dis,
            "highest_dis": self.highest_dis,
        }


def special_uniques(groups: RecordGroups, largest: int = 3, fraction: float | None = None) -> SpecialUniques:
    r"""Find all minimal sample uniques up to a size and score every record.

    With $V$ attributes and sizes up to $M$, one of size $s$ counts $\prod_{i=s}^{M-1} (V - i)$, which
    is $(V-s)!$ if $M = V$. A missing cell belongs to no minimal sample unique, so it makes nobody unique. The
    probabilities are those of `dis_suda`.

    Every subset of the attributes up to the size is grouped once, so time grows linearly with the records and with
    the number of subsets.

    Parameters
    ----------
    groups : the records of a table.
    largest : the largest size of a minimal sample unique.
    fraction : the sampling fraction, in (0, 1]; None if it is not known.
    """
    check_largest(largest)
    if fraction is not None:
        check_fraction("special_uniques", fraction)
    columns = len(groups.columns)
    size = min(largest, columns)
    scores, by_size, parts = _search(groups, size)
    labels = groups.grouped.labels
    dis, dis_scores = None, None
    if fraction is not None:
        support = _candidate_counts(groups)
        pairs = int(np.count_nonzero((groups.sizes == 2) & (support == 2)))  # noqa: PLR2004 - two records alike
        dis = data_intrusion_probability(int(np.count_nonzero(support == 1)), pairs, fraction)
        dis_scores = dis_suda(scores, int(np.count_nonzero(support == 1)), dis, columns)[labels]
    total = float(scores.sum())
    return SpecialUniques(
        largest=size,
        records=int(np.count_nonzero(scores)),
        by_size=by_size,
        shares={name: part / total if total else 0.0 for name, part in zip(groups.names, parts, strict=True)},
        dis=dis,
        highest_dis=None if dis_scores is None else float(dis_scores.max()),
        scores=scores[labels],
        dis_scores=dis_scores,
    )


def data_intrusion_probability(uniques: int, pairs: int, fraction: float) -> float:
    r"""Return the probability that a unique match is right: $\pi U / (\pi U + (1-\pi)\,2 D)$.

    $U$ records of the sample are unique, $D$ pairs of records are equal, and a share $\pi$ of the population is
    sampled.

    >>> round(data_intrusion_probability(4, 1, 0.1), 6)
    0.181818
    """
    check_fraction("data_intrusion", fraction)
    right = fraction * uniques
    return right / (right + (1 - fraction) * 2 * pairs) if right else 0.0


def dis_suda(scores: Floats, uniques: int, dis: float, columns: int) -> Floats:
    r"""Distribute the probability of a right match over records by their scores.

    It is $1 / \bigl(1 + (U / \mathrm{DIS} - U) / (s_i^Q \sum_j s_j^{-Q})\bigr)$ with $Q = 1 + (8 - V)/20$, but at
    least 0, where $V$ is the number of attributes. A record without a score has probability 0.
    """
    chances = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or not dis:
        return chances
    power = max(0.0, 1 + (8 - columns) / 20)
    weighted = scores[scored] ** power
    chances[scored] = 1 / (1 + (uniques / dis - uniques) / (weighted * (1 / weighted).sum()))
    return chances


def _search(groups: RecordGroups, largest: int) -> tuple[Floats, dict[int, int], list[float]]:
    """Score every group by its minimal sample uniques, smallest first.

    `known` says for every subset of the previous size which groups it or a subset of it makes unique. Groups of
    several records are never unique, so one row represents each of them.
    """
    columns = len(groups.columns)
    open_ = groups.sizes == 1
    nobody = np.zeros(len(open_), dtype=np.bool_)
    known: dict[Columns, Flags] = {(): nobody}
    scores, parts, by_size = np.zeros(len(open_)), [0.0] * columns, {}
    for size in range(1, largest + 1):
        score = prod(columns - i for i in range(size, largest))
        found, current = 0, {}
        for chosen in combinations(range(columns), size):
            already = reduce(np.logical_or, (known[chosen[:i] + chosen[i + 1 :]] for i in range(size)))
            minimal = _unique(groups, chosen, open_ & ~already)
            if size < largest:
                current[chosen] = already | minimal
            count = int(np.count_nonzero(minimal))
            scores[minimal] += score
            found += count
            for j in chosen:
                parts[j] += count * score
        known, by_size[size] = current, found
    return scores, by_size, parts


def _unique(groups: RecordGroups, chosen: Columns, asked: Flags) -> Flags:
    """Return which of the requested groups agree with no other record on some columns, none of which they miss."""
    complete = reduce(
        np.logical_and, (~groups.missing_cells[j] for j in chosen if groups.missing_cells[j].any()), asked
    )
    if not complete.any():
        return complete
    labels, sizes = groups.merge(chosen)
    return np.asarray(complete & (sizes == 1)[labels])


def _candidate_counts(groups: RecordGroups) -> npt.NDArray[np.int64]:
    """Count for every group the records that agree with it on all columns that it does not miss."""
    support = np.full(len(groups.sizes), groups.records, dtype=np.int64)
    for mine, pattern in missing_patterns(groups.missing_cells):
        chosen = np.flatnonzero(~pattern).tolist()
        if chosen:
            labels, sizes = groups.merge(chosen)
            support[mine] = sizes[labels[mine]]
    return support
