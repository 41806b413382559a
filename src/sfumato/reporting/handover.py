"""What a release hands over to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.judging.audit.audit import Audit
from sfumato.judging.evidence import AuditContext
from sfumato.models.base import GroupModel
from sfumato.words import LocalizedText

Recorded: TypeAlias = Callable[[Path], AbstractContextManager[Callable[[Path], None]]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReleaseBundle:
    """A release as it is written, whatever made it.

    Parameters
    ----------
    evidence : the published table and, where it is known, the original.
    models : what is promised.
    audit : the audit of the published table.
    measures : what the release has lost.
    recipe : what made the release, as text.
    left_out : columns without a role.
    search : how close to the best the search came, in a sentence, if it can say so.
    internal : further files that must be kept private, by name.
    row_numbers : the numbers that the caller knows the original rows by, if not by their places.
    conventions : how a text file is written, by the options of `sf.write`, and which columns are texts.
    zones : the time zones of columns of moments, which are published in UTC otherwise.
    waiting : how many suppressed records wait for a later release.
    confirm : is called when all is written and before it is moved into place; if it raises, nothing is there.
    recorded : is entered around writing a folder, and gives what is called when all is written and before it is moved
        into place; a ledger knows the release as written when it is left.
    series : tells, when it is asked, what the releases of its series told up to this one, as plain values.
    """

    evidence: AuditContext
    models: tuple[GroupModel, ...]
    audit: Audit
    metrics: Mapping[str, float]
    recipe: str
    left_out: tuple[str, ...] = ()
    search: LocalizedText | None = None
    internal: Mapping[str, str] = field(default_factory=dict)
    row_numbers: npt.NDArray[np.int64] | None = None
    conventions: Mapping[str, Any] = field(default_factory=dict)
    zones: Mapping[str, str] = field(default_factory=dict)
    waiting: int = 0
    confirm: Callable[[], None] | None = None
    recorded: Recorded | None = None
    series: Callable[[], Mapping[str, Any]] | None = None
