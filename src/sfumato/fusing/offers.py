"""What the parties tell each other before they begin: what each contributes, and what each expects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from sfumato.exceptions import ProtocolError, SchemaError
from sfumato.fusing.agreement import SessionParameters, differing_fields
from sfumato.fusing.party import Party

if TYPE_CHECKING:
    from sfumato.fusing.secure.channel import Parties


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
