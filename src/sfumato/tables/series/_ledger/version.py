"""A version of the table: its persons as the ledger knows them, and what a release of it adds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import SchemaError
from sfumato.io._values import format_values
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.bucketization._bisection import argsort_keys
from sfumato.tables.published.groups import Histogram
from sfumato.tables.published.solution import NOT_PUBLISHED
from sfumato.tables.series._ledger.disclosed import NOBODY, DisclosedAttribute, tracked_attributes, value_sets
from sfumato.tables.series._ledger.pseudonyms import (
    HashedIndividuals,
    LedgerKey,
    hash_individuals,
    hash_values,
    join_tokens,
)
from sfumato.tables.series._ledger.state import SHOWN, STRANGER, UNSIGNED, AttributeState, LedgerState
from sfumato.tables.series._ledger.store import Row, RowAddress, pack_hashes, pack_numbers
from sfumato.tables.series._prior_disclosure import NO_SIGNATURE, CoMembers, KnownIndividuals, Signatures
from sfumato.tables.series._worlds.bound_refinement import refine_bounds
from sfumato.tables.series._worlds.system import ConstraintSystem, InconsistentSeriesError, value_bits
from sfumato.tables.series.history import UNGROUPED, GroupedRelease, History
from sfumato.tables.series.models.bounded_series_disclosure import ROUNDING

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


# Who was together with whom, and whose cell may be shown that she no longer flags.


# Who was together with whom, and whose cell may be shown that she no longer flags.


# Who was together with whom, and whose cell may be shown that she no longer flags.
TRIES = 8  # how often cells of one component are tried one after another, if not all may be shown at once


@dataclass(frozen=True, eq=False, repr=False)
class EarlierDisclosure:
    """What all earlier releases told of one attribute, for decisions about the next one."""

    history: History

    @cached_property
    def co_members(self) -> Ints:
        """Give everybody a number; those who have the same one were in one group, which showed their signature.

        A group all of whose members come from one earlier group tells nothing that this did not, so they keep its
        number. Who was in groups that showed other values, or one of them twice, is alone.
        """
        history = self.history
        company = np.full(history.persons, NO_SIGNATURE, dtype=np.int64)
        signature = np.zeros((history.persons, -(-history.width // 64)), dtype=np.uint64)
        used = 0
        for release in history.releases:
            here = np.flatnonzero((release.members >= 0) & ~release.unflagged)
            group, bits = release.members[here], value_bits(release.histogram)
            new = company[here] == NO_SIGNATURE
            signature[here[new]] = bits[group[new]]
            odd = release.histogram.reduce(np.maximum, release.histogram.counts) != 1
            odd[group[(bits[group] != signature[here]).any(axis=1)]] = True
            low, high = np.full(release.groups, np.iinfo(np.int64).max), np.full(release.groups, NO_SIGNATURE)
            np.minimum.at(low, group, company[here])
            np.maximum.at(high, group, company[here])
            number = np.where((low == high) & (low != NO_SIGNATURE), low, used + np.arange(release.groups))
            used += release.groups
            company[here] = np.where(odd[group], used + np.arange(len(here)), number[group])
            used += len(here)
        return company

    @cached_property
    def components(self) -> Ints:
        """Number the components of groups that share persons; everybody in one of them has its number."""
        system = ConstraintSystem.of(self.history)
        return np.asarray(system.component_of(system.grouped)[0][system.unit])

    def closed(self, shown: Ints) -> Bools:
        """Return who is in a component with somebody whose cell was shown, or is now: those who are given."""
        opened = self.history.unflagged.copy()
        opened[shown] = True
        return np.asarray(np.isin(self.components, self.components[opened]))

    def may_show(self, persons: Ints, values: Ints, limit: float) -> Bools:
        """Return for some persons whether their cells may be shown: everybody's exposure stays within the limit.

        All cells of a component are tried at once, and else one after another. What is not shown by an exact step to be
        within the limit may not be shown.

        Parameters
        ----------
        persons : who no longer flags her cell.
        values : the code of the value of each.
        limit : the largest exposure of anybody whose cell is hidden.
        """
        allowed = np.zeros(len(persons), dtype=np.bool_)
        if not len(persons):
            return allowed
        near = np.isin(self.components, self.components[persons])
        label, history = self.components, _restrict_history(self.history, near)

        def good(tried: Bools) -> Bools:
            bad = _exceed_limit(history, release_of_cells(history, persons[tried], values[tried]), limit)
            return np.asarray(~np.isin(label[persons], label[bad]))

        allowed = good(~allowed)
        turn = _rank_in_components(label[persons], ~allowed)
        for number in range(int(turn.max(initial=-1)) + 1)[:TRIES]:
            mine = turn == number
            allowed |= mine & good(allowed | mine)
        return allowed


def find_co_members(
    history: History, numbers: Ints, signed: Signatures, *, column: CodedColumn, flags: Bools, limit: float
) -> CoMembers:
    """Say with whom the persons of a table were, and whose cell may be shown that she no longer flags.

    Parameters
    ----------
    history : what earlier releases told.
    numbers : of the persons in the history, below 0 for those who are not in it.
    signed : what is known of them.
    column : their values.
    flags : whose cell is flagged.
    limit : the largest exposure of anybody whose cell is hidden.
    """
    told, known = EarlierDisclosure(history), numbers >= 0
    places = {text: code for code, text in enumerate((*history.values, None))}
    codes = np.array([places.get(text, NO_SIGNATURE) for text in (*column.domain.texts, None)])[column.codes]
    asked = (
        known & ~flags & (signed.of_case != NO_SIGNATURE) & ~signed.shown & ~signed.changed & (codes != NO_SIGNATURE)
    )
    may_show = np.zeros(len(numbers), dtype=np.bool_)
    may_show[asked] = told.may_show(numbers[asked], codes[asked], limit)
    closed = told.closed(numbers[may_show])
    return CoMembers(np.where(known, told.co_members[numbers], NO_SIGNATURE), known & closed[numbers], may_show)


def _exceed_limit(history: History, told: GroupedRelease, limit: float) -> Bools:
    """Return whose hidden cell is not shown to be exposed within the limit, if one more release tells this."""
    series = replace(history, releases=(*history.releases, told), truth=None)
    try:
        known = refine_bounds(series).known()
    except InconsistentSeriesError:
        return np.ones(history.persons, dtype=np.bool_)
    hidden = (known.candidates > 0) & ~series.unflagged
    return np.asarray(hidden & ~(known.sure & (known.top <= limit + ROUNDING)))


def release_of_cells(history: History, persons: Ints, values: Ints) -> GroupedRelease:
    """Return a release that shows the cells of some persons, and nothing else."""
    members = np.full(history.persons, UNGROUPED, dtype=np.int64)
    members[persons] = np.arange(len(persons))
    once, nobody = np.ones(len(persons), dtype=np.int64), np.zeros(len(persons), dtype=np.int64)
    shown = Histogram.from_entries(np.arange(len(persons)), values, once, groups=len(persons), width=history.width)
    return GroupedRelease(members, shown, nobody, np.ones(len(persons), dtype=np.bool_))


def _rank_in_components(component: Ints, left: Bools) -> Ints:
    """Count those who are left within every component; -1 for the others."""
    turn = np.full(len(component), -1, dtype=np.int64)
    rows = np.flatnonzero(left)
    order = rows[np.argsort(component[rows], kind="stable")]
    starts = np.flatnonzero(np.append(True, np.diff(component[order]) != 0)) if len(order) else order
    turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return turn


def _restrict_history(history: History, persons: Bools) -> History:
    """Return the same series with the groups of some persons alone, who make whole components."""

    def of_persons(release: GroupedRelease) -> GroupedRelease:
        groups = np.zeros(release.groups, dtype=np.bool_)
        groups[release.members[persons & (release.members >= 0)]] = True
        return release.select_groups(groups)

    return replace(history, releases=tuple(map(of_persons, history.releases)))


@dataclass(frozen=True, eq=False, repr=False)
class TableVersion:
    """One version of the table that a ledger follows, row by row.

    Parameters
    ----------
    memory : what the ledger remembered when the version was read.
    columns : the roles of the columns, which stay.
    people : the hashed persons.
    numbers : their numbers in the ledger, `STRANGER` for those who were never published.
    hidden : by permanent attribute, the hidden hash of every person's value.
    """

    memory: LedgerState
    columns: Mapping[str, Sequence[str]]
    people: HashedIndividuals
    numbers: Ints
    hidden: Mapping[str, npt.NDArray[np.uint64]]

    @classmethod
    def read(
        cls, table: pa.Table, schema: Schema, memory: LedgerState, key: LedgerKey, *, later_rows: bool
    ) -> TableVersion:
        """Look up the persons of a table; refuse one that the ledger cannot follow.

        Parameters
        ----------
        table : the table.
        schema : the roles of its columns.
        memory : what the ledger remembers.
        key : the key of the ledger.
        later_rows : whether the rows are about other people than those of earlier releases.
        """
        _reject_unfit(schema)
        columns = _columns(schema)
        columns = _reject_other_columns(columns, memory)
        permanent = columns["permanent"]
        people = hash_individuals(table, columns["identifier"], key, len(permanent))
        numbers = memory.numbers(people.tokens)
        known = int((numbers != STRANGER).sum() + (memory.waited(people.tokens) > 0).sum())
        if memory.releases and len(people) and not known and not later_rows:
            raise SchemaError(
                f"The ledger knows none of the {len(people):,} persons of this table: it is the ledger of another "
                f"table, or {_format_names(schema.identifiers)} are written otherwise than before."
            )
        hidden = {
            name: hash_values(format_values(table[name]), name, people.pads[place], key)
            for place, name in enumerate(permanent)
        }
        return cls(memory, columns, people, numbers, hidden)

    @property
    def head(self) -> str:
        """The head of the ledger when the version was read."""
        return self.memory.chain.head

    def of_cells(self, flags: Collection[str]) -> tuple[str, ...]:
        """Return the attributes of which single cells are flagged, or were shown; their values do not change."""
        remembered = self.memory.attributes
        return tuple(
            name for name in self.hidden if name in remembered and (name in flags or remembered[name].shown.any())
        )

    def known(
        self,
        coded: CodedTable,
        order: npt.NDArray[np.integer] | None = None,
        *,
        histories: Mapping[str, History] | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> KnownIndividuals:
        """Say what earlier releases told, in the codes of a table whose rows may have been put in another order.

        Parameters
        ----------
        coded : the table.
        order : the row of this version for every row of the table, if it is another one.
        histories : of the attributes of which single cells are flagged; see `of_cells`.
        limits : the largest exposure of anybody's hidden cell that showing another one may lead to, by attribute.
        """
        domains = {column.name: column.domain for column in (*coded.quasi, *coded.sensitive)}
        whole = KnownIndividuals(
            self.numbers != STRANGER,
            self.memory.waited(self.people.tokens),
            {
                name: Signatures.from_texts(domains[name], *self._signed(name), permanent=name in self.hidden)
                for name in (*self.columns["sensitive"], *self.columns["flagged"])
            },
        )
        taken, numbers = (whole, self.numbers) if order is None else (whole.take(order), self.numbers[order])
        signatures = dict(taken.signatures)
        columns = {column.name: column for column in (*coded.quasi, *coded.sensitive)}
        for name, history in (histories or {}).items():
            flags = coded.flags.get(name, np.ones(len(numbers), dtype=np.bool_))
            limit = (limits or {}).get(name, 0.0)
            companies = find_co_members(
                history, numbers, signatures[name], column=columns[name], flags=flags, limit=limit
            )
            signatures[name] = replace(signatures[name], companies=companies)
        return replace(taken, signatures=signatures)

    def changed(self, name: str) -> npt.NDArray[np.bool_]:
        """Return whether the value of every person is permanent and not the one that was published before."""
        nobody = np.zeros(len(self.numbers), dtype=np.bool_)
        remembered = self.memory.attributes.get(name)
        if remembered is None or name not in self.hidden or not len(remembered.seen):
            return nobody
        seen = remembered.seen[self.numbers] & (self.numbers != STRANGER)
        return np.asarray(seen & (remembered.hashes[self.numbers] != self.hidden[name]))

    def check_permanent_values(self, rows: Ints) -> None:
        """Refuse to publish rows of persons whose permanent values changed."""
        for name in self.hidden:
            changed = int(self.changed(name)[rows[rows != NOBODY]].sum())
            if changed:
                raise SchemaError(
                    f"{changed:,} persons changed a permanent value, of {name!r}; correct these rows, or list the "
                    "attribute as transient in the schema of a new series."
                )

    def _signed(
        self, name: str
    ) -> tuple[list[list[str | None]], npt.NDArray[np.int32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return the signatures of an attribute by texts, whose is which, whose cells were shown, and who changed."""
        remembered, stranger = self.memory.attributes.get(name), self.numbers == STRANGER
        if remembered is None or not len(remembered.place):
            nobody = np.zeros(len(stranger), dtype=np.bool_)
            return [], np.full(len(stranger), UNSIGNED, dtype=np.int32), nobody, nobody
        place = np.where(stranger, UNSIGNED, remembered.place[self.numbers]).astype(np.int32)
        named = [[remembered.texts[value] for value in values] for values in remembered.sets]
        return named, place, remembered.shown[self.numbers] & ~stranger, self.changed(name)

    def rows(self, told: Mapping[str, DisclosedAttribute], rows: Ints) -> dict[RowAddress, Row]:
        """Return what is recorded of a release.

        Parameters
        ----------
        told : what the published table tells of every attribute.
        rows : the row of this version for every published row, `NOBODY` for a counterfeit.
        """
        release = self.memory.releases + 1
        numbers, real = self.numbers.copy(), rows[rows != NOBODY]
        new = np.sort(real[numbers[real] == STRANGER])
        numbers[new] = len(self.memory.tokens) + np.arange(len(new))
        found: dict[RowAddress, Row] = {
            RowAddress("persons", release): (join_tokens(self.people.tokens.take(pa.array(new))),),
            RowAddress("waiting", release): self._waiting(numbers, release),
        }
        for at, (name, each) in enumerate(told.items(), start=1):
            remembered = self.memory.attributes.get(name) or _erased_error(at, name, permanent=name in self.hidden)
            found |= self._attribute_rows(release, remembered, each, rows, numbers)
        return found

    def _waiting(self, numbers: Ints, release: int) -> Row:
        """Return who waits: persons who were never published, and are not now."""
        waiting = np.flatnonzero(numbers == STRANGER)
        tokens = self.people.tokens.take(pa.array(waiting))
        return join_tokens(tokens), pack_numbers(release - self.memory.waited(tokens))

    def _attribute_rows(
        self, release: int, remembered: AttributeState, told: DisclosedAttribute, rows: Ints, numbers: Ints
    ) -> dict[RowAddress, Row]:
        at, name = remembered.number, remembered.name
        code = {text: place for place, text in enumerate(remembered.texts)}
        fresh = [text for text in told.texts if text not in code]
        code |= {text: len(code) + place for place, text in enumerate(fresh)}
        coded = told.histogram.renumber(np.array([code[text] for text in told.texts], dtype=np.int64), len(code))
        inside = np.flatnonzero((told.group != NOT_PUBLISHED) & (rows != NOBODY))
        inside = inside[argsort_keys(numbers[rows[inside]], len(self.memory.tokens) + len(numbers))]
        persons, group = numbers[rows[inside]], told.group[inside]
        found: dict[RowAddress, Row] = {
            RowAddress("attributes", release, at): (name, int(remembered.permanent), json.dumps(fresh)),
            RowAddress("groups", release, at): (
                pack_numbers(coded.offsets),
                pack_numbers(coded.codes),
                pack_numbers(coded.counts),
                pack_numbers(told.counterfeits),
                told.shown,
            ),
            RowAddress("memberships", release, at): (pack_numbers(persons), pack_numbers(group)),
            RowAddress("signatures", release, at): _signatures(remembered, told, code, persons, group),
        }
        if remembered.permanent:
            unseen = _find_unknown(persons, remembered.seen)
            hashes = self.hidden[name][rows[inside[unseen]]]
            found[RowAddress("seen", release, at)] = (pack_numbers(persons[unseen]), pack_hashes(hashes))
        return found


