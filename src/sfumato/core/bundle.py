"""What every kind of release has: a table, what was found of it, what it lost, what made it, and a way to write it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sfumato._locale.messages import LocalizedText
from sfumato._progress import Progress, open_progress
from sfumato.report.page import Page
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit
from sfumato.tables.models.base import GroupModel

if TYPE_CHECKING:
    from sfumato.core.writing import BundleContent
    from sfumato.report.measurements import ReleaseMeasurements


# What a release hands over to be written.

Recorded: TypeAlias = Callable[[Path], AbstractContextManager[Callable[[Path], None]]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReleaseBundle:
    """A release as it is written, whatever made it.

    Parameters
    ----------
    evidence : the published table and, where it is known, the original.
    models : what is promised.
    audit : the audit of the published table.
    metrics : what the release has lost.
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


class AuditSummary(Protocol):
    """What was found of a published table: an `Audit`, or what takes its place where no model is promised."""

    @property
    def holds(self) -> bool:
        """Whether everything that is promised holds."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        ...


class RecipeText(Protocol):
    """What made a release, so that it can be made again."""

    def to_toml(self) -> str:
        """Write it as TOML."""
        ...


@runtime_checkable
class PublishedRelease(Protocol):
    """A release, whatever made it: an anonymized or fused table, recoded later rows, synthetic records.

    `sfumato.testing.releases` checks what a type cannot say: what the written folders hold, and that what receivers are
    told is true of the file.
    """

    @property
    def frame(self) -> Any:
        """The published table, of the caller's dataframe kind."""
        ...

    @property
    def audit(self) -> AuditSummary:
        """What was found of the published table."""
        ...

    @property
    def metrics(self) -> Mapping[str, float]:
        """What the release has lost, by name."""
        ...

    @property
    def recipe(self) -> RecipeText:
        """What made the release."""
        ...

    def figures(self) -> Mapping[str, Any]:
        """Return what `compare` puts beside other releases, as plain values that the report tells, too."""
        ...

    def report(self, language: str | None = None) -> Page:
        """Return the internal report without writing anything; a notebook shows it."""
        ...

    def write(
        self,
        folder: str | PathLike[str],
        *,
        table_format: str = "csv",
        replace: bool = False,
        excel_safe: bool = False,
        report: bool = True,
        progress: Progress | bool = False,
    ) -> None:
        """Write `public/`, which is safe to share, and `internal/`, which must be kept private."""
        ...


class WritableRelease(ABC):
    """A release that is written into two folders, whatever it is written from."""

    @abstractmethod
    def _bundle_content(self, *, excel_safe: bool, report: bool) -> BundleContent:
        """Say what is to be written, and how its file is judged."""

    def write(
        self,
        folder: str | PathLike[str],
        *,
        table_format: str = "csv",
        replace: bool = False,
        excel_safe: bool = False,
        report: bool = True,
        progress: Progress | bool = False,
    ) -> None:
        """Write `public/`, which is safe to share, and `internal/`, which must be kept private.

        The table is read back from its file and judged again before anything is put in place.

        Parameters
        ----------
        folder : is made; refused if it holds anything, unless `replace`.
        table_format : `"csv"`, `"parquet"` or `"xlsx"`.
        replace : whether an older release there may be replaced.
        excel_safe : whether cells that a spreadsheet would execute are written with an apostrophe in front.
        report : whether to write the internal report, which takes most of the time.
        progress : True shows a bar; a function is told the share of the writing that is done.

        Raises
        ------
        GuaranteeViolatedError
            The file, read back, does not keep the promise or is not what was judged; nothing is written.
        """
        from sfumato.core.writing import write_release

        with open_progress(progress, "Writing") as tell:
            write_release(
                folder,
                self._bundle_content(excel_safe=excel_safe, report=report),
                table_format=table_format,
                replace=replace,
                excel_safe=excel_safe,
                report=report,
                progress=tell,
            )


class AuditedRelease(WritableRelease):
    """A release that is written and judged by what it hands over."""

    @abstractmethod
    def _bundle(self) -> ReleaseBundle:
        """Hand over what is to be written."""

    @cached_property
    def measurements(self) -> ReleaseMeasurements:
        """What the report tells, part by part: risk, attacks, exposure, distributions, utility.

        What was asked for once is not computed again when the release is written.
        """
        from sfumato.report.measurements import ReleaseMeasurements

        return ReleaseMeasurements(self._bundle())

    def _bundle_content(self, *, excel_safe: bool, report: bool) -> BundleContent:
        from sfumato.core.writing import make_content

        return make_content(self.measurements, excel_safe=excel_safe, report=report)

    def figures(self) -> Mapping[str, Any]:
        """Return what `compare` puts beside other releases, as plain values that the report tells, too."""
        from sfumato.report.facts import comparison_facts

        return comparison_facts(self.measurements)

    def report(self, language: str | None = None) -> Page:
        """Return the internal report without writing anything; a notebook shows it.

        It is the page that `write` puts into `internal/`: keep it as private as the original. `language` is `"en"` or
        `"zh"`, by default what the recipe says.
        """
        from sfumato.core.writing import report_page

        return report_page(self.measurements, language)
