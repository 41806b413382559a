"""A release of data of another kind than a table, and how its two folders are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from sfumato import __version__
from sfumato._number_format import format_metric
from sfumato._progress import Progress, open_progress
from sfumato.core._atomic_writes import atomic_folder
from sfumato.core._formatting import json_number
from sfumato.core.audit import Audit
from sfumato.core.model import Model
from sfumato.core.recipe import TypedRecipe
from sfumato.core.writing import PUBLIC, PublicStatement, check_replaceable_folder, write_documents
from sfumato.errors import GuaranteeViolatedError, SfumatoError
from sfumato.report._earlier_releases import warn_about_earlier_releases
from sfumato.report.page import KIND_FORMAT, Page, ReportSection, render_typed_about, render_typed_report

Data = TypeVar("Data")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(ABC, Generic[Data]):
    """Published data with their audit, what they lost, and what made them.

    Parameters
    ----------
    published : what is published.
    audit : what was found of it.
    metrics : what the release has lost, by name.
    recipe : what made the release.
    internal : further texts that must be kept private, by name of file.
    """

    title: ClassVar[str]  # of the pages, such as "baskets"
    published: Data
    audit: Audit
    metrics: Mapping[str, float]
    recipe: TypedRecipe
    internal: Mapping[str, str] = field(default_factory=dict)

    @abstractmethod
    def _write_files(self, folder: Path, table_format: str) -> None:
        """Write what is published into a folder."""

    @abstractmethod
    def _read_files(self, folder: Path) -> Data:
        """Read what was published back from a folder, as a receiver would."""

    @abstractmethod
    def _audit(self, published: Data, models: Sequence[Model[Any]]) -> Audit:
        """Judge published data."""

    @abstractmethod
    def _equals_published(self, read: Data) -> bool:
        """Return whether data that were read back are those that are published."""

    @abstractmethod
    def _describe_files(self, folder: Path) -> Mapping[str, str]:
        """Say of every file in the folder what it holds, by name of file."""

    @abstractmethod
    def _sections(self) -> Sequence[ReportSection]:
        """Return what the internal report tells besides promises, measures and recipe."""

    def report(self) -> Page:
        """Return the internal report without writing anything; a notebook shows it."""
        facts = self._report_facts(self.audit)
        return Page(f"Report on {self.title}", render_typed_report(facts))

    def write(
        self,
        folder: str | PathLike[str],
        *,
        table_format: str = "csv",
        replace: bool = False,
        report: bool = True,
        progress: Progress | bool = False,
    ) -> None:
        """Write `public/`, which is safe to share, and `internal/`, which must be kept private.

        What is published is read back from its files and judged again before anything is put in place.

        Parameters
        ----------
        folder : is made; refused if it holds anything, unless `replace`.
        table_format : the form of the files, `"csv"` or `"parquet"`.
        replace : whether an older release there may be replaced.
        report : whether to write the internal report.
        progress : True shows a bar; a function is told the share of the writing that is done.

        Raises
        ------
        GuaranteeViolatedError
            The files, read back, do not keep the promise or are not what was judged; nothing is written.
        """
        target = Path(folder)
        if replace:
            check_replaceable_folder(target)
        warn_about_earlier_releases(target, self.recipe.to_toml())
        with open_progress(progress, "Writing") as tell, atomic_folder(target, replace=replace) as made:
            (made / PUBLIC).mkdir()
            self._write_files(made / PUBLIC, table_format)
            tell(0.3, "judging the files")
            told = self._audit_files(made / PUBLIC)
            inside = {"recipe.toml": self.recipe.to_toml(), **self.internal}
            write_documents(made, told, inside, report=report, progress=tell)

    def _audit_files(self, folder: Path) -> PublicStatement:
        """Judge the files of a folder, and say what is told about them."""
        models = [verdict.model for verdict in self.audit.verdicts]
        try:
            read = self._read_files(folder)
            audit = self._audit(read, models)
        except SfumatoError as error:
            raise GuaranteeViolatedError(
                f"What is published could not be judged from its files, so nothing was written: {error}"
            ) from None
        if not audit.holds or not self._equals_published(read):
            why = "they read otherwise than what was judged" if audit.holds else "they break the promise"
            raise GuaranteeViolatedError(f"The files were read back, and {why}, so nothing was written.")
        files = [{"name": name, "holds": what} for name, what in self._describe_files(folder).items()]
        promise = {"sfumato": __version__, "kind": self.recipe.data_type, **_guarantee(audit), "files": files}
        about = render_typed_about({**promise, "title": self.title})
        return PublicStatement(promise=promise, dictionary=files, about=about, report=lambda: self._report_facts(audit))

    def _report_facts(self, audit: Audit) -> dict[str, Any]:
        """Gather the facts of the internal report as plain values that JSON can hold."""
        return {
            "format": KIND_FORMAT,
            "sfumato": __version__,
            "title": self.title,
            "kind": self.recipe.data_type,
            **_guarantee(audit),
            "measures": {name: json_number(value) for name, value in self.metrics.items()},
            "sections": [section.to_dict() for section in self._sections()],
            "recipe": self.recipe.to_toml(),
        }

    def __repr__(self) -> str:
        lost = ", ".join(f"{name} {format_metric(value, share=False)}" for name, value in self.metrics.items())
        return f"Release of {self.title}; {lost}\n{self.audit!r}"


def _guarantee(audit: Audit) -> dict[str, Any]:
    """Say what is promised and what was found, as plain values that receivers may see."""
    words = [(verdict.model.words, verdict.model.parameters()) for verdict in audit.verdicts]
    told = [
        {"title": each.title, "sentence": each.sentence(parameters), "stops": each.stops, "open": each.open}
        | {"level": each.level}
        for each, parameters in words
    ]
    return {"promise": told, "audit": audit.to_dict()}
