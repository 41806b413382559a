"""The recipe: a whole run as one TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sfumato import __version__
from sfumato.algorithms.base import Algorithm
from sfumato.attributes.missing import Missing
from sfumato.attributes.roles import Role
from sfumato.attributes.schema import Schema
from sfumato.catalogue import ALGORITHMS, MODELS
from sfumato.exceptions import RecipeError
from sfumato.hierarchies import Taxonomy, builder_from_dict
from sfumato.models.base import PrivacyModel
from sfumato.validation import did_you_mean, is_number, is_whole, require


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that determines a release of one table.

    Parameters
    ----------
    schema : what every attribute is.
    models : what is promised; at least one.
    algorithm : how to search.
    max_suppressed : the share of records that may be left out.
    seed : repeats random choices; kept with the owner, never published.
    input_rows, input_sha256 : what the recipe was carried out on, filled in by the run.
    """

    schema: Schema
    models: tuple[PrivacyModel, ...]
    algorithm: Algorithm
    max_suppressed: float = 0.0
    seed: int | None = None
    input_rows: int | None = None
    input_sha256: str | None = None

    def __post_init__(self) -> None:
        require(len(self.models) > 0, self, "models", "a list of at least one model", list(self.models))
        require(
            is_number(self.max_suppressed) and 0 <= self.max_suppressed <= 1,
            self,
            "max_suppressed",
            "a share in [0, 1]",
            self.max_suppressed,
        )
        require(
            self.seed is None or (is_whole(self.seed) and self.seed >= 0),
            self,
            "seed",
            "a whole number",
            self.seed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the recipe as plain values, as in its TOML file."""
        return {
            "sfumato": {"version": __version__, **_given(self, "seed")},
            **({} if self.input_sha256 is None else {"input": {"rows": self.input_rows, "sha256": self.input_sha256}}),
            "release": {"max_suppressed": float(self.max_suppressed), "missing": str(self.schema.missing)},
            "attributes": {name: _attribute(self.schema, name) for name in self.schema.attributes},
            "models": [{"name": model.name, **model.parameters()} for model in self.models],
            "algorithm": {"name": self.algorithm.name, **self.algorithm.parameters()},
        }

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str, folder: Path | None = None) -> Recipe:
        """Read a recipe; hierarchy files that it names are looked for in `folder`."""
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"The recipe is not valid TOML: {error}.") from None
        return cls.from_dict(content, folder)

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a recipe file."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise RecipeError(f"The recipe {path.name!r} cannot be read: {reason}.") from None
        return cls.from_toml(text, path.parent)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path | None = None) -> Recipe:
        """Rebuild what `to_dict` gave."""
        known = ("sfumato", "input", "release", "attributes", "models", "algorithm")
        _refuse_unknown(content, known, "The recipe")
        release = _section(content, "release", ("max_suppressed", "missing"))
        header = _section(content, "sfumato", ("version", "seed"))
        return cls(
            schema=_schema(_table(content, "attributes"), release.get("missing", Missing.OWN_VALUE), folder),
            models=tuple(_choice(MODELS, entry, "model") for entry in _list(content, "models")),
            algorithm=_choice(ALGORITHMS, content.get("algorithm", {"name": "mondrian"}), "algorithm"),
            max_suppressed=release.get("max_suppressed", 0.0),
            seed=header.get("seed"),
        )


def _given(recipe: Recipe, name: str) -> dict[str, Any]:
    value = getattr(recipe, name)
    return {} if value is None else {name: value}


def _attribute(schema: Schema, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": schema.role(name).value}
    if name in schema.scales:
        entry["scale"] = str(schema.scales[name])
    if name in schema.orders:
        entry["order"] = list(schema.orders[name])
    if name in schema.flags:
        entry["flags"] = schema.flags[name]
    if name in schema.hierarchies:
        entry["hierarchy"] = schema.hierarchies[name].to_dict()
    return entry


def _schema(attributes: Mapping[str, Any], missing: object, folder: Path | None) -> Schema:
    by_role: dict[str, Any] = {role.value: [] for role in Role}
    extras: dict[str, Any] = {"scales": {}, "orders": {}, "flags": {}, "hierarchies": {}}
    for name, entry in attributes.items():
        if not isinstance(entry, Mapping):
            raise RecipeError(f"[attributes.{name}] must be a table with at least a role.")
        _refuse_unknown(entry, ("role", "scale", "order", "flags", "hierarchy"), f"[attributes.{name}]")
        role = entry.get("role")
        if role not in by_role:
            raise RecipeError(f"[attributes.{name}] needs a role, one of {', '.join(by_role)}.")
        by_role[role].append(name)
        for key, what in (("scale", "scales"), ("order", "orders"), ("flags", "flags")):
            if key in entry:
                extras[what][name] = entry[key]
        if "hierarchy" in entry:
            extras["hierarchies"][name] = _hierarchy(name, entry["hierarchy"], folder)
    return Schema(**by_role, **extras, missing=str(missing))


def _hierarchy(name: str, entry: object, folder: Path | None) -> Any:
    if not isinstance(entry, Mapping):
        raise RecipeError(f"[attributes.{name}.hierarchy] must be a table with a kind.")
    if entry.get("kind") == Taxonomy.kind and "file" in entry:
        _refuse_unknown(entry, ("kind", "file", "separator", "encoding"), f"[attributes.{name}.hierarchy]")
        path = Path(entry["file"])
        settings = {key: entry[key] for key in ("separator", "encoding") if key in entry}
        return Taxonomy.read_csv(path if folder is None else folder / path, **settings)
    return builder_from_dict(entry)


def _choice(known: Mapping[str, Any], entry: object, what: str) -> Any:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise RecipeError(f"Every {what} of a recipe is a table with a name.")
    name = entry["name"]
    if name not in known:
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}."
        raise RecipeError(f"There is no {what} {name!r}{hint}")
    parameters = {key: value for key, value in entry.items() if key != "name"}
    names = [field.name for field in fields(known[name])]
    _refuse_unknown(parameters, names, f"The {what} {name!r}")
    try:
        return known[name](**parameters)
    except TypeError:
        lacking = [field for field in names if field not in parameters]
        raise RecipeError(f"The {what} {name!r} needs {', '.join(lacking)}, too.") from None


def _refuse_unknown(content: Mapping[str, Any], known: Any, owner: str) -> None:
    for key in content:
        if key not in known:
            hint = did_you_mean(key, known) or f"; it knows {', '.join(known) or 'nothing'}."
            raise RecipeError(f"{owner} has an unknown entry {key!r}{hint}")


def _section(content: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    section = _table(content, name)
    _refuse_unknown(section, known, f"[{name}]")
    return section


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = content.get(name, {})
    if not isinstance(section, Mapping):
        raise RecipeError(f"[{name}] must be a table.")
    return section


def _list(content: Mapping[str, Any], name: str) -> list[Any]:
    entries = content.get(name, [])
    if not isinstance(entries, list):
        raise RecipeError(f"[[{name}]] must be a list of tables.")
    return entries
