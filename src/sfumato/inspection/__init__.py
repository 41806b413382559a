"""Propose a description: roles and scales for the columns of a raw table, with reasons, and its risk.

`inspect` looks at names, types and distinct values and at how far each column tells people apart. What it
says holds column names, counts and shares, never a cell value.
"""

from __future__ import annotations

from sfumato.inspection.detect import Inspection, Proposal, inspect
from sfumato.inspection.raw_risk import RawRisk

__all__ = ["Inspection", "Proposal", "RawRisk", "inspect"]
