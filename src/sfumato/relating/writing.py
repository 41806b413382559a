"""Write several published tables: `public/`, which is safe to share, and `internal/`, which must stay private."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.exceptions import GuaranteeViolatedError, SfumatoError, WriteError
from sfumato.judging.audit.verdict import json_number
from sfumato.models.base import GroupModel
from sfumato.relating.auditing import RelationalAudit, audit_relations
from sfumato.relating.relation import Relation
from sfumato.reporting.folders import INTERNAL, PUBLIC, check_replaceable_folder, write_json
from sfumato.reporting.reading_back import changed_columns, read_back
from sfumato.table.atomic import atomic_folder
from sfumato.table.formats.known import resolve_release_format
from sfumato.table.frames import to_arrow
from sfumato.table.write import write_as_format

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
