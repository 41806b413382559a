"""Publish several tables that are joined by a person: one level per attribute, the same for all tables' rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.fingerprint import compute_table_digest
from sfumato.exceptions import GuaranteeViolatedError, InfeasibleError, SchemaError
from sfumato.models.base import GroupModel
from sfumato.randomness import KeyedRandom, check_secret
from sfumato.relating.auditing import RelationalAudit, audit_relations, check_models
from sfumato.relating.joined_levels import ChosenLevels, JoinedLevels
from sfumato.relating.relation import LinkedTable, Relation, link_tables
from sfumato.relating.writing import write_relations
from sfumato.table.columns import strip_metadata
from sfumato.table.frames import SameBackend, get_time_zones, restore_time_zones
from sfumato.validation import is_finite_number, require


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RelationalRelease:
    """Several tables whose join keeps a promise.

    Parameters
    ----------
    frames : the published tables, each of the kind that was given, in an order that says nothing. The key is a new
        number for every person, drawn at random, and the same in all tables.
    relations : the same with their schemas, as `audit_relations` takes them.
    audit : what the published tables keep.
    levels : for every table the level of every quasi-identifier, 0 for unchanged values.
    loss : the mean over quasi-identifiers of what their cells lost; a suppressed person's cells count 1.
    suppressed : the number of persons who were left out of all tables.
    persons : the name of the table of persons.
    """

    frames: Mapping[str, SameBackend]
    relations: Mapping[str, Relation]
    audit: RelationalAudit
    levels: Mapping[str, Mapping[str, int]]
    loss: float
    suppressed: int
    individuals: str

    def write(self, folder: str | PathLike[str], *, table_format: str = "csv", replace: bool = False) -> None:
        """Write `public/` with one file per table and the promise, and `internal/` with what must stay private.

        All files are read back and judged together; if their join breaks the promise, nothing is left behind.

        Parameters
        ----------
        folder : the folder to create; refused if it is not empty, unless `replace`.
        table_format : `"csv"`, `"parquet"` or another format of files.
        replace : whether an older release there may be replaced.
        """
        models = [verdict.model for verdict in self.audit.verdicts]
        inside = {"levels": self.levels, "loss": self.loss, "suppressed": self.suppressed}
        write_relations(
            folder,
            self.relations,
            models,
            self.individuals,
            kept_inside=inside,
            table_format=table_format,
            replacing=replace,
        )

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} of {len(frame):,} rows" for name, frame in self.frames.items())
        return f"Relational release: {tables}; loss {self.loss:.4g}, {self.suppressed:,} suppressed\n{self.audit!r}"


def anonymize_relations(
    tables: Mapping[str, Relation],
    models: Sequence[GroupModel],
    *,
    persons: str,
    max_suppressed: float = 0.0,
    secret: str | None = None,
) -> RelationalRelease:
    """Publish several tables so that what their join tells about a person is shared by many [1]_.

    Every quasi-identifier of every table is generalized to one level of its hierarchy. Persons are in one group if the
    join tells the same about them, as in `audit_relations`; groups that break a model are suppressed, in all tables.
    Of all combinations of levels that suppress few enough persons, the one with the smallest loss is published.

    Parameters
    ----------
    tables : the tables, by name.
    models : what is promised, such as `KAnonymity(k=5)`: every group has 5 persons.
    persons : the name of the table that has one row per person.
    max_suppressed : the share of persons that may be suppressed, in [0, 1].
    secret : makes the new numbers of persons and the order of rows repeatable: 64 hexadecimal digits, by default drawn
        from the operating system.

    Raises
    ------
    InfeasibleError
        If no combination of levels keeps the models.

    References
    ----------
    .. [1] Nergiz, Clifton, Nergiz, "MultiRelational k-anonymity", IEEE TKDE 21(8), 2009.
       https://doi.org/10.1109/TKDE.2008.210
    """
    good = is_finite_number(max_suppressed) and 0 <= max_suppressed <= 1
    require(good, "anonymize_relations", "max_suppressed", "a share from 0 to 1", max_suppressed)
    check_secret("anonymize_relations", secret)
    linked = link_tables(tables, persons)
    _reject_unfit(linked, models)
    limit = int(Fraction(str(max_suppressed)) * linked[0].table.num_rows)
    joined = JoinedLevels(linked, models, limit)
    found = joined.search()
    if found is None:
        raise InfeasibleError(
            f"No combination of levels keeps the models with at most {limit:,} persons suppressed; promise less or "
            "allow more suppression."
        )
    stream = KeyedRandom(
        secret, "relations", about=lambda: "".join(compute_table_digest(each.table) for each in linked)
    )
    return _build_and_audit(linked, joined, found, stream)


def _reject_unfit(linked: Sequence[LinkedTable], models: Sequence[GroupModel]) -> None:
    """Refuse schemas, tables and models that cannot be published together."""
    for each in linked:
        each.schema.check_columns(each.table.column_names)
        if not each.table.num_rows:
            raise SchemaError(f"Table {each.name!r} has no rows; leave it out.")
    check_models(models, linked[0].schema, [each.schema for each in linked[1:]])
    if not models:
        raise SchemaError("No model is promised; give at least one, such as KAnonymity(k=5).")


def _build_and_audit(
    linked: Sequence[LinkedTable], joined: JoinedLevels, found: ChosenLevels, stream: KeyedRandom
) -> RelationalRelease:
    """Build the tables and audit them; withhold what does not keep its promise."""
    published = _published_tables(linked, joined, found, stream)
    relations = {
        each.name: Relation(
            data=restore_time_zones(table, get_time_zones(each.table)), schema=each.schema, key=each.key
        )
        for each, table in zip(linked, published, strict=True)
    }
    audit = audit_relations(relations, joined.models, persons=linked[0].name)
    if not audit.holds:
        raise GuaranteeViolatedError(
            "The tables found fail their audit, so they are withheld; please report this as a bug."
        )
    return RelationalRelease(
        frames={each.name: each.kind.restore(table) for each, table in zip(linked, published, strict=True)},
        relations=relations,
        audit=audit,
        levels=joined.named(found.levels),
        loss=found.loss,
        suppressed=int((~found.kept).sum()),
        individuals=linked[0].name,
    )


def _published_tables(
    linked: Sequence[LinkedTable], joined: JoinedLevels, found: ChosenLevels, stream: KeyedRandom
) -> list[pa.Table]:
    """Build the tables of those who are kept, with new numbers for them."""
    number = np.zeros(len(found.kept), dtype=np.int64)
    number[found.kept] = 1 + stream.permutation(int(found.kept.sum()))
    tables = []
    for place, each in enumerate(linked):
        rows = np.flatnonzero(found.kept[each.person])
        rows = rows[stream.permutation(len(rows))]
        rows = rows[np.argsort(number[each.person[rows]], kind="stable")]
        tables.append(_published_table(each, rows, number, joined.texts(place, found.levels)))
    return tables


def _published_table(
    each: LinkedTable, rows: npt.NDArray[np.int64], number: npt.NDArray[np.int64], shown: Mapping[str, pa.Array]
) -> pa.Table:
    schema, at = each.schema, pa.array(rows)
    columns = {}
    for name in each.table.column_names:
        if name == each.key:
            columns[name] = pa.array(number[each.person[rows]])
        elif name in shown:
            columns[name] = shown[name].take(at)
        elif name in {*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive}:
            columns[name] = each.table[name].take(at)
    return strip_metadata(pa.table(columns))
