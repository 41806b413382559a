"""Publish several tables that are joined by a person: one level per attribute, the same for all tables' rows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom, check_secret
from sfumato._validation import is_finite_number, require
from sfumato.core._atomic_writes import atomic_folder
from sfumato.core._formatting import json_number
from sfumato.core.writing import INTERNAL, PUBLIC, check_replaceable_folder, write_json
from sfumato.errors import GuaranteeViolatedError, InfeasibleError, SchemaError, SfumatoError, WriteError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import SameBackend, get_time_zones, restore_time_zones, to_arrow
from sfumato.io._values import compute_table_digest
from sfumato.io._writing import write_as_format
from sfumato.io.formats import resolve_release_format
from sfumato.tables._verification import changed_columns, read_back
from sfumato.tables.models.base import GroupModel
from sfumato.tables.relational._joined_levels import ChosenLevels, JoinedLevels
from sfumato.tables.relational.audit import RelationalAudit, audit_relations, check_models
from sfumato.tables.relational.relation import LinkedTable, Relation, link_tables

# Write several published tables: `public/`, which is safe to share, and `internal/`, which must stay private.

LEVELS = "levels.json"
NAME = re.compile(r"\w[\w -]*", re.ASCII)


def write_relations(
    folder: str | os.PathLike[str],
    relations: Mapping[str, Relation],
    models: Sequence[GroupModel],
    persons: str,
    *,
    kept_inside: Mapping[str, object],
    table_format: str,
    replacing: bool,
) -> None:
    """Write all tables, or nothing: they are read back from their files and judged before they are put in place.

    Parameters
    ----------
    folder : the folder to create; refused if it is not empty, unless `replacing`.
    relations : the published tables, as Arrow tables.
    models : what is promised.
    persons : the name of the table of persons.
    kept_inside : what is written into `internal/` only.
    table_format : the format of the tables, such as `"csv"` or `"parquet"`.
    replacing : whether an older release there may be replaced.
    """
    form = resolve_release_format(table_format, excel_safe=False)
    strange = [name for name in relations if not NAME.fullmatch(name)]
    if strange:
        raise WriteError(f"Table {strange[0]!r} cannot be a file; use letters, digits, spaces and hyphens in its name.")
    if replacing:
        check_replaceable_folder(Path(folder))
    with atomic_folder(Path(folder), replace=replacing) as made:
        (made / PUBLIC).mkdir()
        files = {name: made / PUBLIC / f"{name}{form.suffixes[0]}" for name in relations}
        for name, relation in relations.items():
            write_as_format(form, _arrow(relation), files[name], {})
        told = _public_statement(_audit_written(files, relations, models, persons))
        write_json(made / PUBLIC / "promise.json", told)
        (made / INTERNAL).mkdir(mode=0o700)
        write_json(made / INTERNAL / LEVELS, kept_inside)
        (made / INTERNAL / LEVELS).chmod(0o600)


def _audit_written(
    files: Mapping[str, Path], relations: Mapping[str, Relation], models: Sequence[GroupModel], persons: str
) -> RelationalAudit:
    try:
        shown = {name: read_back(path, excel_safe=False, conventions={}) for name, path in files.items()}
        written = {name: replace(relations[name], data=table) for name, table in shown.items()}
        audit = audit_relations(written, models, persons=persons)
    except SfumatoError as error:
        raise GuaranteeViolatedError(
            f"The published tables could not be judged from their files, so nothing was written: {error}"
        ) from None
    changed = [name for name, table in shown.items() if changed_columns(to_arrow(relations[name].data)[0], table)]
    if changed or not audit.holds:
        where = f"table {changed[0]!r} reads otherwise in its file" if changed else "their files break the promise"
        raise GuaranteeViolatedError(
            f"The tables were judged, but {where}, so nothing was written; write another format."
        )
    return audit


def _public_statement(audit: RelationalAudit) -> dict[str, object]:
    """Tell receivers what holds, without parameters that may name values."""
    verdicts = [
        {
            "model": each.model.name,
            "level": json_number(each.level),
            "limit": json_number(each.model.limit),
            "holds": each.holds,
        }
        for each in audit.verdicts
    ]
    found = audit.to_dict()
    return {"unit": "persons, by what the join of all tables tells about them", **found, "models": verdicts}


def _arrow(relation: Relation) -> pa.Table:
    assert isinstance(relation.data, pa.Table)  # noqa: S101 - what is published is kept as Arrow
    return relation.data


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
    individuals : the name of the table of persons.
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
