"""What receivers are told besides the table: nothing that the table itself does not show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato._locale.messages import load_messages
from sfumato._threads import map_in_threads
from sfumato.core._descriptions import ModelDescription
from sfumato.core._formatting import json_number
from sfumato.io._values import count_distinct, count_missing
from sfumato.report.texts import BUCKET, ENGLISH, FORMS, comparison_text, model_texts
from sfumato.schema.schema import Schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._verdict import Verdict
from sfumato.tables.audit.audit import Audit, unprotected_attributes
from sfumato.tables.masking._apply import MaskingRecord
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published._labels import is_mask, is_suffix_mask
from sfumato.tables.published.published_table import PublishedColumn, find_bucket_column, parse_bucket_column
from sfumato.tables.published.solution import Center, Exact, Interval, Label, MissingCell, Node, Suppressed, ValueSet


def make_guarantee(
    models: Sequence[GroupModel],
    audit: Audit,
    masking: MaskingRecord | None = None,
    counterfeits: Mapping[str, Any] | None = None,
    *,
    counts_rows: bool = False,
) -> dict[str, Any]:
    """Return what is promised and what an audit of the published table alone finds; `counterfeits`, if there are any.

    `counts_rows` says that individuals have several rows in the original, but not how many.

    Of masking, receivers are told its steps with the parameters that the data had no part in.

    What the audit knows about the original (`truth`) is left out, and so is everything else in the recipe. If a
    model names sensitive values, only those that the published table shows are included.
    """
    return {
        "sfumato": __version__,
        "promise": [
            describe_model(
                model, audit.counts.schema, audit.counts.published_values(model), masking.perturbed if masking else ()
            )
            for model in models
        ],
        "audit": {
            "holds": all(verdict.holds for verdict in audit.verdicts),
            "records": audit.records,
            "groups": len(audit.sizes),
            "models": [_verdict_statement(verdict) for verdict in audit.verdicts],
            "levels": audit.to_dict()["levels"],
        },
        "unpromised": unprotected_columns(audit),
        **(masking_statement(masking, models) if masking else {}),
        **({"counterfeits": dict(counterfeits)} if counterfeits else {}),
        **({"merged_values": merged_facts(audit)} if audit.merged_values else {}),
        **({"rows_counted": ENGLISH("promises.rows_counted_told")} if counts_rows else {}),
        "words": model_texts_used(audit),
        "missing": str(audit.counts.schema.missing),
        "counted": ENGLISH("promises.counted", missing=ENGLISH(f"kinds.missing.{audit.counts.schema.missing}")),
    }


def masking_statement(masking: MaskingRecord, models: Sequence[GroupModel]) -> dict[str, Any]:
    """Tell the steps of masking, which columns they perturbed, and that no model is promised where none is."""
    told = {"perturbed": list(masking.perturbed), "masking": [plain_values(each.public()) for each in masking.records]}
    return told if models else {**told, "no_model": ENGLISH("promises.no_model")}


def counterfeit_statement(evidence: AuditContext) -> dict[str, Any]:
    """Tell how many published rows belong to nobody, and how many each bucket has, by its number; nothing if none does.

    Which value of a bucket is theirs is not told.
    """
    if not evidence.counterfeits:
        return {}
    nobody = evidence.published.filter(pa.array(evidence.source_rows < 0))
    buckets = {}
    for name in nobody.column_names:
        if is_bucket_column(name, evidence.schema):
            counted = pc.value_counts(nobody[name].drop_null()).to_pylist()
            buckets[name] = {str(each["values"]): each["counts"] for each in sorted(counted, key=lambda c: c["values"])}
    told = ENGLISH("promises.counterfeits", n=evidence.counterfeits)
    return {"rows": evidence.counterfeits, "buckets": buckets, "words": told}


def plain_values(value: Any) -> Any:
    """Return lists for tuples, as JSON has it."""
    if isinstance(value, Mapping):
        return {name: plain_values(each) for name, each in value.items()}
    return [plain_values(each) for each in value] if isinstance(value, list | tuple) else value


def unprotected_columns(audit: Audit) -> list[dict[str, Any]]:
    """Name every sensitive column without a promise, with its worst exposure in the published table, and in words."""
    return [{**each.to_dict(), "words": each.sentence} for each in unprotected_attributes(audit)]


def merged_facts(audit: Audit) -> list[dict[str, Any]]:
    """Tell how many values of each sensitive column look alike or overlap, as the published table shows them."""
    return [{**each.to_dict(), "words": each.sentence} for each in audit.merged_values]


def describe_model(
    model: GroupModel, schema: Schema, shown: Collection[str] | None = None, perturbed: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a model with its parameters, and in words; if `shown` is given, only with these sensitive values.

    Where columns that it reads were perturbed before, the words say that it is their masked values that are counted.
    `buckets` and `masked` are there only if the words are about flagged cells, or about masked columns.
    """
    parameters = model.parameters()
    if shown is not None:
        columns = set(schema.attributes) - set(model.protected_values)
        parameters = {key: _public_parameters(columns, shown, value) for key, value in parameters.items()}
    read = {*(model.scope or schema.quasi_identifiers), *model.sensitive_attributes}
    masked = [name for name in perturbed if name in read]
    told = {
        "model": model.name,
        "parameters": parameters,
        **({"buckets": True} if set(model.sensitive_attributes) & set(schema.flags) else {}),
        **({"masked": masked} if masked else {}),
    }
    return {**told, "words": fill_model_text(told, model_texts(model))}


