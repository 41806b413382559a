"""A release of sets: what is published, its audit, what it lost, and what made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sfumato._validation import require
from sfumato.core.audit import Audit, evaluate_models
from sfumato.core.model import Model
from sfumato.core.release import Release
from sfumato.errors import ReadError
from sfumato.report.page import ReportSection, make_attack_section
from sfumato.transactions._catalogue import FORMS
from sfumato.transactions._figures import plot_lengths, plot_supports
from sfumato.transactions._published import PublishedTransactions, TransactionModel
from sfumato.transactions.attacks import attack_by_known_items
from sfumato.transactions.transactions import Transactions

# The audit of published sets, from what is published alone.


def audit(published: PublishedTransactions, *, models: Sequence[TransactionModel]) -> Audit:
    """Judge published sets by every promise.

    Parameters
    ----------
    published : `release.baskets`, or what was read from its files.
    models : the promises, such as `sf.transactions.KmAnonymity(k=5, m=2)`.
    """
    check_models("audit", models)
    good = isinstance(published, PublishedTransactions)
    require(
        good, "audit", "published", "published sets, such as sf.transactions.Transactions", type(published).__name__
    )
    return evaluate_models(models, published, published.summary())


def check_models(owner: str, models: object) -> None:
    """Refuse what is no list of promises about sets."""
    good = isinstance(models, list | tuple) and bool(models) and all(isinstance(each, Model) for each in models)
    require(good, owner, "models", "a list of at least one promise of sf.transactions", type(models).__name__)


REPORT_SEED = 0  # attacks in a report protect nobody, and the same report is written again
REPORT_TARGETS = 1000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TransactionsRelease(Release[PublishedTransactions]):
    """Published sets with their audit, measures and recipe.

    `baskets` is what is published; `original` is what it was made of, which the report compares it with.
    """

    title: ClassVar[str] = "baskets"
    original: Transactions = field(repr=False)

    @property
    def transactions(self) -> PublishedTransactions:
        """What is published."""
        return self.published

    def _write_files(self, folder: Path, table_format: str) -> None:
        self.published.write_files(folder, table_format)

    def _read_files(self, folder: Path) -> PublishedTransactions:
        return read_published(folder)

    def _audit(self, published: PublishedTransactions, models: Sequence[Model[Any]]) -> Audit:
        return audit(published, models=models)

    def _equals_published(self, read: PublishedTransactions) -> bool:
        return read == self.published

    def _describe_files(self, folder: Path) -> Mapping[str, str]:
        told = self.published.files
        return {path.name: told[path.name] for path in sorted(folder.iterdir()) if path.name in told}

    def _sections(self) -> Sequence[ReportSection]:
        return [self._sizes(), *self._attacks()]

    def _sizes(self) -> ReportSection:
        """Compare how many baskets, items and occurrences there are."""
        before, after = self.original.summary(), self.published.summary()
        rows = [
            (name, _format_number(before.get(name)), _format_number(after.get(name))) for name in {**before, **after}
        ]
        left = f"{self.original.empty:,} persons without items are not published." if self.original.empty else ""
        united = f"{self.original.united:,} baskets were united with another one of the same person."
        sentences = [left, united if self.original.united else ""]
        pictures = []
        if isinstance(self.published, Transactions):
            pictures = [plot_lengths(self.original, self.published), plot_supports(self.original, self.published)]
        return ReportSection(
            title="Baskets and items",
            sentences=[sentence for sentence in sentences if sentence],
            head=("", "original", "published"),
            rows=rows,
            pictures=pictures,
        )

    def _attacks(self) -> list[ReportSection]:
        """Tell how often a few known items find a person, in the original and in what is published."""
        limits = [verdict.model.parameters() for verdict in self.audit.verdicts]
        m = max((int(each["m"]) for each in limits if "m" in each), default=2)
        k = max((int(each["k"]) for each in limits if "k" in each), default=2)
        sides = [
            attack_by_known_items(side, self.original, m=m, k=k, targets=REPORT_TARGETS, seed=REPORT_SEED)
            for side in (self.original, self.published)
        ]
        return [make_attack_section(*sides)]


def read_published(folder: Path) -> PublishedTransactions:
    """Read what was published from its folder, in whatever form it has."""
    for form in FORMS:
        found = form.read_files(folder)
        if found is not None:
            return found
    raise ReadError("The folder holds no published baskets; give the folder public/ of a release.")


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"
