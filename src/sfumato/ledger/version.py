"""A version of the table: its persons as the ledger knows them, and what a release of it adds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.codes import CodedTable
from sfumato.coding.halving import in_order
from sfumato.core.history import History
from sfumato.core.publication import NOT_PUBLISHED
from sfumato.core.signatures import KnownPersons, Signatures
from sfumato.exceptions import SchemaError
from sfumato.ledger.companies import companies_of
from sfumato.ledger.contents import NOBODY, ToldAttribute, followed, value_sets
from sfumato.ledger.key import Key
from sfumato.ledger.memory import SHOWN, STRANGER, UNSIGNED, Ints, Memory, RememberedAttribute
from sfumato.ledger.persons import HashedPersons, hashed_persons, hidden_values, token_bytes
from sfumato.ledger.store import Row, RowPlace, packed, packed_hashes
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.table.values import texts


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

    memory: Memory
    columns: Mapping[str, Sequence[str]]
    people: HashedPersons
    numbers: Ints
    hidden: Mapping[str, npt.NDArray[np.uint64]]

    @classmethod
    def read(cls, table: pa.Table, schema: Schema, memory: Memory, key: Key, *, later_rows: bool) -> TableVersion:
        """Look up the persons of a table; refuse one that the ledger cannot follow.

        Parameters
        ----------
        table : the table.
        schema : the roles of its columns.
        memory : what the ledger remembers.
        key : the key of the ledger.
        later_rows : whether the rows are about other people than those of earlier releases.
        """
        _refuse_unfit(schema)
        columns = _columns(schema)
        columns = _refuse_other_columns(columns, memory)
        permanent = columns["permanent"]
        people = hashed_persons(table, columns["identifier"], key, len(permanent))
        numbers = memory.numbers(people.tokens)
        known = int((numbers != STRANGER).sum() + (memory.waited(people.tokens) > 0).sum())
        if memory.releases and len(people) and not known and not later_rows:
            raise SchemaError(
                f"The ledger knows none of the {len(people):,} persons of this table: it is the ledger of another "
                f"table, or {_listed(schema.identifier)} are written otherwise than before."
            )
        hidden = {
            name: hidden_values(texts(table[name]), name, people.pads[place], key)
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
    ) -> KnownPersons:
        """Say what earlier releases told, in the codes of a table whose rows may have been put in another order.

        Parameters
        ----------
        coded : the table.
        order : the row of this version for every row of the table, if it is another one.
        histories : of the attributes of which single cells are flagged; see `of_cells`.
        limits : the largest exposure of anybody's hidden cell that showing another one may lead to, by attribute.
        """
        domains = {column.name: column.domain for column in (*coded.quasi, *coded.sensitive)}
        whole = KnownPersons(
            self.numbers != STRANGER,
            self.memory.waited(self.people.tokens),
            {
                name: Signatures.coded(domains[name], *self._signed(name), permanent=name in self.hidden)
                for name in (*self.columns["sensitive"], *self.columns["flagged"])
            },
        )
        taken, numbers = (whole, self.numbers) if order is None else (whole.take(order), self.numbers[order])
        signatures = dict(taken.signatures)
        columns = {column.name: column for column in (*coded.quasi, *coded.sensitive)}
        for name, history in (histories or {}).items():
            flags = coded.flags.get(name, np.ones(len(numbers), dtype=np.bool_))
            limit = (limits or {}).get(name, 0.0)
            companies = companies_of(history, numbers, signatures[name], column=columns[name], flags=flags, limit=limit)
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

    def refuse_changed(self, rows: Ints) -> None:
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

    def rows(self, told: Mapping[str, ToldAttribute], rows: Ints) -> dict[RowPlace, Row]:
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
        found: dict[RowPlace, Row] = {
            RowPlace("persons", release): (token_bytes(self.people.tokens.take(pa.array(new))),),
            RowPlace("waiting", release): self._waiting(numbers, release),
        }
        for at, (name, each) in enumerate(told.items(), start=1):
            remembered = self.memory.attributes.get(name) or _forgotten(at, name, permanent=name in self.hidden)
            found |= self._attribute_rows(release, remembered, each, rows, numbers)
        return found

    def _waiting(self, numbers: Ints, release: int) -> Row:
        """Return who waits: persons who were never published, and are not now."""
        waiting = np.flatnonzero(numbers == STRANGER)
        tokens = self.people.tokens.take(pa.array(waiting))
        return token_bytes(tokens), packed(release - self.memory.waited(tokens))

    def _attribute_rows(
        self, release: int, remembered: RememberedAttribute, told: ToldAttribute, rows: Ints, numbers: Ints
    ) -> dict[RowPlace, Row]:
        at, name = remembered.number, remembered.name
        code = {text: place for place, text in enumerate(remembered.texts)}
        fresh = [text for text in told.texts if text not in code]
        code |= {text: len(code) + place for place, text in enumerate(fresh)}
        coded = told.histogram.numbered(np.array([code[text] for text in told.texts], dtype=np.int64), len(code))
        inside = np.flatnonzero((told.group != NOT_PUBLISHED) & (rows != NOBODY))
        inside = inside[in_order(numbers[rows[inside]], len(self.memory.tokens) + len(numbers))]
        persons, group = numbers[rows[inside]], told.group[inside]
        found: dict[RowPlace, Row] = {
            RowPlace("attributes", release, at): (name, int(remembered.permanent), json.dumps(fresh)),
            RowPlace("groups", release, at): (
                packed(coded.offsets),
                packed(coded.codes),
                packed(coded.counts),
                packed(told.counterfeits),
                told.shown,
            ),
            RowPlace("memberships", release, at): (packed(persons), packed(group)),
            RowPlace("signatures", release, at): _signatures(remembered, told, code, persons, group),
        }
        if remembered.permanent:
            unseen = _where(persons, remembered.seen)
            hashes = self.hidden[name][rows[inside[unseen]]]
            found[RowPlace("seen", release, at)] = (packed(persons[unseen]), packed_hashes(hashes))
        return found


def _signatures(
    remembered: RememberedAttribute,
    told: ToldAttribute,
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
    signed = _where(persons, remembered.place != UNSIGNED) & ~alone
    first = signed | (_where(persons, remembered.shown) & alone)
    return json.dumps(fresh), packed(persons[first]), packed(np.where(alone, SHOWN, mine)[first])


def _where(persons: Ints, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which persons something is not known of yet; those who are new are the last."""
    old = persons < len(known)
    found = np.ones(len(persons), dtype=np.bool_)
    found[old] = ~known[persons[old]]
    return found


