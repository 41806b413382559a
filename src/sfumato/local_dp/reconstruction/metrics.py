"""Privacy as an effective length: the width of a uniform distribution that is equally uncertain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.errors import SchemaError
from sfumato.local_dp._exact_sampling import Numbers
from sfumato.local_dp.reconstruction._axes import AttributeAxis, NumericAxis
from sfumato.local_dp.reconstruction.distribution import Reconstruction

CUTS = 1 << 14
TAIL = 1e-10


@dataclass(frozen=True, kw_only=True)
class EntropyPrivacy:
    r"""How uncertain a true value is, before and after its report is seen.

    `before` is $2^{h(X)}$ and `after` is $2^{h(X \mid Z)}$, both in the unit of the values; for categories they are
    effective numbers of values. `loss` is $1 - 2^{-I(X; Z)}$, the share of privacy that a report takes.
    """

    before: float
    after: float

    @property
    def privacy_loss(self) -> float:
        """The share of privacy that a report takes."""
        return 1 - self.after / self.before


def entropy_privacy(reconstruction: Reconstruction) -> EntropyPrivacy:
    r"""Measure $2^{h(X)}$ and $2^{h(X \mid Z)}$ of a single reconstructed attribute [1]_.

    Since noise does not depend on the value, $h(X \mid Z) = h(X) + h(Z \mid X) - h(Z)$.

    References
    ----------
    .. [1] Agrawal, Aggarwal, "On the design and quantification of privacy preserving data mining algorithms", PODS
       2001. https://doi.org/10.1145/375551.375602
    """
    if len(reconstruction.axes) > 1:
        raise SchemaError("Privacy is measured for one attribute at a time; reconstruct it alone.")
    axis, shares = reconstruction.axes[0], reconstruction.shares
    widths = np.diff(axis.edges) if isinstance(axis, NumericAxis) else np.ones(axis.cells)
    own = _entropy(shares, widths)
    after = own + _conditional_entropy(axis, shares) - _report_entropy(axis, shares)
    return EntropyPrivacy(before=2**own, after=2 ** min(after, own))


def _conditional_entropy(axis: AttributeAxis, shares: Numbers) -> float:
    if isinstance(axis, NumericAxis):
        return axis.noise.entropy
    rows = np.array([_entropy(column, np.ones(len(column))) for column in axis.transition_matrix.T])
    return float(shares @ rows)


def _report_entropy(axis: AttributeAxis, shares: Numbers) -> float:
    if not isinstance(axis, NumericAxis):
        return _entropy(axis.transition_matrix @ shares, np.ones(len(axis.transition_matrix)))
    low, high = axis.noise.quantile(np.array([TAIL, 1 - TAIL]))
    cuts = np.linspace(axis.edges[0] + low, axis.edges[-1] + high, CUTS + 1)
    return _entropy(np.maximum(np.diff(axis.probability_below(cuts) @ shares), 0.0), np.diff(cuts))


def _entropy(shares: Numbers, widths: Numbers) -> float:
    """Return the entropy of a distribution that is flat within cells, in bits."""
    held = shares > 0
    return float(-(shares[held] * np.log2(shares[held] / widths[held])).sum())
