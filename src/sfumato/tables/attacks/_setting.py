"""What attacks work on: targets, what the adversary knows about them, and the truth that shows whether she is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import seeded_generator
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._beliefs import Ints, ValueBeliefs, find_texts
from sfumato.tables.attacks._view import MatchingGroups, Points, PublishedView
from sfumato.tables.audit._context import AuditContext

MOST_TARGETS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Targets:
    """Some people the adversary knows: their quasi-identifiers as codes, and the truth about them.

    `truth` has the codes of each sensitive attribute as the published table numbers its values, -1 for a value that it
    does not show. `own_rows` are published rows, -1 for people who are not in the table.
    """

    points: Points
    truth: Mapping[str, Ints]
    own_rows: Ints

    def __len__(self) -> int:
        return int(self.points.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class AttackSetting:
    """A published table, targets who are in it, and outsiders who are not.

    `candidates` are the published groups that match each target, `everybody` the codes of all known persons. `linked`
    tells whether it is known which record is whose, and `told` of which sensitive attributes the truth is known:
    nothing is claimed about the others. `other` is a second release of the same persons.
    """

    view: PublishedView
    schema: Schema
    targets: Targets
    outsiders: Targets | None
    everybody: Points
    members: int
    linked: bool
    told: frozenset[str]
    seed: int
    candidates: MatchingGroups
    other: PublishedView | None = None

    def rng(self, purpose: int) -> np.random.Generator:
        """Make a generator for one purpose, so that attacks do not depend on which others are run."""
        return seeded_generator(self.seed + purpose)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes that are published, and whose truth is known."""
        return tuple(name for name in self.view.groups.histograms if name in self.told)

    @cached_property
    def covered(self) -> float:
        """The share of targets whose own record matches them, of those who have one: all of a generalization."""
        own = self.targets.own_rows
        published = np.flatnonzero(own >= 0)
        groups = len(self.view.groups)
        pairs = self.candidates.target * groups + self.candidates.group
        wanted = published * groups + self.view.table.grouped.labels[own[published]]
        return float(np.isin(wanted, pairs).mean()) if len(published) else 1.0

    @cached_property
    def outside_candidates(self) -> MatchingGroups | None:
        """The published groups that match each outsider."""
        return None if self.outsiders is None else self.view.candidates(self.outsiders.points)

    def beliefs(self, sensitive: str) -> ValueBeliefs:
        """Return what the table says about a sensitive attribute of each target."""
        return self.view.beliefs(self.candidates, sensitive)

    @cached_property
    def control_targets(self) -> Ints:
        """For every target, another one drawn at random: the control checks claims against the other's truth."""
        count = len(self.targets)
        order = self.rng(1).permutation(count)
        stranger = np.empty(count, dtype=np.int64)
        stranger[order] = np.roll(order, 1)
        return stranger


def prepare_setting(
    shown: pa.Table,
    schema: Schema,
    known: pa.Table,
    *,
    original: pa.Table | None = None,
    key: str | None = None,
    correspondence: Ints | None = None,
    outsiders: pa.Table | None = None,
    other: tuple[pa.Table, Schema] | None = None,
    targets: int = MOST_TARGETS,
    seed: int,
) -> AttackSetting:
    """Draw targets, and find out the truth about them; see `attack`."""
    quasi = _shared(schema, known, [shown] if other is None else [shown, other[0]])
    seen = _adversary_schema(schema, quasi)
    everybody = _concatenate_outsiders(known, outsiders, quasi)
    people = encode_table(everybody, seen.select_quasi_identifiers())
    points = np.array([column.codes for column in people.quasi], dtype=np.int32)
    view = PublishedView.of(shown, seen, people)
    told = _link_known(known, original, key)
    member = np.append(told.member, np.zeros(len(everybody) - known.num_rows, dtype=np.bool_))
    rng = seeded_generator(seed)
    inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
    if not len(inside):
        raise SchemaError(f"Nobody in the known table is in the original by {key!r}; give another key.")
    inside = np.sort(rng.permutation(inside)[:targets])
    outside = np.sort(rng.permutation(outside)[:targets])
    own = None if correspondence is None else _own_rows(correspondence, told.rows[inside])
    values = told.values.take(pa.array(inside))
    candidates = _candidates(view, points[:, inside])
    chosen = _read_targets(view, points[:, inside], values, own)
    strangers = _read_outsiders(view, points, outside, outsiders, known.num_rows) if len(outside) else None
    second = None if other is None else PublishedView.of(other[0], _adversary_schema(other[1], quasi), people)
    return AttackSetting(
        view=view,
        schema=seen,
        targets=chosen,
        outsiders=strangers,
        everybody=points,
        members=int(member.sum()),
        linked=own is not None,
        told=frozenset(values.column_names),
        seed=seed,
        candidates=candidates,
        other=second,
    )


def worst_case_setting(evidence: AuditContext, *, targets: int, seed: int) -> AttackSetting:
    """Let the adversary know the quasi-identifiers of everybody in the original; draw some persons as targets."""
    evidence.require_single_records("An attack")
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - the worst case is about an original
    view = PublishedView(evidence.table, evidence.groups, evidence.missing_matches_all)
    rng = seeded_generator(seed)
    drawn = np.sort(rng.permutation(coded.rows)[:targets])
    points = np.array([column.codes for column in coded.quasi], dtype=np.int32)
    candidates = _candidates(view, points[:, drawn])
    values = evidence.source.select(evidence.schema.sensitive).take(pa.array(drawn))
    chosen = _read_targets(view, points[:, drawn], values, _own_rows(evidence.source_rows, drawn))
    return AttackSetting(
        view=view,
        schema=evidence.schema,
        targets=chosen,
        outsiders=None,
        everybody=points,
        members=coded.rows,
        linked=True,
        told=frozenset(values.column_names),
        seed=seed,
        candidates=candidates,
    )


