"""From options to a recipe: the recipe file, overridden by the options."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato._validation import suggest_closest
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.hierarchies._settings import parse_builder
from sfumato.io._values import parse_number

if TYPE_CHECKING:
    from sfumato.cli._options import RecipeOptions
    from sfumato.core.recipe import Recipe
    from sfumato.schema.schema import Schema
    from sfumato.tables.algorithms.base import Shows, TableAlgorithm
    from sfumato.tables.models.base import GroupModel

ROLES = ("identifier", "quasi", "sensitive", "insensitive")
PAIR = 2
NO_MODEL = {"name": "k-anonymity", "k": 1}


def build_recipe(
    asked: RecipeOptions,
    *,
    algorithm: str | None,
    max_suppressed: float | None,
    seed: int | None,
    block_rows: int | None = None,
    count_rows: bool = False,
    publish_text: Sequence[str] = (),
    steps: Sequence[str] = (),
) -> Recipe:
    """Build the recipe of a run; masking steps follow those of the recipe file."""
    from sfumato.core.recipe import Recipe

    content = _content(asked)
    if steps:
        content["masking"] = [*content.get("masking", []), *(_choice("step", text) for text in steps)]
    if not content["models"] and not content.get("masking"):
        raise InvalidParameterError("Nothing is promised; give --k, --model or a recipe with models.")
    if algorithm is not None:
        content["algorithm"] = _choice("algorithm", algorithm)
    if max_suppressed is not None:
        content["release"]["max_suppressed"] = max_suppressed
    if block_rows is not None:
        content["release"]["block_rows"] = block_rows
    if count_rows:
        content["release"]["count_rows"] = True
    if publish_text:
        content["release"]["publish_text"] = [*content["release"].get("publish_text", []), *publish_text]
    if seed is not None:
        content["sfumato"]["seed"] = seed
    return Recipe.from_dict(content)


def parse_algorithm(text: str) -> TableAlgorithm:
    """Return an algorithm with its parameters, as in `optimal:loss=precision`."""
    from sfumato.core.recipe import algorithm_from_dict

    return algorithm_from_dict(_choice("algorithm", text))


@dataclass(frozen=True)
class AuditRequest:
    """What is asked of a table: roles, models to judge (perhaps none), what cells show, and how tables are read."""

    schema: Schema
    models: tuple[GroupModel, ...]
    publishes: Shows
    reading: Mapping[str, Any]
    conventions: Mapping[str, Any]
    perturbed: tuple[str, ...] = ()


def build_audit_request(asked: RecipeOptions) -> AuditRequest:
    """Return what a published table is audited against."""
    from sfumato.core.recipe import Recipe
    from sfumato.tables.masking._apply import perturbed_columns

    content = _content(asked)
    recipe = Recipe.from_dict({**content, "models": content["models"] or [NO_MODEL]})
    return AuditRequest(
        schema=recipe.schema,
        models=recipe.models if content["models"] else (),
        publishes=recipe.algorithm.publishes,
        reading=recipe.reading,
        conventions=recipe.conventions,
        perturbed=perturbed_columns(recipe.masking, recipe.schema.quasi_identifiers),
    )


def split_names(text: str) -> list[str]:
    """Split a text at its commas; names that contain a comma are quoted.

    >>> split_names('age, "last, first"')
    ['age', 'last, first']
    """
    try:
        cells = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InvalidParameterError(f"{text!r} is not a list; quote names with commas or line breaks.") from None
    return [name.strip() for name in cells if name.strip()]


def read_mapping(file: str, *, numbers: bool) -> dict[str, str | float]:
    """Read a mapping from a file with two columns: the values, and the level, category or bound of each."""
    from sfumato.io._database import mask_url
    from sfumato.io._reading import read
    from sfumato.io._values import format_values

    table, file = read(file), mask_url(file)
    if table.num_columns != PAIR or table.num_rows == 0:
        raise ReadError(
            f"{file} must have a header, two columns and at least one row: the values, and what each maps to."
        )
    values, entries = (format_values(column).to_pylist() for column in table.columns)
    if None in values or None in entries:
        raise ReadError(f"{file} has empty cells in its {table.num_rows:,} rows; fill them or drop these rows.")
    if len(set(values)) < len(values):
        raise ReadError(f"{file} must have one row per value; rows too many: {len(values) - len(set(values)):,}.")
    read_entries = [parse_number(entry) for entry in entries] if numbers else entries
    if numbers and not all(isinstance(entry, int | float) for entry in read_entries):
        raise ReadError(f"{file} must have numbers in its second column.")
    return dict(zip(values, read_entries, strict=True))


def _content(asked: RecipeOptions) -> dict[str, Any]:
    """Return the content of a recipe; its values are checked when the recipe is built."""
    from sfumato.core.recipe import Recipe

    if asked.recipe is not None:
        content = Recipe.read(asked.recipe).to_dict()
    else:
        content = {"sfumato": {}, "release": {}, "attributes": {}, "models": []}
    set_roles(content["attributes"], {role: getattr(asked, role) for role in ROLES})
    if not any(entry["role"] == "quasi" for entry in content["attributes"].values()) and asked.recipe is None:
        raise SchemaError("No column is a quasi-identifier; give --quasi or a recipe.")
    set_hierarchies(content["attributes"], asked.hierarchy)
    if asked.missing is not None:
        content["release"]["missing"] = asked.missing
    promised = [] if asked.k is None else [{"name": "k-anonymity", "k": asked.k}]
    promised += [_choice("model", text) for text in asked.model]
    content["models"] = _merge_models(content["models"], promised)
    return content


def _merge_models(
    models: Sequence[Mapping[str, Any]], promised: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Replace models by newly promised ones of the same name and attributes, and append the others."""

    def subject(model: Mapping[str, Any]) -> tuple[str, object, object]:
        return model["name"], model.get("sensitive", model.get("y")), model.get("quasi", model.get("x"))

    found = [subject(model) for model in models]
    result: list[Mapping[str, Any]] = []
    for model in models:
        result += [entry for entry in promised if subject(entry) == subject(model)] or [model]
    return result + [entry for entry in promised if subject(entry) not in found]


