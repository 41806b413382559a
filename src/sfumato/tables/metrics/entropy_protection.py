"""How well sensitivity levels are mixed in groups, and what groups lose: the measures of Shi, Zhang, Dong 2024.

They judge groups before they are published, by levels that only the owner of the data knows; so they are functions,
not measures of a published table.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.tables.models._attribute_values import category_codes
from sfumato.tables.models._distinct_categories import DistinctCategories
from sfumato.tables.published.groups import Groups

Floats = npt.NDArray[np.float64]
ROUNDING = 1e-9


def weighted_level_entropy(
    groups: Groups, sensitive: str, levels: Mapping[str, str | int], weights: Mapping[str, float], *, base: float = 10
) -> Floats:
    r"""Compute the weighted entropy of sensitivity levels of every group, $-\sum_i w_i\,p_i \log p_i$.

    $p_i$ is the share of records of level $i$; a missing value has no level and contributes nothing.

    Parameters
    ----------
    groups : the groups, counted with the domain of the sensitive attribute.
    sensitive : the name of that attribute.
    levels : the level of every value.
    weights : the weight of every level, between 0 and 1, by the text of the level.
    base : the base of the logarithm.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.roles import Scale
    >>> from sfumato.encoding.domain import Domain
    >>> disease = Domain("disease", Scale.NOMINAL, pa.array(["HIV", "cancer", "flu"]))
    >>> groups = Groups.from_counts(disease=[[1, 1, 0], [1, 0, 1]], domains={"disease": disease})
    >>> levels = {"HIV": "high", "cancer": "high", "flu": "low"}
    >>> weighted_level_entropy(groups, "disease", levels, {"high": 0.8, "low": 0.2}, base=2)
    array([0. , 0.5])
    """
    require(is_finite_number(base) and base > 1, "hec", "base", "a number above 1", base)
    names = [str(name) for name in dict.fromkeys(levels.values())]
    known = all(is_finite_number(weights.get(name)) and 0 < weights[name] < 1 for name in names)
    require(known, "hec", "weights", "a number between 0 and 1 for every level", type(weights).__name__)
    owner = DistinctCategories(l=1, sensitive=sensitive, categories=levels)
    counted = groups.histograms[sensitive].merge_values(category_codes(owner, groups, sensitive, levels))
    share = counted.counts / np.maximum(groups.sizes, 1)[counted.rows]
    weight = np.array([*(float(weights[name]) for name in names), 0.0])[counted.codes]
    return counted.reduce(np.add, -weight * share * np.log(share) / np.log(base)) + 0.0


def entropy_privacy_protection(entropies: Floats) -> float:
    """Average the entropies of all groups: the entropy privacy protection of a partition.

    >>> entropy_privacy_protection(np.array([0.0, 0.5]))
    0.25
    """
    require(len(entropies) > 0, "epp", "entropies", "one number for each of at least one group", len(entropies))
    return float(np.mean(entropies))


def privacy_safety_index(entropies: Floats, losses: Floats, *, w1: float = 0.5, w2: float = 0.5) -> Floats:
    r"""Compute the privacy safety index $w_1 \cdot HEC + w_2 / InfoLoss$ of every group; infinite if nothing is lost.

    >>> privacy_safety_index(np.array([0.2, 0.4]), np.array([0.5, 0.0]))
    array([1.1, inf])
    """
    require(is_finite_number(w1) and 0 <= w1 <= 1, "psi", "w1", "a number from 0 to 1", w1)
    require(is_finite_number(w2) and abs(w1 + w2 - 1) <= ROUNDING, "psi", "w2", f"1 - w1 = {1 - w1:g}", w2)
    if w2 == 0:
        return w1 * entropies
    return np.asarray(w1 * entropies + np.divide(w2, losses, out=np.full(len(losses), np.inf), where=losses > 0))


def information_loss_rate(losses: Floats, records: int) -> float:
    """Divide the loss of all groups by the number of records.

    >>> information_loss_rate(np.array([1.0, 2.0]), 6)
    0.5
    """
    require(records > 0, "information_loss_rate", "records", "at least 1", records)
    return float(np.sum(losses) / records)
