"""A release that is made and not written yet: what the ledger will hold of it, and the steps of writing it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sfumato.core._hash_chain import ENTRY_FORMAT
from sfumato.encoding.coded_table import CodedTable
from sfumato.errors import WriteError
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.published.published_table import read_bucket_numbers
from sfumato.tables.series._ledger.chain import INTERNAL, STATED, HashChain
from sfumato.tables.series._ledger.disclosed import NOBODY, read_disclosed
from sfumato.tables.series._ledger.files import (
    LedgerFiles,
    add_pending,
    exclusive_writer,
    finish_pending,
    folder_digest,
)
from sfumato.tables.series._ledger.pseudonyms import PUBLISHED
from sfumato.tables.series._ledger.state import GROUPED, STRANGER, UNSIGNED, Ints, build_histories
from sfumato.tables.series._ledger.store import WHAT, Rows, read_rows, unpack_numbers
from sfumato.tables.series._ledger.version import TableVersion
from sfumato.tables.series._prior_disclosure import NO_COHORT, Cohorts, KnownIndividuals
from sfumato.tables.series.history import History

# The atoms of a series, as a ledger knows them: persons with the same history of groups.

PARTED_BY = ("memberships",)  # the tables that tell persons apart


def find_cohorts(rows: Rows, persons: int, numbers: Ints) -> Cohorts:
    """Find who was in the same groups of all releases, for every attribute that is followed.

    Parameters
    ----------
    rows : all rows about memberships.
    persons : how many persons the ledger knows.
    numbers : the numbers in the ledger of the persons of a table, `STRANGER` for those who were never published.
    """
    atom = np.zeros(persons, dtype=np.int64)
    for people, groups in rows.values():
        here = np.zeros(persons, dtype=np.int64)  # 0 is no group
        here[unpack_numbers(people)] = unpack_numbers(groups) + 1
        _, atom = np.unique(atom * (int(here.max(initial=0)) + 1) + here, return_inverse=True)
    of_case = np.full(len(numbers), NO_COHORT, dtype=np.int64)
    known = numbers != STRANGER
    of_case[known] = atom[numbers[known]]
    return Cohorts(of_case, np.bincount(atom))


# How a release handles flags that came and went since the release before it, in numbers.


def count_flag_changes(
    version: TableVersion, evidence: AuditContext, rows: Ints, at: Ints
) -> dict[str, dict[str, int]]:
    """Count by attribute with flags, as the published table tells it.

    Parameters
    ----------
    version : the persons of the table, as the ledger knows them.
    evidence : what is published.
    rows : the row of the evidence's original for every published row, `NOBODY` for a counterfeit.
    at : the row of the version for every published row.

    Returns
    -------
    dict
        For every attribute `flagged_late`, cells that are flagged though an earlier release showed them; `shown_now`,
        cells that are no longer flagged and shown; `kept_hidden`, cells that are no longer flagged and hidden all the
        same, because showing them would expose others.
    """
    found = {}
    somebody = rows != NOBODY
    numbers = version.numbers[at[somebody]]
    for name, column in evidence.schema.flags.items():
        flagged = np.asarray(evidence.source[column])[rows[somebody]]
        buckets = read_bucket_numbers(evidence.published, name)
        inside = np.zeros(len(flagged), dtype=np.bool_) if buckets is None else (buckets >= 0)[somebody]
        remembered = version.memory.attributes.get(name)
        known = np.zeros(len(flagged), dtype=np.bool_) if remembered is None else numbers != STRANGER
        signed, shown = known.copy(), known.copy()
        if remembered is not None:
            signed[known] = remembered.place[numbers[known]] != UNSIGNED
            shown[known] = remembered.shown[numbers[known]]
        found[name] = {
            "flagged_late": int((flagged & shown).sum()) if name in version.hidden else 0,
            "shown_now": int((~flagged & ~inside & signed & ~shown).sum()),
            "kept_hidden": int((~flagged & inside).sum()),
        }
    return found


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseDraft:
    """A version of the table that is being released, and the ledger that will record it."""

    files: LedgerFiles
    version: TableVersion

    def figures(self, at: Ints) -> dict[str, int]:
        """Count the persons of a release: those whom earlier releases published, new ones, and those who wait.

        `at` has the row of the version for every published row.
        """
        published = np.zeros(len(self.version.numbers), dtype=np.bool_)
        published[at[at != NOBODY]] = True
        old = self.version.numbers != STRANGER
        return {
            "number": self.version.memory.releases + 1,
            "published_before": int((published & old).sum()),
            "published_first": int((published & ~old).sum()),
            "waiting": int((~published & ~old).sum()),
        }

    def cohorts(self) -> Cohorts:
        """Find the persons of the version who were in the same groups of all releases."""
        with self.files.opened() as (store, chain):
            self._check_folder(chain)
            rows = read_rows(store, PARTED_BY)
            chain.check(rows, PARTED_BY)
        return find_cohorts(rows, len(self.version.memory.tokens), self.version.numbers)

    def flag_changes(self, *, evidence: AuditContext, rows: Ints, at: Ints) -> dict[str, dict[str, int]]:
        """Count, by attribute, flags that came and went since earlier releases.

        Parameters
        ----------
        evidence, rows, at : as for `recorded`.
        """
        return count_flag_changes(self.version, evidence, rows, at)

    def known(
        self, coded: CodedTable, order: npt.NDArray[np.integer] | None, limits: Mapping[str, float]
    ) -> KnownIndividuals:
        """Say what earlier releases told about the persons of a coded table.

        Parameters
        ----------
        coded, order, limits : as for `TableVersion.known`.
        """
        followed = self.version.of_cells(coded.flags)
        histories = build_histories(self._earlier()) if followed else {}
        mine = {name: histories[name] for name in followed}
        return self.version.known(coded, order, histories=mine, limits=limits)

    def histories(self, *, evidence: AuditContext, rows: Ints, at: Ints) -> dict[str, History]:
        """Return the history of every attribute up to this release, as if it was recorded.

        Parameters
        ----------
        evidence, rows, at : as for `recorded`.
        """
        mine = self.version.rows(read_disclosed(evidence, rows), at)
        return build_histories({**self._earlier(), **mine})

    def _earlier(self) -> Rows:
        """Read what was recorded of persons and groups before this release."""
        with self.files.opened() as (store, chain):
            before = read_rows(store, (*GROUPED, "persons"))
            chain.check(before, (*GROUPED, "persons"))
        return {place: row for place, row in before.items() if place.release <= self.version.memory.releases}

    @contextmanager
    def recorded(
        self, target: Path, *, evidence: AuditContext, rows: Ints, at: Ints, recipe: str, source: str
    ) -> Iterator[Callable[[Path], None]]:
        """Record a release while it is written; give a function to call with its staged folder once that is complete.

        The entry is pending from then on, until this ends: then the folder is in place and the entry is released, or
        something failed and the entry is taken back.

        Parameters
        ----------
        target : where the folder will be.
        evidence : what is published.
        rows : the row of the evidence's original for every published row.
        at : the row of the version for every published row.
        recipe, source : the recipe, and the fingerprint of the table.
        """
        with self.files.opened() as (_, chain):
            self._check_folder(chain)
        found = self.version.rows(read_disclosed(evidence, rows), at)
        with ExitStack() as alone:
            staged = False

            def complete(made: Path) -> None:
                nonlocal staged
                alone.enter_context(exclusive_writer(self.files.key_path))
                self._add_pending(made, target, found, {"recipe": _sha256(recipe), "source": source})
                staged = True

            try:
                yield complete
            except BaseException:
                if staged:
                    self._finish_pending()
                raise
            if staged:
                self._finish_pending()
                self.files.forward()

    def _add_pending(self, made: Path, target: Path, rows: Rows, said: dict[str, str]) -> None:
        with self.files.opened() as (store, chain):
            self.files.check_not_older(chain, {target.absolute().parent})
            self._check_folder(chain)
            said |= {"folder": self.files.relative(target), "public": folder_digest(made / PUBLISHED)}
            columns = {role: list(names) for role, names in self.version.columns.items()}
            number = self.version.memory.releases + 1
            head = add_pending(store, chain, number=number, said=said, columns=columns, rows=rows)
            head.write(made / INTERNAL / STATED, ENTRY_FORMAT)

    def _finish_pending(self) -> None:
        with self.files.opened() as (store, _):
            finish_pending(store, self.files.path)

    def _check_folder(self, chain: HashChain) -> None:
        if chain.head != self.version.head:
            raise WriteError(
                f"The {WHAT} {self.files.path} has new entries since this release was made, so it may tell too much "
                "together with them; make it again."
            )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
