"""The server of local differential privacy: it sees only reports, and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato._validation import check_confidence
from sfumato.errors import SchemaError
from sfumato.local_dp.mechanisms.base import Estimate, LocalMechanism, Tally

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column


class LocalServer:
    """Tally reports and estimate what clients have; single reports are not kept.

    Parameters
    ----------
    mechanism : the mechanism agreed with the clients.

    Examples
    --------
    >>> from sfumato.local_dp.mechanisms.base import simulate_reports
    >>> from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
    >>> oue = OptimizedUnaryEncoding(epsilon=2, values=["flu", "cold", "gastritis"])
    >>> server = LocalServer(oue)
    >>> server.add(simulate_reports(oue, ["flu"] * 8000 + ["cold"] * 2000, secret="5f" * 32))
    >>> server.reports
    10000
    >>> abs(server.estimate().counts[0] - 8000) < 500
    np.True_
    """

    def __init__(self, mechanism: LocalMechanism) -> None:
        self.mechanism = mechanism
        self.reports = 0
        self._tally: Tally | None = None

    def add(self, reports: Column) -> None:
        """Count one report, or many as rows; if one of them is invalid, nothing is counted."""
        rows: Any = self.mechanism.validate_reports(reports)
        if not len(rows):
            return
        counted = self.mechanism.tally(rows)
        self._tally = counted if self._tally is None else self._tally + counted
        self.reports += len(rows)

    def merge(self, other: LocalServer) -> None:
        """Add the tally of another server."""
        if other.mechanism != self.mechanism:
            raise SchemaError("The other server has reports of another mechanism; the two cannot be added.")
        if other._tally is not None:
            self._tally = other._tally if self._tally is None else self._tally + other._tally
            self.reports += other.reports

    def estimate(self, *, confidence: float = 0.95) -> Estimate:
        """Estimate, with intervals that each contain the truth with this confidence."""
        check_confidence(self, confidence)
        if self._tally is None:
            raise SchemaError("No reports arrived; there is nothing to estimate.")
        return self.mechanism.estimate(self._tally, self.reports, confidence)

    def __repr__(self) -> str:
        return f"LocalServer({self.mechanism.name}, {self.reports:,} reports)"
