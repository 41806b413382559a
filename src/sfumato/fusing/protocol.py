"""The protocol of one party: align people, specialize in rounds, and publish only what all parties agree on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.applying import column_ranks, order_rows
from sfumato.coding.codes import code_column
from sfumato.core.progress import Progress, silent
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, ProtocolError
from sfumato.fusing.agreement import Agreement, Scoring
from sfumato.fusing.candidates import OwnAttribute
from sfumato.fusing.factors import attribute_factors
from sfumato.fusing.fused import Fused
from sfumato.fusing.offers import exchange_offers, owners_of
from sfumato.fusing.party import Party
from sfumato.fusing.requirements import unrequired_warning
from sfumato.fusing.rounds import Rounds
from sfumato.fusing.shared_groups import SharedGroups
from sfumato.judging.audit.audit import Audit, audit_evidence
from sfumato.judging.evidence import Evidence
from sfumato.schema.schema import Schema
from sfumato.table.values import texts

if TYPE_CHECKING:
    from sfumato.fusing.secure.channel import Parties

Ints = npt.NDArray[np.int64]
Note = Callable[[str], None]
ALIGNED = 0.3


def untold(said: str) -> None:
    """Tell nobody."""


def take_part(
    party: Party, agreement: Agreement, parties: Parties | None, progress: Progress = silent, note: Note = untold
) -> Fused:
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
    offers = exchange_offers(party, agreement, parties, table.num_rows)
    owners = owners_of(offers, agreement)
    warning = unrequired_warning(owners, agreement.requirements)
    if warning is not None:
        note(warning)
    records = table.take(pa.array(_align(party, parties, table, progress)))
    _refuse_too_few(agreement, records.num_rows)
    named, classes = _classes(records[agreement.target])
    _compare(parties, "classes", _digest(json.dumps(named), classes.tobytes()), "the class of some people")
    own = _own_attributes(party, records, classes, agreement.scoring)
    partition = SharedGroups(records.num_rows, owners, agreement.requirements)
    transcript = Rounds(party.name, parties, partition, own).run(_after_aligning(progress))
    evidence = _published(partition, agreement, named, classes)
    audit = _audited(evidence, agreement)
    progress(1.0, "comparing results")
    _compare(parties, "result", _digest(*_columns(evidence.published)), "the fused table")
    progress(1.0, f"{len(transcript):,} rounds")
    return Fused(
        evidence=evidence,
        audit=audit,
        recipe=agreement,
        transcript=transcript,
        lengths=tuple(offer.rows for offer in offers.values()),
        kind=party.kind,
        warning=warning,
    )


def acknowledge(parties: Parties) -> None:
    """Wait until all parties have everything on their disks; only then may anybody move it into place.

    What remains is the moment between the last acknowledgement and the moves: a party that dies then has nothing in
    place while the others do. No number of rounds prevents that; the others' tables are the same as its own.
    """
    parties.broadcast("written")
    parties.gather("written")


def _align(party: Party, parties: Parties | None, table: pa.Table, progress: Progress) -> Ints:
    """Find the people that all parties have, in an order that is the same for all."""
    if parties is None:
        return np.arange(table.num_rows)
    from sfumato.fusing.secure.set_intersection import secure_intersection

    def tell(done: int, whole: int) -> None:
        progress(ALIGNED * done / max(whole, 1), "aligning people")

    return secure_intersection(parties, party.ids(table), progress=tell)


def _after_aligning(progress: Progress) -> Progress:
    def later(done: float, note: str = "") -> None:
        progress(ALIGNED + (1 - ALIGNED) * done, note)

    return later


def _refuse_too_few(agreement: Agreement, common: int) -> None:
    if common == 0:
        raise InfeasibleError("The parties have nobody in common; check that they identify people in the same way.")
    most = max(agreement.requirements, key=lambda each: each.k)
    if common < most.k:
        raise InfeasibleError(
            f"The parties have {common:,} people in common, but every group requires {most.k:,}; require fewer."
        )


def _classes(column: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """Code the class by the order of its texts, which is the same at all parties."""
    named = texts(column)
    distinct: list[str] = sorted(pc.unique(named).to_pylist())
    place = pc.index_in(named, value_set=pa.array(distinct, pa.string()))
    return distinct, place.to_numpy(zero_copy_only=False).astype(np.int64)


def _own_attributes(party: Party, records: pa.Table, classes: Ints, scoring: Scoring) -> dict[str, OwnAttribute]:
    schema = party.schema()
    coded = {name: code_column(name, records[name], schema) for name in party.attributes}

    def made(name: str, weight: float) -> OwnAttribute:
        factors = party.value_factors.get(name, 1.0)
        return OwnAttribute(coded[name], classes, weight=weight, value_factors=factors, scoring=scoring)

    factors = party.attribute_factors
    if factors is None:
        factors = attribute_factors({name: made(name, 1.0).gain for name in party.attributes})
    return {name: made(name, party.factor * factors[name]) for name in party.attributes}


def _published(partition: SharedGroups, agreement: Agreement, named: list[str], classes: Ints) -> Evidence:
    table = partition.table(agreement.target, pa.array(named, pa.string()).take(pa.array(classes)))
    order = order_rows([column_ranks(column) for column in table.columns], table.num_rows)
    schema = Schema(quasi=list(partition.owners), insensitive=[agreement.target])
    return Evidence(table.take(pa.array(order)), schema)


def _audited(evidence: Evidence, agreement: Agreement) -> Audit:
    audit = audit_evidence(evidence, [each.model for each in agreement.requirements])
    if not audit.holds:
        raise BrokenPromiseError("The fused table fails its audit, so it is withheld; please report this as a bug.")
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


def _compare(parties: Parties | None, what: str, digest: str, said: str) -> None:
    """Refuse to continue if parties have computed different things."""
    if parties is None:
        return
    parties.broadcast(what, digest=digest)
    for name in parties.others:
        if parties.receive(name, what).text("digest") != digest:
            raise ProtocolError(f"Parties {parties.me!r} and {name!r} do not agree on {said}; nothing is published.")
