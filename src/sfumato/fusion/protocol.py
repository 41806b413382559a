"""The protocol of one party: align people, specialize in rounds, and publish only what all parties agree on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._progress import Progress, ignore_progress, open_progress
from sfumato.encoding._row_order import order_rows, rank_column
from sfumato.encoding.coded_table import encode_column
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, ProtocolError, SchemaError
from sfumato.fusion._specialization import EquivalenceClasses, LocalAttribute, SpecializationRounds
from sfumato.fusion.party import Party
from sfumato.fusion.result import FusionResult
from sfumato.fusion.scoring import attribute_sensitivities
from sfumato.fusion.session import (
    KAnonymityRequirement,
    Scoring,
    SessionParameters,
    differing_fields,
    uncovered_attributes_warning,
)
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context

if TYPE_CHECKING:
    from sfumato.fusion.secure.channel import Parties

Ints = npt.NDArray[np.int64]


# What the parties tell each other before they begin: what each contributes, and what each expects.


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What one party contributes: its attributes, hierarchy fingerprints, number of people and settings."""

    settings: Mapping[str, str]
    attributes: tuple[str, ...]
    hierarchies: Mapping[str, str]
    rows: int

    @classmethod
    def from_message(cls, name: str, text: str) -> Contribution:
        """Read the offer of another party, or refuse it."""
        try:
            given = json.loads(text)
            texts = [
                *given["attributes"],
                *(each for what in ("settings", "hierarchies") for each in given[what].items()),
            ]
            flat = [each for entry in texts for each in ([entry] if isinstance(entry, str) else entry)]
            good = (
                isinstance(given["rows"], int)
                and all(isinstance(each, str) for each in flat)
                and len(given) == len(fields(cls))
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            good = False
        if not good:
            raise ProtocolError(f"The offer of party {name!r} cannot be read; install the same version at all parties.")
        return cls(**{**given, "attributes": tuple(given["attributes"])})


def exchange_contributions(
    party: Party, agreement: SessionParameters, parties: Parties | None, rows: int
) -> dict[str, Contribution]:
    """Tell the others what this party contributes, learn what they contribute, and compare what all of them expect."""
    if party.name not in agreement.parties:
        raise SchemaError(f"The agreement does not name party {party.name!r}; correct one of them.")
    offer = Contribution(
        settings=agreement.settings(),
        attributes=tuple(party.attributes),
        hierarchies=party.hierarchy_digests(),
        rows=rows,
    )
    offers = {party.name: offer}
    if parties is not None:
        parties.broadcast("offer", offer=json.dumps(asdict(offer)))
        for name in parties.others:
            offers[name] = Contribution.from_message(name, parties.receive(name, "offer").text("offer"))
            _check_same_settings(party.name, offer, name, offers[name])
    if set(offers) != set(agreement.parties):
        raise ProtocolError("The agreement and the connected parties differ; correct it at all parties.")
    return {name: offers[name] for name in agreement.parties}


def attribute_owners(offers: Mapping[str, Contribution], agreement: SessionParameters) -> dict[str, str]:
    """Return who owns every attribute; refuse one that two parties contribute, or none."""
    owners: dict[str, str] = {}
    for name, offer in offers.items():
        for attribute in offer.attributes:
            if attribute in owners:
                raise ProtocolError(
                    f"Parties {owners[attribute]!r} and {name!r} both have {attribute!r}; let one of them drop it."
                )
            owners[attribute] = name
    for each in agreement.requirements:
        for attribute in each.quasi:
            if attribute not in owners:
                raise SchemaError(f"A requirement names {attribute!r}, which no party has; correct the agreement.")
    if agreement.target in owners:
        raise SchemaError(f"The class {agreement.target!r} is also an attribute to fuse; drop it there.")
    return owners


def _check_same_settings(me: str, mine: Contribution, name: str, theirs: Contribution) -> None:
    points = differing_fields(mine.settings, theirs.settings)
    if points:
        raise ProtocolError(
            f"Parties {me!r} and {name!r} do not agree on: {', '.join(points)}; make the agreements equal."
        )
    for attribute, digest in theirs.hierarchies.items():
        if mine.hierarchies.get(attribute, digest) != digest:
            raise ProtocolError(
                f"Parties {me!r} and {name!r} have different hierarchies for {attribute!r}; give both the same file."
            )


Note = Callable[[str], None]
ALIGNED = 0.3


def ignore_notes(said: str) -> None:
    """Tell nobody."""


def run_party(
    party: Party,
    agreement: SessionParameters,
    parties: Parties | None,
    progress: Progress = ignore_progress,
    note: Note = ignore_notes,
) -> FusionResult:
    """Fuse this party's attributes with the others'; every party calls this with the same agreement.

    Parameters
    ----------
    party : this party and its table.
    agreement : the agreement of all parties.
    parties : the connections to the others; None if there are none.
    progress : is called with the share of the work that is done, and a note on its state.
    note : is warned of attributes that no requirement names, before anything is told about them.

    Raises
    ------
    ProtocolError
        If the others disagree, broke the protocol, or have left.
    InfeasibleError
        If too few people are common to meet the requirements.
    """
    table = party.table(agreement.target)
    progress(0.0, "comparing agreements")
    offers = exchange_contributions(party, agreement, parties, table.num_rows)
    owners = attribute_owners(offers, agreement)
    warning = uncovered_attributes_warning(owners, agreement.requirements)
    if warning is not None:
        note(warning)
    records = table.take(pa.array(_align_individuals(party, parties, table, progress)))
    _check_enough_records(agreement, records.num_rows)
    named, classes = _encode_classes(records[agreement.target])
    _compare_digests(parties, "classes", _digest(json.dumps(named), classes.tobytes()), "the class of some people")
    own = _local_attributes(party, records, classes, agreement.scoring)
    partition = EquivalenceClasses(records.num_rows, owners, agreement.requirements)
    transcript = SpecializationRounds(party.name, parties, partition, own).run(_progress_after_alignment(progress))
    evidence = _published_table(partition, agreement, named, classes)
    audit = _audit_result(evidence, agreement)
    progress(1.0, "comparing results")
    _compare_digests(parties, "result", _digest(*_columns(evidence.published)), "the fused table")
    progress(1.0, f"{len(transcript):,} rounds")
    return FusionResult(
        evidence=evidence,
        audit=audit,
        recipe=agreement,
        transcript=transcript,
        lengths=tuple(offer.rows for offer in offers.values()),
        kind=party.backend,
        warning=warning,
    )


def confirm_written(parties: Parties) -> None:
    """Wait until all parties have everything on their disks; only then may anybody move it into place.

    What remains is the moment between the last acknowledgement and the moves: a party that dies then has nothing in
    place while the others do. No number of rounds prevents that; the others' tables are the same as its own.
    """
    parties.broadcast("written")
    parties.gather("written")


def _align_individuals(party: Party, parties: Parties | None, table: pa.Table, progress: Progress) -> Ints:
    """Find the people that all parties have, in an order that is the same for all."""
    if parties is None:
        return np.arange(table.num_rows)
    from sfumato.fusion.secure.set_intersection import secure_intersection

    def tell(done: int, whole: int) -> None:
        progress(ALIGNED * done / max(whole, 1), "aligning people")

    return secure_intersection(parties, party.ids(table), progress=tell)


def _progress_after_alignment(progress: Progress) -> Progress:
    def later(done: float, note: str = "") -> None:
        progress(ALIGNED + (1 - ALIGNED) * done, note)

    return later


def _check_enough_records(agreement: SessionParameters, common: int) -> None:
    if common == 0:
        raise InfeasibleError("The parties have nobody in common; check that they identify people in the same way.")
    most = max(agreement.requirements, key=lambda each: each.k)
    if common < most.k:
        raise InfeasibleError(
            f"The parties have {common:,} people in common, but every group requires {most.k:,}; require fewer."
        )


def _encode_classes(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """Code the class by the order of its texts, which is the same at all parties."""
    named = format_values(column)
    distinct: list[str] = sorted(pc.unique(named).to_pylist())
    place = pc.index_in(named, value_set=pa.array(distinct, pa.string()))
    return distinct, place.to_numpy(zero_copy_only=False).astype(np.int64)


def _local_attributes(party: Party, records: pa.Table, classes: Ints, scoring: Scoring) -> dict[str, LocalAttribute]:
    schema = party.schema()
    coded = {name: encode_column(name, records[name], schema) for name in party.attributes}

    def made(name: str, weight: float) -> LocalAttribute:
        factors = party.value_factors.get(name, 1.0)
        return LocalAttribute(coded[name], classes, weight=weight, value_factors=factors, scoring=scoring)

    factors = party.attribute_factors
    if factors is None:
        factors = attribute_sensitivities({name: made(name, 1.0).gain for name in party.attributes})
    return {name: made(name, party.factor * factors[name]) for name in party.attributes}


def _published_table(
    partition: EquivalenceClasses, agreement: SessionParameters, named: list[str], classes: Ints
) -> AuditContext:
    table = partition.table(agreement.target, pa.array(named, pa.string()).take(pa.array(classes)))
    order = order_rows([rank_column(column) for column in table.columns], table.num_rows)
    schema = Schema(quasi_identifiers=list(partition.owners), insensitive=[agreement.target])
    return AuditContext(table.take(pa.array(order)), schema)


def _audit_result(evidence: AuditContext, agreement: SessionParameters) -> Audit:
    audit = audit_context(evidence, [each.model for each in agreement.requirements])
    if not audit.holds:
        raise GuaranteeViolatedError("The fused table fails its audit, so it is withheld; please report this as a bug.")
    return audit


def _digest(*parts: str | bytes) -> str:
    joined = b"|".join(part.encode() if isinstance(part, str) else part for part in parts)
    return sha256(joined).hexdigest()


def _columns(table: pa.Table) -> Iterator[str | bytes]:
    """Yield a table as texts and numbers that are equal for equal tables."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        encoded = column.combine_chunks().dictionary_encode()
        yield json.dumps([name, *encoded.dictionary.to_pylist()])
        yield encoded.indices.to_numpy().astype("<i4").tobytes()


def _compare_digests(parties: Parties | None, what: str, digest: str, said: str) -> None:
    """Refuse to continue if parties have computed different things."""
    if parties is None:
        return
    parties.broadcast(what, digest=digest)
    for name in parties.others:
        if parties.receive(name, what).text("digest") != digest:
            raise ProtocolError(f"Parties {parties.me!r} and {name!r} do not agree on {said}; nothing is published.")


# Fuse the tables of several parties in one process, with the same protocol that separate processes run.


def fuse(
    parties: Sequence[Party],
    *,
    target: str,
    requirements: Sequence[KAnonymityRequirement],
    scoring: Scoring = "sensitive",
    progress: Progress | bool = False,
    note: Note = ignore_notes,
) -> FusionResult:
    """Fuse the tables of several parties into one anonymous table, all in this process.

    For tests, teaching, and owners who may see each other's tables. With one party it is plain top-down
    specialization. `sfumato party` runs the same protocol between separate machines.

    Parameters
    ----------
    parties : the parties and their tables.
    target : the class column, which all of them have.
    requirements : the requirements that every group must meet.
    scoring : `"sensitive"` weighs gains by the factors of providers, attributes and values, where a node has the mean
        of its values' factors; `"sensitive-sum"` likewise with their sum, as in print; `"plain"` weighs nothing.
    progress : True shows a bar; a function is called with the share of the work that is done.
    note : is warned of attributes that no requirement names; the result warns of them, too.
    """
    names = tuple(party.name for party in parties)
    agreement = SessionParameters(parties=names, target=target, requirements=tuple(requirements), scoring=scoring)
    with open_progress(progress, "Fusing") as tell:
        results = _run_all_parties(parties, agreement, tell, note)
    if any(not each.published.equals(results[0].published) for each in results):
        raise GuaranteeViolatedError("The parties have fused different tables; please report this as a bug.")
    return results[0]


def _run_all_parties(
    parties: Sequence[Party], agreement: SessionParameters, progress: Progress, note: Note
) -> list[FusionResult]:
    if len(parties) == 1:
        return [run_party(parties[0], agreement, None, progress, note)]
    from sfumato.fusion.secure.channel import run_parties

    def run(party: Party, connected: Parties) -> FusionResult:
        watched = (progress, note) if party is parties[0] else (ignore_progress, ignore_notes)
        return run_party(party, agreement, connected, *watched)

    return list(run_parties({party.name: partial(run, party) for party in parties}).values())