def _forgotten(number: int, name: str, *, permanent: bool) -> RememberedAttribute:
    nobody = np.zeros(0, dtype=np.bool_)
    hashes = np.zeros(0, dtype=np.uint64)
    return RememberedAttribute(number, name, permanent, [], [], np.zeros(0, dtype=np.int32), nobody, nobody, hashes)


def _columns(schema: Schema) -> dict[str, list[str]]:
    """Return the columns that must stay the same from release to release, by role."""
    flagged = [name for name in schema.flags if name not in schema.sensitive]
    return {
        "identifier": list(schema.identifier),
        "quasi": sorted(schema.quasi),
        "sensitive": sorted(schema.sensitive),
        "flagged": sorted(flagged),
        "permanent": sorted(set(followed(schema)) - set(schema.transient)),
    }


def _refuse_unfit(schema: Schema) -> None:
    if not schema.identifier:
        raise SchemaError("A ledger knows persons by their identifiers; give at least one column the role identifier.")
    if not followed(schema):
        raise SchemaError("A ledger follows sensitive attributes, and the schema has none; name one.")
    if Missing(schema.missing) is Missing.MATCHES_ALL:
        raise SchemaError("A ledger cannot follow missing values that match all; use own-value.")


def _refuse_other_columns(columns: dict[str, list[str]], memory: Memory) -> dict[str, list[str]]:
    """Refuse columns of other roles than before; return them in the order that they had first."""
    if not memory.chain.entries:
        return columns
    before: dict[str, list[str]] = memory.chain.entries[0]["columns"]
    for role, names in columns.items():
        if sorted(names) != sorted(before[role]):
            raise SchemaError(
                f"The ledger follows a table whose {role} columns are {_listed(before[role]) or 'none'}, and this one "
                f"has {_listed(names) or 'none'}; give the columns the same roles in all releases of a series."
            )
    return before


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
