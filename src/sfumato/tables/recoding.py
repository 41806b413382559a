"""The recoding: the published text of every value of every quasi-identifier, kept for later rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato import __version__
from sfumato._validation import suggest_closest
from sfumato.core._atomic_writes import atomic_path
from sfumato.core._toml import parse_toml, read_toml
from sfumato.core.recipe import Recipe
from sfumato.encoding.domain import Domain, get_scale
from sfumato.errors import InvalidParameterError, RecipeError
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import encode_distinct, format_distinct_values, format_values
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published._coverage import cover_labels
from sfumato.tables.published._labels import is_mask, parse_label
from sfumato.tables.published.solution import (
    SUPPRESSED_TEXT,
    Exact,
    Interval,
    Label,
    MissingCell,
    Node,
    RecodedAttribute,
    Suppressed,
)

NOTE = "# This recoding lists values of the original table. Keep it private.\n\n"
TYPES = {
    str(type_): type_ for type_ in (pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us"))
}
REMEDY = "use one that Sfumato wrote"
UNKNOWN = -1


@dataclass(frozen=True, kw_only=True, repr=False)
class ColumnRules:
    """How the values of one quasi-identifier are published.

    Parameters
    ----------
    type : the type of the original column.
    published : the published text of every value, by the text of the value; empty if everything is published as `*`.
    missing : the published text of a missing value; None if it is published as missing.
    """

    type: pa.DataType
    published: Mapping[str, str]
    missing: str | None

    @property
    def starred(self) -> bool:
        """Whether everything is published as `*`, so that every value is known."""
        return not self.published and self.missing == SUPPRESSED_TEXT

    @property
    def exact(self) -> bool:
        """Whether all values are published unchanged."""
        return self.missing is None and all(value == text for value, text in self.published.items())

    def __repr__(self) -> str:
        if self.starred:
            return "anything to '*'"
        return f"{len(self.published):,} values to {len(set(self.published.values())):,}"


@dataclass(frozen=True, eq=False, repr=False)
class RecodedColumn:
    """A column as it would be published: distinct texts (None for missing), and the index of each row's text."""

    texts: Sequence[str | None]
    numbers: npt.NDArray[np.int32]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a value that can be recoded."""
        return np.asarray(self.numbers != UNKNOWN)


@dataclass(frozen=True, kw_only=True, repr=False)
class Recoding:
    """A global recoding: every value of a quasi-identifier is published in one way, wherever it occurs.

    It lists the values of the original table, so keep it private.

    Parameters
    ----------
    recipe : the recipe that found the recoding: attributes, models, algorithm.
    columns : how the values of every quasi-identifier are published.
    """

    recipe: Recipe
    columns: Mapping[str, ColumnRules]

    @classmethod
    def of(
        cls, by_value: Mapping[str, RecodedAttribute], domains: Iterable[Domain], original: pa.Table, recipe: Recipe
    ) -> Recoding:
        """Extract the recoding of a publication.

        Parameters
        ----------
        by_value : for every quasi-identifier, the label of every code, with that of missing values last.
        domains : the domain of every quasi-identifier, which gives the meaning of its codes.
        original : the table that was published.
        recipe : the recipe that was run.
        """
        if not by_value or set(by_value) != set(recipe.schema.quasi_identifiers):
            raise InvalidParameterError(
                f"{type(recipe.algorithm).__name__} made no global recoding, so there are no rules for later rows; "
                "use a search over full-domain recodings, such as Optimal()."
            )
        types = {name: original.schema.field(name).type for name in by_value}
        return cls(
            recipe=recipe,
            columns={domain.name: _rules(by_value[domain.name], domain, types[domain.name]) for domain in domains},
        )

    def table(self, name: str) -> pa.Table:
        """Return every value of a quasi-identifier, missing last, with its published text."""
        if name not in self.columns:
            hint = suggest_closest(name, self.columns) or f"; it has rules for {', '.join(self.columns)}."
            raise InvalidParameterError(f"The recoding has no rules for {name!r}{hint}")
        rules = self.columns[name]
        values, published = [*rules.published, None], [*rules.published.values(), rules.missing]
        return pa.table({"value": pa.array(values, pa.string()), "published": pa.array(published, pa.string())})

    def recode(self, name: str, column: pa.ChunkedArray) -> RecodedColumn:
        """Look up how the cells of a column are published.

        A value that was not in the original is known if everything is published as `*`, or if it lies in one of the
        published intervals or has one of the published prefixes.
        """
        rules = self.columns[name]
        distinct, codes = encode_distinct(column)
        values = format_distinct_values(distinct).to_pylist()
        if rules.starred:
            found: list[str | None] = [SUPPRESSED_TEXT] * len(values)
        else:
            found = [rules.published.get(value) for value in values]
            unseen = [at for at, text in enumerate(found) if text is None]
            for at, text in self._covered(name, distinct.take(pa.array(unseen, pa.int64())), unseen).items():
                found[at] = text
        texts = [*dict.fromkeys(text for text in (*found, rules.missing) if text is not None), None]
        place = {text: number for number, text in enumerate(texts)}
        numbers = [UNKNOWN if text is None else place[text] for text in found]
        look_up = np.array([*numbers, place[rules.missing]], dtype=np.int32)
        return RecodedColumn(texts, look_up[codes.fill_null(len(values)).to_numpy(zero_copy_only=False)])

    def to_dict(self) -> dict[str, Any]:
        """Return the recoding as plain values, as in its TOML file."""
        columns = {name: _values_by_label(rules) for name, rules in self.columns.items()}
        return {"sfumato": {"version": __version__}, "recoding": columns, "recipe": self.recipe.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Recoding:
        """Rebuild a recoding from the values returned by `to_dict`."""
        columns, recipe = content.get("recoding"), content.get("recipe")
        if not isinstance(columns, Mapping) or not isinstance(recipe, Mapping):
            raise RecipeError(f"A recoding needs the sections [recoding] and [recipe]; {REMEDY}.")
        known = Recipe.from_dict(recipe)
        if set(columns) != set(known.schema.quasi_identifiers):
            raise RecipeError("A recoding needs rules for every quasi-identifier of its recipe, and for nothing else.")
        return cls(recipe=known, columns={name: _read_rules(name, entry) for name, entry in columns.items()})

    def to_toml(self) -> str:
        """Write the recoding as TOML."""
        import tomli_w

        return NOTE + tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> Recoding:
        """Read a recoding that `to_toml` wrote."""
        return cls.from_dict(parse_toml(text, "recoding", remedy=REMEDY))

    def write(self, path: str | PathLike[str]) -> None:
        """Write the recoding to a TOML file; an existing file is replaced. Keep it private."""
        with atomic_path(Path(path)) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8", newline="\n")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Recoding:
        """Read a recoding from a TOML file."""
        return cls.from_dict(read_toml(Path(path), "recoding", remedy=REMEDY))

    def __repr__(self) -> str:
        return f"Recoding({', '.join(f'{name}: {rules!r}' for name, rules in self.columns.items())})"

    def _covered(self, name: str, values: pa.Array, places: Sequence[int]) -> dict[int, str]:
        """Find the published interval or prefix that covers each of some values, by their index."""
        rules, schema = self.columns[name], self.recipe.schema
        domain = _axis_of(name, values, rules.type, schema)
        if domain is None or not len(values):
            return {}
        texts = list(dict.fromkeys(rules.published.values()))
        known = {} if domain.scale is Scale.NUMERIC else {value: value for value in rules.published}
        labels = [parse_label(text, domain.scale, known) for text in texts]
        wide = [number for number, label in enumerate(labels) if _is_wide(label)]
        coverage = cover_labels([labels[number] for number in wide], domain)
        found: dict[str, set[str]] = {}
        for at, number in enumerate(wide):
            codes = coverage.members.get(at, np.arange(coverage.low[at], coverage.high[at] + 1))
            for value in np.asarray(codes).tolist():
                found.setdefault(domain.texts[value], set()).add(texts[number])
        of_place = dict(zip(places, format_distinct_values(values).to_pylist(), strict=True))
        return {place: next(iter(found[value])) for place, value in of_place.items() if len(found.get(value, ())) == 1}


def _rules(recoded: RecodedAttribute, domain: Domain, type_: pa.DataType) -> ColumnRules:
    labels = list(recoded.labels)
    *numbers, lost = recoded.by_group.tolist()
    missing = labels[lost].text
    if all(isinstance(labels[number], Suppressed) for number in {*numbers, lost}):
        return ColumnRules(type=type_, published={}, missing=missing)
    published = {value: labels[number].text for value, number in zip(domain.texts, numbers, strict=True)}
    return ColumnRules(type=type_, published={v: t for v, t in published.items() if t is not None}, missing=missing)


def _axis_of(name: str, values: pa.Array, type_: pa.DataType, schema: Schema) -> Domain | None:
    """Return a domain in which published intervals or prefixes can be looked up, if there is one."""
    builder = schema.hierarchies.get(name)
    if isinstance(builder, Prefixes):
        return Domain(name, Scale.NOMINAL, format_distinct_values(values))
    ordered = get_scale(name, type_, schema) is Scale.NUMERIC or isinstance(builder, Intervals)
    if not ordered or type_family(values.type) != type_family(type_):
        return None
    return Domain(name, Scale.NUMERIC, values.sort())


def type_family(type_: pa.DataType) -> str:
    """Return the canonical types that have values of the same kind."""
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return "numbers"
    return "dates" if pa.types.is_date(type_) or pa.types.is_timestamp(type_) else str(type_)


def _is_wide(label: Label) -> bool:
    return isinstance(label, Interval) or (isinstance(label, Node) and is_mask(label.text))


def _values_by_label(rules: ColumnRules) -> dict[str, Any]:
    """Return values by their published text, apart from those published unchanged."""
    exact = [value for value, text in rules.published.items() if value == text]
    groups: dict[str, list[str]] = {}
    for value, text in rules.published.items():
        if value != text:
            groups.setdefault(text, []).append(value)
    return {
        "type": str(rules.type),
        **({} if rules.missing is None else {"missing": rules.missing}),
        **({"exact": exact} if exact else {}),
        **({"published": groups} if groups else {}),
    }


def _read_rules(name: str, entry: object) -> ColumnRules:
    known = {"type", "missing", "exact", "published"}
    if not isinstance(entry, Mapping) or not set(entry) <= known or entry.get("type") not in TYPES:
        raise RecipeError(f"[recoding.{name}] must have a type and, where they apply, missing, exact and published.")
    missing, exact, groups = entry.get("missing"), entry.get("exact", []), entry.get("published", {})
    lists: list[Any] = [exact, *groups.values()] if isinstance(groups, Mapping) else [None]
    texts = all(isinstance(each, list) and all(isinstance(value, str) for value in each) for each in lists)
    if not texts or not isinstance(missing, str | None):
        raise RecipeError(f"[recoding.{name}] must list values as text, with their published texts.")
    published = {value: value for value in exact}
    published.update((value, text) for text, values in groups.items() for value in values)
    if len(published) < sum(map(len, lists)):
        raise RecipeError(f"[recoding.{name}] lists some values twice; list each value once.")
    return ColumnRules(type=TYPES[entry["type"]], published=published, missing=missing)


def label_from_text(text: str | None, *, exact: bool) -> Label:
    """Convert a published text to a label."""
    if text is None:
        return MissingCell()
    if text == SUPPRESSED_TEXT:
        return Suppressed()
    return Exact(text) if exact else Node(text)


# The schema by which published later rows are read: what the recoding of an earlier release says of their values.


def published_schema(recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn]) -> Schema:
    """Replace hierarchies that other values would change by what the recoding says."""
    schema = recoding.recipe.schema
    trees: dict[str, HierarchyBuilder] = {}
    for name, rules in recoding.columns.items():
        builder = schema.hierarchies.get(name)
        if not rules.starred and (builder is None or isinstance(builder, Intervals | Taxonomy | OrderedGroups)):
            continue
        ordered = type_family(known[name].type) in {"numbers", "dates"}
        if not (rules.starred and ordered):
            trees |= _hierarchy_from_labels(name, known, columns[name])
        schema = _schema_without(schema, name)
    return changed(schema, hierarchies={**schema.hierarchies, **trees})


def _hierarchy_from_labels(name: str, known: pa.Table, column: RecodedColumn) -> dict[str, HierarchyBuilder]:
    """Build a tree from the values of a column and their published texts."""
    values = format_values(known[name])
    pairs = pa.table({"value": values, "label": column.numbers}).group_by(["value", "label"]).aggregate([])
    rows = [
        (value, column.texts[label], SUPPRESSED_TEXT)
        for value, label in zip(pairs["value"].to_pylist(), pairs["label"].to_pylist(), strict=True)
        if value is not None
    ]
    return {name: Taxonomy.from_rows(sorted(rows))} if rows else {}


def _schema_without(schema: Schema, name: str) -> Schema:
    """Drop what a schema says about the values of an attribute."""

    def others(given: Mapping[str, Any]) -> dict[str, Any]:
        return {other: value for other, value in given.items() if other != name}

    return changed(
        schema,
        hierarchies=others(schema.hierarchies),
        scales=others(schema.scales),
        orders=others(schema.orders),
    )
