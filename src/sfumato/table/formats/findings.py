"""What a reader finds out about a file besides its table."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class FileFindings:
    """Options that were found out and used, sentences that the owner should know, and what the file calls columns.

    `proposing` says whether what is likely is adopted and told, instead of refused until it is stated.
    """

    options: dict[str, object] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    proposing: bool = False