def _signatures(
    remembered: AttributeState,
    told: DisclosedAttribute,
    code: Mapping[str | None, int],
    persons: Ints,
    group: Ints,
) -> Row:
    """Return the signatures of persons who had none, and whose cells are shown for the first time."""
    sets, place = value_sets(told)
    known = {values: number for number, values in enumerate(remembered.sets)}
    named = [tuple(sorted(code[told.texts[value]] for value in values)) for values in sets]
    fresh = [values for values in named if values not in known]
    known |= {values: len(known) + number for number, values in enumerate(fresh)}
    numbers = np.array([*(known[values] for values in named), SHOWN], dtype=np.int64)
    mine = numbers[place[group]]
    alone = group >= told.shown
    signed = _find_unknown(persons, remembered.place != UNSIGNED) & ~alone
    first = signed | (_find_unknown(persons, remembered.shown) & alone)
    return json.dumps(fresh), pack_numbers(persons[first]), pack_numbers(np.where(alone, SHOWN, mine)[first])


def _find_unknown(persons: Ints, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which persons something is not known of yet; those who are new are the last."""
    old = persons < len(known)
    found = np.ones(len(persons), dtype=np.bool_)
    found[old] = ~known[persons[old]]
    return found


def _erased_error(number: int, name: str, *, permanent: bool) -> AttributeState:
    nobody = np.zeros(0, dtype=np.bool_)
    hashes = np.zeros(0, dtype=np.uint64)
    return AttributeState(number, name, permanent, [], [], np.zeros(0, dtype=np.int32), nobody, nobody, hashes)


def _columns(schema: Schema) -> dict[str, list[str]]:
    """Return the columns that must stay the same from release to release, by role."""
    flagged = [name for name in schema.flags if name not in schema.sensitive]
    return {
        "identifier": list(schema.identifiers),
        "quasi": sorted(schema.quasi_identifiers),
        "sensitive": sorted(schema.sensitive),
        "flagged": sorted(flagged),
        "permanent": sorted(set(tracked_attributes(schema)) - set(schema.transient)),
    }


def _reject_unfit(schema: Schema) -> None:
    if not schema.identifiers:
        raise SchemaError("A ledger knows persons by their identifiers; give at least one column the role identifier.")
    if not tracked_attributes(schema):
        raise SchemaError("A ledger follows sensitive attributes, and the schema has none; name one.")
    if MissingPolicy(schema.missing) is MissingPolicy.MATCHES_ALL:
        raise SchemaError("A ledger cannot follow missing values that match all; use own-value.")


def _reject_other_columns(columns: dict[str, list[str]], memory: LedgerState) -> dict[str, list[str]]:
    """Refuse columns of other roles than before; return them in the order that they had first."""
    if not memory.chain.entries:
        return columns
    before: dict[str, list[str]] = memory.chain.entries[0]["columns"]
    for role, names in columns.items():
        if sorted(names) != sorted(before[role]):
            raise SchemaError(
                f"The ledger follows a table whose {role} columns are "
                f"{_format_names(before[role]) or 'none'}, and this one "
                f"has {_format_names(names) or 'none'}; give the columns the same roles in all releases of a series."
            )
    return before


def _format_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
