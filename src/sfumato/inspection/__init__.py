"""Propose a description: roles and scales for the columns of a raw table, with reasons, and its risk.

`inspect_columns` looks at names, types and distinct values, and at how well each column distinguishes people. Its
result contains column names, counts and shares, but no cell values.
"""

from __future__ import annotations

from sfumato.inspection.detect import ColumnProposal, Inspection, inspect_columns
from sfumato.inspection.raw_risk import RawTableRisk

__all__ = ["Inspection", "ColumnProposal", "RawTableRisk", "inspect_columns"]
