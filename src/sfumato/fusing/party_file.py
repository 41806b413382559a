"""The file of a party: what it contributes, the agreement, and where the others are, as TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from sfumato.exceptions import HierarchyError, InvalidParameterError, ReadError, RecipeError
from sfumato.fusing.agreement import Agreement
from sfumato.fusing.certificates import Identity
from sfumato.fusing.connections import Address, Connections, Peer, Waiting
from sfumato.fusing.party import Party
from sfumato.fusing.requirements import Requirement
from sfumato.hierarchies.builder import Builder
from sfumato.hierarchies.settings import read_builder
from sfumato.table.toml import read_toml, refuse_unknown, section_of, table_in
from sfumato.validation import did_you_mean

Kind = TypeVar("Kind")
Content = Mapping[str, Any]

SECTIONS = ("party", "peers", "agreement", "hierarchies", "orders", "factors", "waiting")
PARTY = ("name", "table", "query", "id", "attributes", "key", "certificate", "listen", "out")


@dataclass(frozen=True, kw_only=True)
class PartyFile:
    """The content of a party file; its table has been read.

    Parameters
    ----------
    party : the party and its table.
    agreement : the agreement of all parties.
    out : the folder to write, if one is named.
    connections : who the others are, if the file names a key.
    """

    party: Party
    agreement: Agreement
    out: Path | None
    connections: Connections | None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> PartyFile:
        """Read a file; other files that it names are looked up next to it."""
        with _content(Path(path)) as (content, folder):
            return _file(content, folder)

    @staticmethod
    def read_meeting(path: str | PathLike[str]) -> tuple[Connections | None, Agreement]:
        """Read who the others are and what is agreed, and no table."""
        with _content(Path(path)) as (content, folder):
            section = section_of(content, "party", PARTY)
            return _meeting(section, content, folder)


@contextmanager
def _content(path: Path) -> Iterator[tuple[Content, Path]]:
    """Read the file, and name it in what is refused."""
    content = read_toml(path, "party file")
    refuse_unknown(content, SECTIONS, "The party file")
    try:
        yield content, path.parent
    except (InvalidParameterError, RecipeError) as error:
        raise RecipeError(f"{path.name}: {error}") from None


def _meeting(section: Content, content: Content, folder: Path) -> tuple[Connections | None, Agreement]:
    agreement = _agreement(section_of(content, "agreement", ("parties", "target", "scoring", "requirements")))
    name = _needed(section, "[party]", "name", str)
    return _connections(name, section, content, folder) if "key" in section else None, agreement


def _file(content: Content, folder: Path) -> PartyFile:
    section = section_of(content, "party", PARTY)
    connections, agreement = _meeting(section, content, folder)
    name = _needed(section, "[party]", "name", str)
    return PartyFile(
        party=_party(name, section, content, folder),
        agreement=agreement,
        out=folder / _needed(section, "[party]", "out", str) if "out" in section else None,
        connections=connections,
    )


def _party(name: str, section: Content, content: Content, folder: Path) -> Party:
    factors = section_of(content, "factors", ("provider", "attributes", "values"))
    given = {key: table_in(content, "factors", key) for key in ("attributes", "values") if key in factors}
    hierarchies = {
        attribute: _hierarchy(attribute, how, folder) for attribute, how in table_in(content, "hierarchies").items()
    }
    orders = table_in(content, "orders")
    party = Party(
        name=name,
        data=_read(section, folder),
        id=_needed(section, "[party]", "id", str),
        attributes=_texts(section, "[party]", "attributes"),
        hierarchies=hierarchies,
        orders={key: _texts(orders, "[orders]", key) for key in orders},
        factor=factors.get("provider", 1.0),
        attribute_factors=given.get("attributes"),
        value_factors=given.get("values", {}),
    )
    _refuse_strangers(party)
    return party


def _read(section: Content, folder: Path) -> pa.Table:
    from sfumato.table.formats.known import is_url
    from sfumato.table.read import read

    source = _needed(section, "[party]", "table", str)
    query = _needed(section, "[party]", "query", str) if "query" in section else None
    return read(source if is_url(source) else folder / source, query=query)


def _refuse_strangers(party: Party) -> None:
    """Refuse orders of attributes that the party does not contribute: they are misspelled."""
    for name in party.orders:
        if name not in party.attributes:
            hint = did_you_mean(name, party.attributes) or "."
            raise RecipeError(f"[orders] names {name!r}, which is not one of the party's attributes{hint}")


def _agreement(section: Content) -> Agreement:
    requirements = section.get("requirements", [])
    if not isinstance(requirements, list) or not all(isinstance(each, Mapping) for each in requirements):
        raise RecipeError("[[agreement.requirements]] must be a list of tables, each with quasi and k.")
    return Agreement(
        parties=tuple(_texts(section, "[agreement]", "parties")),
        target=_needed(section, "[agreement]", "target", str),
        requirements=tuple(_requirement(each) for each in requirements),
        scoring=section.get("scoring", "sensitive"),
    )


def _requirement(entry: Content) -> Requirement:
    owner = "[[agreement.requirements]]"
    refuse_unknown(entry, ("quasi", "k"), owner)
    return Requirement(quasi=tuple(_texts(entry, owner, "quasi")), k=_needed(entry, owner, "k", int))


def _connections(name: str, section: Content, content: Content, folder: Path) -> Connections:
    peers = content.get("peers", [])
    if not isinstance(peers, list) or not all(isinstance(each, Mapping) for each in peers):
        raise RecipeError("[[peers]] must be a list of tables, each with name and certificate.")
    listen = section.get("listen")
    identity = Identity(
        key=folder / _needed(section, "[party]", "key", str),
        certificate=folder / _needed(section, "[party]", "certificate", str),
    )
    waiting = section_of(content, "waiting", ("others", "silence", "step"))
    return Connections(
        me=name,
        identity=identity,
        peers=tuple(_peer(each, folder) for each in peers),
        listen=None if listen is None else _address(section, "[party]", "listen"),
        waiting=Waiting(**waiting),
    )


def _peer(entry: Content, folder: Path) -> Peer:
    refuse_unknown(entry, ("name", "address", "certificate"), "[[peers]]")
    return Peer(
        name=_needed(entry, "[[peers]]", "name", str),
        certificate=folder / _needed(entry, "[[peers]]", "certificate", str),
        address=_address(entry, "[[peers]]", "address") if "address" in entry else None,
    )


def _address(entry: Content, owner: str, key: str) -> Address:
    return Address.read(_needed(entry, owner, key, str), f"{key} in {owner}")


def _hierarchy(attribute: str, how: object, folder: Path) -> Builder:
    """Read how an attribute is generalized: a CSV file, `intervals:5,10`, `prefixes`, or the table of a recipe."""
    if not isinstance(how, str | Mapping):
        raise RecipeError(f"The hierarchy of {attribute!r} must be a string or a table.")
    try:
        return read_builder(how, folder)
    except (RecipeError, InvalidParameterError, HierarchyError, ReadError) as error:
        raise RecipeError(f"The hierarchy of {attribute!r} cannot be used: {error}") from None


def _needed(section: Content, owner: str, key: str, kind: type[Kind]) -> Kind:
    value = section.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecipeError(f"{owner} needs {key}, {'a string' if kind is str else 'a whole number'}.")
    return value


def _texts(section: Content, owner: str, key: str) -> list[str]:
    value = section.get(key)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RecipeError(f"{owner} needs {key}, a list of strings.")
    return value
