r"""SUDA: special uniques, the records that few attributes already single out.

A *minimal sample unique* of a record is a set of attributes on which no other record agrees with it, while on every
smaller part of the set some other does. Many small ones make a record more likely to be unique in the population [1]_.

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

from sfumato.judging.risk.estimators import check_fraction
from sfumato.judging.risk.record_groups import Flags, RecordGroups, check_largest, patterns_of

Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SpecialUniques:
    """The minimal sample uniques of every record, scored.

    Parameters
    ----------
    largest : up to which size minimal sample uniques were looked for.
    records : how many records have at least one.
    by_size : how many minimal sample uniques of every size there are.
    shares : for every quasi-identifier, the share of the scores of all minimal sample uniques that it is part of.
    dis : the data intrusion simulation: the chance that a unique match is right; None without a sampling fraction.
    highest_dis : the greatest of the `dis_scores`.
    scores : the score of every record, in the order of the table without its suppressed records.
    dis_scores : the chance that a match with this record is right, for every record.
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

    Of $V$ attributes and up to size $M$, a minimal sample unique of size $s$ counts $\prod_{i=s}^{M-1} (V - i)$, which
    is $(V-s)!$ if $M = V$. A missing cell belongs to no minimal sample unique, so that it makes nobody unique. The
    chances are those of `dis_suda`.

    Every subset of the attributes up to the size is grouped once, so time grows linearly with the records and with
    the number of subsets.

    Parameters
    ----------
    groups : the records of a table.
    largest : the greatest size of a minimal sample unique.
    fraction : the sampling fraction, in (0, 1]; None where it is not known.
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
        support = _support(groups)
        pairs = int(np.count_nonzero((groups.sizes == 2) & (support == 2)))  # noqa: PLR2004 - two records alike
        dis = data_intrusion(int(np.count_nonzero(support == 1)), pairs, fraction)
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


def data_intrusion(uniques: int, pairs: int, fraction: float) -> float:
    r"""Return the chance that a unique match is right: $\pi U / (\pi U + (1-\pi)\,2 D)$.

    $U$ records of the sample are unique, $D$ pairs of records are alike, and a share $\pi$ of the population is
    sampled.

    >>> round(data_intrusion(4, 1, 0.1), 6)
    0.181818
    """
    check_fraction("data_intrusion", fraction)
    right = fraction * uniques
    return right / (right + (1 - fraction) * 2 * pairs) if right else 0.0


def dis_suda(scores: Floats, uniques: int, dis: float, columns: int) -> Floats:
    r"""Spread the chance of a right match over records by their scores.

    It is $1 / \bigl(1 + (U / \mathrm{DIS} - U) / (s_i^Q \sum_j s_j^{-Q})\bigr)$ with $Q = 1 + (8 - V)/20$, but at
    least 0, where $V$ is the number of attributes. A record without a score has the chance 0.
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

    `known` tells for every subset of the last size which groups it or a part of it makes unique. Groups of several
    records never are, so one row stands for each of them.
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
    """Return which of the groups asked for agree with no other record on some columns, none of which they miss."""
    complete = reduce(np.logical_and, (~groups.lost[j] for j in chosen if groups.lost[j].any()), asked)
    if not complete.any():
        return complete
    labels, sizes = groups.united(chosen)
    return np.asarray(complete & (sizes == 1)[labels])


def _support(groups: RecordGroups) -> npt.NDArray[np.int64]:
    """Count for every group the records that agree with it on all columns that it does not miss."""
    support = np.full(len(groups.sizes), groups.records, dtype=np.int64)
    for mine, pattern in patterns_of(groups.lost):
        chosen = np.flatnonzero(~pattern).tolist()
        if chosen:
            labels, sizes = groups.united(chosen)
            support[mine] = sizes[labels[mine]]
    return support
