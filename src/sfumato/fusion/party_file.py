"""The file of a party: what it contributes, the agreement, and where the others are, as TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from sfumato._validation import suggest_closest
from sfumato.core._toml import check_known_keys, get_section, get_table, read_toml
from sfumato.errors import HierarchyError, InvalidParameterError, ReadError, RecipeError
from sfumato.fusion._connections import Address, Peer, PeerConnections, Timeouts
from sfumato.fusion.certificates import Credentials
from sfumato.fusion.party import Party
from sfumato.fusion.session import KAnonymityRequirement, SessionParameters
from sfumato.hierarchies._settings import parse_builder
from sfumato.hierarchies.hierarchy import HierarchyBuilder

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
    agreement: SessionParameters
    out: Path | None
    connections: PeerConnections | None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> PartyFile:
        """Read a file; other files that it names are looked up next to it."""
        with _content(Path(path)) as (content, folder):
            return _resolve_path(content, folder)

    @staticmethod
    def read_meeting(path: str | PathLike[str]) -> tuple[PeerConnections | None, SessionParameters]:
        """Read who the others are and what is agreed, and no table."""
        with _content(Path(path)) as (content, folder):
            section = get_section(content, "party", PARTY)
            return _meeting(section, content, folder)


@contextmanager
def _content(path: Path) -> Iterator[tuple[Content, Path]]:
    """Read the file, and name it in what is refused."""
    content = read_toml(path, "party file")
    check_known_keys(content, SECTIONS, "The party file")
    try:
        yield content, path.parent
    except (InvalidParameterError, RecipeError) as error:
        raise RecipeError(f"{path.name}: {error}") from None


def _meeting(section: Content, content: Content, folder: Path) -> tuple[PeerConnections | None, SessionParameters]:
    agreement = _parse_session(get_section(content, "agreement", ("parties", "target", "scoring", "requirements")))
    name = _required_value(section, "[party]", "name", str)
    return _parse_connections(name, section, content, folder) if "key" in section else None, agreement


def _resolve_path(content: Content, folder: Path) -> PartyFile:
    section = get_section(content, "party", PARTY)
    connections, agreement = _meeting(section, content, folder)
    name = _required_value(section, "[party]", "name", str)
    return PartyFile(
        party=_parse_party(name, section, content, folder),
        agreement=agreement,
        out=folder / _required_value(section, "[party]", "out", str) if "out" in section else None,
        connections=connections,
    )


def _parse_party(name: str, section: Content, content: Content, folder: Path) -> Party:
    factors = get_section(content, "factors", ("provider", "attributes", "values"))
    given = {key: get_table(content, "factors", key) for key in ("attributes", "values") if key in factors}
    hierarchies = {
        attribute: _parse_hierarchy(attribute, how, folder)
        for attribute, how in get_table(content, "hierarchies").items()
    }
    orders = get_table(content, "orders")
    party = Party(
        name=name,
        data=_read_table(section, folder),
        id=_required_value(section, "[party]", "id", str),
        attributes=_text_list(section, "[party]", "attributes"),
        hierarchies=hierarchies,
        orders={key: _text_list(orders, "[orders]", key) for key in orders},
        factor=factors.get("provider", 1.0),
        attribute_factors=given.get("attributes"),
        value_factors=given.get("values", {}),
    )
    _check_attribute_names(party)
    return party


def _read_table(section: Content, folder: Path) -> pa.Table:
    from sfumato.io._reading import read
    from sfumato.io.formats import is_url

    source = _required_value(section, "[party]", "table", str)
    query = _required_value(section, "[party]", "query", str) if "query" in section else None
    return read(source if is_url(source) else folder / source, query=query)


def _check_attribute_names(party: Party) -> None:
    """Refuse orders of attributes that the party does not contribute: they are misspelled."""
    for name in party.orders:
        if name not in party.attributes:
            hint = suggest_closest(name, party.attributes) or "."
            raise RecipeError(f"[orders] names {name!r}, which is not one of the party's attributes{hint}")


def _parse_session(section: Content) -> SessionParameters:
    requirements = section.get("requirements", [])
    if not isinstance(requirements, list) or not all(isinstance(each, Mapping) for each in requirements):
        raise RecipeError("[[agreement.requirements]] must be a list of tables, each with quasi and k.")
    return SessionParameters(
        parties=tuple(_text_list(section, "[agreement]", "parties")),
        target=_required_value(section, "[agreement]", "target", str),
        requirements=tuple(_parse_requirement(each) for each in requirements),
        scoring=section.get("scoring", "sensitive"),
    )


def _parse_requirement(entry: Content) -> KAnonymityRequirement:
    owner = "[[agreement.requirements]]"
    check_known_keys(entry, ("quasi", "k"), owner)
    return KAnonymityRequirement(
        quasi=tuple(_text_list(entry, owner, "quasi")), k=_required_value(entry, owner, "k", int)
    )


def _parse_connections(name: str, section: Content, content: Content, folder: Path) -> PeerConnections:
    peers = content.get("peers", [])
    if not isinstance(peers, list) or not all(isinstance(each, Mapping) for each in peers):
        raise RecipeError("[[peers]] must be a list of tables, each with name and certificate.")
    listen = section.get("listen")
    identity = Credentials(
        key=folder / _required_value(section, "[party]", "key", str),
        certificate=folder / _required_value(section, "[party]", "certificate", str),
    )
    waiting = get_section(content, "waiting", ("others", "silence", "step"))
    return PeerConnections(
        me=name,
        identity=identity,
        peers=tuple(_parse_peer(each, folder) for each in peers),
        listen=None if listen is None else _parse_address(section, "[party]", "listen"),
        waiting=Timeouts(**waiting),
    )


def _parse_peer(entry: Content, folder: Path) -> Peer:
    check_known_keys(entry, ("name", "address", "certificate"), "[[peers]]")
    return Peer(
        name=_required_value(entry, "[[peers]]", "name", str),
        certificate=folder / _required_value(entry, "[[peers]]", "certificate", str),
        address=_parse_address(entry, "[[peers]]", "address") if "address" in entry else None,
    )


def _parse_address(entry: Content, owner: str, key: str) -> Address:
    return Address.parse(_required_value(entry, owner, key, str), f"{key} in {owner}")


def _parse_hierarchy(attribute: str, how: object, folder: Path) -> HierarchyBuilder:
    """Read how an attribute is generalized: a CSV file, `intervals:5,10`, `prefixes`, or the table of a recipe."""
    if not isinstance(how, str | Mapping):
        raise RecipeError(f"The hierarchy of {attribute!r} must be a string or a table.")
    try:
        return parse_builder(how, folder)
    except (RecipeError, InvalidParameterError, HierarchyError, ReadError) as error:
        raise RecipeError(f"The hierarchy of {attribute!r} cannot be used: {error}") from None


def _required_value(section: Content, owner: str, key: str, kind: type[Kind]) -> Kind:
    value = section.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecipeError(f"{owner} needs {key}, {'a string' if kind is str else 'a whole number'}.")
    return value


def _text_list(section: Content, owner: str, key: str) -> list[str]:
    value = section.get(key)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise RecipeError(f"{owner} needs {key}, a list of strings.")
    return value