def fill_model_text(told: Mapping[str, Any], words: ModelDescription) -> str:
    """Say a promise, as it is told by `promised`, in these words of its model."""
    sentence = words.sentence(told["parameters"], buckets=told.get("buckets", False))
    if "masked" not in told:
        return sentence
    say, bare = load_messages(words.language), sentence.removesuffix(".").removesuffix("。")
    return say("promises.after_masking", promise=bare, columns=told["masked"])


def model_texts_used(audit: Audit) -> dict[str, dict[str, str]]:
    """Return by name the words of every model that an audit judges, and of those that they are made of."""
    told: dict[str, dict[str, str]] = {}
    judged = [*audit.verdicts, *audit.levels]
    while judged:
        verdict = judged.pop(0)
        words = model_texts(verdict.model)
        entry = {
            "title": words.title,
            "level": words.level,
            "compared": comparison_text(verdict.model),
            "open": words.open,
        }
        told.setdefault(verdict.model.name, entry)
        judged += verdict.parts
    return told


def _verdict_statement(verdict: Verdict) -> dict[str, Any]:
    return {
        "model": verdict.model.name,
        "sensitive": ", ".join(verdict.model.sensitive_attributes),
        # How far groups are from the original would tell of those who were suppressed, so its limit stands for it.
        "level": json_number(verdict.model.limit if verdict.model.needs_original else verdict.level),
        "limit": json_number(verdict.model.limit),
        "holds": verdict.holds,
        **({"needs_original": True} if verdict.model.needs_original else {}),
        **({"parts": [_verdict_statement(part) for part in verdict.parts]} if verdict.parts else {}),
    }


def _public_parameters(columns: Collection[str], shown: Collection[str], value: object) -> object:
    """Leave out of a parameter the texts that are neither columns nor sensitive values that the table shows."""
    if isinstance(value, Mapping):
        return {text: entry for text, entry in value.items() if text in shown}
    if isinstance(value, list | tuple):
        return [each for each in value if not isinstance(each, str) or each in shown or each in columns]
    return value


def make_data_dictionary(evidence: AuditContext) -> list[dict[str, Any]]:
    """Describe every published column, from the published table alone."""
    published, schema = evidence.published, evidence.schema
    assert evidence.original is None  # noqa: S101 - nothing here may know the original
    quasi = {column.name: column for column in evidence.table.columns}

    def described(name: str) -> dict[str, Any]:
        return {
            "name": name,
            "role": BUCKET if is_bucket_column(name, schema) else schema.role(name).value,
            "type": type_text(published[name].type),
            "forms": _mark_masked_forms(
                _column_forms(name, published, quasi, schema), name in evidence.masking.perturbed
            ),
            "distinct": _distinct_values(name, published, quasi),
            "missing": count_missing(published[name], evidence.weights),
        }

    return list(map_in_threads(described, published.column_names, published.num_rows))


def _distinct_values(name: str, published: pa.Table, quasi: Mapping[str, PublishedColumn]) -> int:
    if name in quasi and find_bucket_column(published.column_names, name) is None:
        return sum(text is not None for text in quasi[name].texts)
    return count_distinct(published[name])


def is_bucket_column(name: str, schema: Schema) -> bool:
    """Return whether a column numbers the buckets of an attribute."""
    return bool(parse_bucket_column(name, schema.attributes))


def _column_forms(name: str, published: pa.Table, quasi: Mapping[str, PublishedColumn], schema: Schema) -> list[str]:
    if is_bucket_column(name, schema):
        return ["bucket numbers"]
    own = cell_forms(quasi[name]) if name in quasi else ["exact values"]
    bucket = find_bucket_column(published.column_names, name)
    if bucket is None:
        return own
    alone = [form for form in own if form != "suppressed"] if name in quasi and published[bucket].null_count else []
    return [*alone, "values of a bucket"]


def _mark_masked_forms(forms: list[str], perturbed: bool) -> list[str]:
    """Do not call a value exact that masking may have changed."""
    return ["masked values" if perturbed and form == "exact values" else form for form in forms]


def cell_forms(column: PublishedColumn) -> list[str]:
    """Return the forms that the cells of a quasi-identifier have, in a fixed order."""
    found = {_cell_form(label) for label in column.others.values() if not isinstance(label, MissingCell)}
    found |= {"intervals"} if len(column.intervals) else set()
    found |= {"sets"} if len(column.sets) else set()
    return [form for form in FORMS if form in found]


def type_text(type_: pa.DataType) -> str:
    """Return the name of a canonical type in plain words.

    >>> type_text(pa.int64())
    'whole number'
    """
    if pa.types.is_boolean(type_):
        return "true or false"
    if pa.types.is_integer(type_):
        return "whole number"
    if pa.types.is_floating(type_):
        return "number"
    if pa.types.is_date(type_):
        return "date"
    return "date and time" if pa.types.is_timestamp(type_) else "text"


def _cell_form(label: Label) -> str:
    match label:
        case Interval():
            return "intervals"
        case Node():
            if not is_mask(label.text.strip()):
                return "taxonomy labels"
            return "suffixes" if is_suffix_mask(label.text) else "prefixes"
        case ValueSet():
            return "sets"
        case Suppressed():
            return "suppressed"
        case Exact() | Center() | MissingCell():
            return "exact values"