@dataclass(frozen=True, eq=False, repr=False)
class _KnownIndividuals:
    """Which known people are in the original, in which of its rows, and the table with their sensitive values."""

    member: npt.NDArray[np.bool_]
    rows: Ints
    values: pa.Table


def _link_known(known: pa.Table, original: pa.Table | None, key: str | None) -> _KnownIndividuals:
    everybody = np.ones(known.num_rows, dtype=np.bool_)
    if original is None and key is None:
        return _KnownIndividuals(everybody, np.arange(known.num_rows), known)
    if original is None or key is None:
        raise InvalidParameterError("Give an original and a key together: the key says which known person is who.")
    for what, table in (("known table", known), ("original", original)):
        if key not in table.column_names:
            raise SchemaError(f"The {what} does not have the key {key!r}; name a column that both tables have.")
    keys = format_values(original[key])
    if pc.count_distinct(keys).as_py() < original.num_rows:
        raise SchemaError(f"The key {key!r} does not distinguish the rows of the original; name one that does.")
    place = pc.index_in(format_values(known[key]), value_set=keys)
    found = np.asarray(place.is_valid())
    rows = place.fill_null(0)
    return _KnownIndividuals(found, rows.to_numpy().astype(np.int64), original.take(rows).drop_columns([key]))


def _candidates(view: PublishedView, points: Points) -> MatchingGroups:
    """Find the groups that match each target; refuse targets of whom none matches any."""
    candidates = view.candidates(points)
    if not candidates.records.any():
        raise SchemaError(
            "No known person matches any published record; for perturbed, synthetic or averaged records use "
            "sf.attacks.attack_records, or check that the columns mean the same."
        )
    return candidates


def _read_targets(view: PublishedView, points: Points, values: pa.Table, own_rows: Ints | None) -> Targets:
    """Return the targets with what is known to be true of them; a record of nobody known is nobody's."""
    truth = {
        name: _codes(view, name, values[name], np.arange(len(values)))
        for name in view.groups.histograms
        if name in values.column_names
    }
    return Targets(points, truth, np.full(points.shape[1], -1, dtype=np.int64) if own_rows is None else own_rows)


def _own_rows(correspondence: Ints, persons: Ints) -> Ints:
    """Return the published row of every person, -1 for one who is not published."""
    place = np.full(max(int(correspondence.max(initial=-1)), int(persons.max())) + 1, -1, dtype=np.int64)
    place[correspondence] = np.arange(len(correspondence))
    return place[persons]


def _read_outsiders(view: PublishedView, points: Points, rows: Ints, outsiders: pa.Table | None, known: int) -> Targets:
    """Return the outsiders; their truth is known if their table has it for all of them."""
    told = outsiders is not None and bool((rows >= known).all())
    names = [name for name in view.groups.histograms if told and name in outsiders.column_names]  # type: ignore[union-attr]
    truth = {name: _codes(view, name, outsiders[name], rows - known) for name in names}  # type: ignore[index]
    return Targets(points[:, rows], truth, np.full(len(rows), -1, dtype=np.int64))


def _codes(view: PublishedView, name: str, column: pa.ChunkedArray, rows: Ints) -> Ints:
    encoded = format_values(column).dictionary_encode()
    found, same = find_texts(encoded.dictionary.to_pylist(), view.texts(name)), view.groups.domains[name].same
    found = found if same is None else np.append(same, -1)[found]  # what looks alike is one value to an adversary, too
    place = np.append(found, len(view.texts(name)))
    indices = encoded.indices.fill_null(len(place) - 1).to_numpy(zero_copy_only=False)
    codes: Ints = place[indices[rows]]
    return codes


def _shared(schema: Schema, known: pa.Table, releases: Sequence[pa.Table]) -> tuple[str, ...]:
    tables = [known, *releases]
    quasi = tuple(name for name in schema.quasi_identifiers if all(name in table.column_names for table in tables))
    if not quasi:
        raise SchemaError("The known and the published tables share no quasi-identifier, so nobody can be looked up.")
    if schema.flags:
        raise SchemaError(
            "Attacks assume that whole columns are known; use sf.attribute_disclosure_risk for flagged cells instead."
        )
    if known.num_rows == 0:
        raise SchemaError("The known table has no rows; there is nobody to attack.")
    return quasi


def _adversary_schema(schema: Schema, quasi: Sequence[str]) -> Schema:
    """Keep what the adversary knows, and the sensitive attributes."""
    names = {*quasi, *schema.sensitive}
    return Schema(
        quasi_identifiers=quasi,
        sensitive=schema.sensitive,
        hierarchies={name: value for name, value in schema.hierarchies.items() if name in names},
        scales={name: value for name, value in schema.scales.items() if name in names},
        orders={name: value for name, value in schema.orders.items() if name in names},
        missing=schema.missing,
    )


def _concatenate_outsiders(known: pa.Table, outsiders: pa.Table | None, quasi: Sequence[str]) -> pa.Table:
    if outsiders is None:
        return known.select(quasi)
    for name in quasi:
        if name not in outsiders.column_names:
            raise SchemaError(f"The table of outsiders has no column {name!r}, which is known about the others.")
    try:
        return pa.concat_tables([known.select(quasi), outsiders.select(quasi)], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise SchemaError("The known people and the outsiders have columns of different types; convert them.") from None