def set_roles(attributes: dict[str, dict[str, Any]], given: Mapping[str, Sequence[str]]) -> None:
    """Give columns the roles that options name."""
    seen: dict[str, str] = {}
    for role, name in _parse_assignments(given):
        if name in seen:
            raise SchemaError(f"Attribute {name!r} is listed twice, as {seen[name]} and as {role}; keep one.")
        seen[name] = role
        attributes[name] = {**attributes.get(name, {}), "role": role}


def _parse_assignments(given: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for role, texts in given.items():
        for text in texts:
            for name in split_names(text):
                yield role, name


def set_hierarchies(attributes: dict[str, dict[str, Any]], given: Sequence[str]) -> None:
    """Give columns new hierarchies, and drop the scales and orders that belong to the old ones."""
    for text in given:
        name, sign, how = text.partition("=")
        if not sign or not how:
            raise InvalidParameterError(f"--hierarchy must be COLUMN=HOW, as in job=job.csv; got {text!r}.")
        if name not in attributes:
            hint = suggest_closest(name, attributes)
            if hint:
                raise SchemaError(f"--hierarchy names the unknown column {name!r}{hint}")
            raise SchemaError(f"--hierarchy names {name!r}, which has no role; give it one, as with --quasi.")
        kept = {key: value for key, value in attributes[name].items() if key not in {"scale", "order"}}
        attributes[name] = {**kept, "hierarchy": parse_builder(how).to_dict()}


def _choice(what: str, text: str) -> dict[str, Any]:
    """Read `name:key=value,...` as a recipe entry of a table."""
    from sfumato.tables._catalogue import ALGORITHMS, MASKING_STEPS, MODELS

    choices: dict[str, Mapping[str, type]] = {"model": MODELS, "algorithm": ALGORITHMS, "step": MASKING_STEPS}
    return parse_choice(what, text, choices[what])


def parse_choice(what: str, text: str, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Read `name:key=value,...` as a recipe entry; + joins items, / joins lists, a CSV file maps."""
    from sfumato.core.model import parameter_name
    from sfumato.tables._catalogue import format_field_type

    name, _, settings = text.partition(":")
    known = choices.get(name)
    types = {} if known is None else {parameter_name(field): format_field_type(field) for field in fields(known)}
    entry: dict[str, Any] = {"name": name}
    for setting in split_names(settings):
        key, sign, value = setting.partition("=")
        if not sign:
            raise InvalidParameterError(f"--{what} must be NAME:KEY=VALUE,...; {setting!r} has no value.")
        entry[key] = _parse_value(value, types.get(key, ""))
    return entry


def _parse_value(text: str, declared: str) -> object:
    if "Mapping" in declared:
        numbers = "str" not in declared.partition(",")[2]
        given = parse_number(text) if numbers else text
        if not isinstance(given, str):
            return given
        return _parse_mapping(text, numbers=numbers) or read_mapping(text, numbers=numbers)
    if declared == "Sequence[Sequence[str]]":
        return [each.split("+") for each in text.split("/")]
    if declared.startswith(("Sequence", "list", "tuple")):
        return [parse_number(each) for each in text.split("+")] if "int" in declared else text.split("+")
    if declared.startswith(("str", "Literal")):
        return text
    return {"true": True, "false": False}.get(text.lower(), parse_number(text))


def _parse_mapping(text: str, *, numbers: bool) -> dict[str, str | float]:
    """Read `name=value+name=value`; return an empty mapping for any other text.

    >>> _parse_mapping("age=1+zip=2", numbers=True)
    {'age': 1, 'zip': 2}
    """
    pairs = [part.rpartition("=") for part in text.split("+")]
    if Path(text).is_file() or not all(name for name, _, _ in pairs):
        return {}
    entries: dict[str, str | float] = {}
    for name, _, value in pairs:
        if name in entries:
            raise InvalidParameterError(f"{name!r} has two values in {text!r}; keep one.")
        entries[name] = parse_number(value) if numbers else value
    return entries
