"""The recipe: a whole run as one TOML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import date
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from sfumato import __version__
from sfumato._locale.messages import LANGUAGES
from sfumato._randomness import check_secret
from sfumato._validation import is_finite_number, is_integer, require, suggest_closest
from sfumato.core._python_source import format_constructor, format_python
from sfumato.core._toml import check_known_keys, get_section, get_table, parse_toml, read_toml
from sfumato.core.algorithm import Algorithm
from sfumato.core.model import Model, Parameterized, make_with_parameters, parameter_name
from sfumato.errors import InvalidParameterError, RecipeError
from sfumato.io._conventions import Conventions, DateFormat
from sfumato.io._header_detection import Header
from sfumato.io._values import compute_table_digest
from sfumato.io.formats import CONVENTIONS, WRITTEN, Option, stated
from sfumato.schema._settings import attribute_to_dict, schema_from_dict
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import ALGORITHMS, MASKING_STEPS, MODELS
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.masking._apply import are_steps
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.models.base import GroupModel

if TYPE_CHECKING:
    import pyarrow as pa


READ_OPTION_TYPES: dict[str, type] = {
    "table": str,
    "query": str,
    "sheet": str,
    "fill_merged": bool,
    "separator": str,
    "encoding": str,
    "skip_rows": int,
    "skip_last": int,
    "header": bool,
    "names": tuple,
    "decimal": str,
    "thousands": str,
    "date_format": str,
    "column_types": dict,
}
TYPE_DESCRIPTIONS = {tuple: "a list", str: "a string", int: "a whole number", bool: "true or false", dict: "a table"}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that determines a release of one table.

    Parameters
    ----------
    schema : the role of every attribute.
    models : what is promised; at least one, unless the table is masked and published as it is.
    algorithm : how to search for a release.
    masking : steps that change or hide single cells, one after the other, before the search; `SuppressCells` comes last
        and hides cells of what was found.
    max_suppressed : the share of records that may be suppressed.
    block_rows : a table with more records is cut into blocks of at most so many, by what the records say, and every
        block is searched alone; this changes the release, in memory and beyond it alike.
    count_rows : goes on where an identifier repeats; rows are counted, not individuals, and the release says so.
    publish_text : the sensitive or insensitive columns of free text that are published as they are all the same.
    seed : makes random choices of a search that hide nobody repeatable.
    secret : makes those that hide somebody repeatable, such as who is in which bucket: 64 hexadecimal digits, by
        default drawn from the operating system; kept by the owner, never published.
    input_rows, input_sha256 : the table that the recipe was run on, filled in by the run.
    input_digest : in place of `input_sha256`, what an engine made of a table larger than memory: a digest that no order
        of rows changes, which begins with the name of the engine.
    reading : how the table is read, by the options of `sf.read`; a text file is written by the same conventions.
    input_file, input_date : the name of its file and the date of the release, YYYY-MM-DD, for the title of the report;
        they change nothing else, and no date is taken from the clock.
    ledger, ledger_head : the name of the ledger that keeps the series of the release, and its head when the
        release was made, filled in by the run; a recipe that names a ledger is not run without it.
    language : of the report and of the page for receivers, `"en"` or `"zh"`; it changes nothing else, and is recorded
        only if it is not English.
    """

    schema: Schema
    models: tuple[GroupModel, ...]
    algorithm: TableAlgorithm
    masking: tuple[MaskingStep, ...] = ()
    max_suppressed: float = 0.0
    block_rows: int | None = None
    count_rows: bool = False
    publish_text: tuple[str, ...] = ()
    seed: int | None = None
    secret: str | None = field(default=None, repr=False)
    input_rows: int | None = None
    input_sha256: str | None = None
    input_digest: str | None = None
    reading: Mapping[str, Option] = field(default_factory=dict)
    input_file: str | None = None
    input_date: str | None = None
    ledger: str | None = None
    ledger_head: str | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        require(isinstance(self.schema, Schema), self, "schema", "an sf.Schema", self.schema)
        require(isinstance(self.algorithm, TableAlgorithm), self, "algorithm", "an algorithm", self.algorithm)
        require(are_steps(self.masking), self, "masking", "a list of masking steps", self.masking)
        object.__setattr__(self, "masking", tuple(self.masking))
        unpromised = bool(self.masking) and self.algorithm.recodes == "nothing"
        good = _are_models(self.models) and (bool(self.models) or unpromised)
        require(good, self, "models", "a list of at least one model", self.models)
        object.__setattr__(self, "models", tuple(self.models))
        share = is_finite_number(self.max_suppressed) and 0 <= self.max_suppressed <= 1
        require(share, self, "max_suppressed", "a share in [0, 1]", self.max_suppressed)
        blocks = self.block_rows is None or (is_integer(self.block_rows) and self.block_rows > 0)
        require(blocks, self, "block_rows", "a whole number of at least 1", self.block_rows)
        require(isinstance(self.count_rows, bool), self, "count_rows", "True or False", self.count_rows)
        object.__setattr__(self, "publish_text", _names(self, self.publish_text))
        seeded = self.seed is None or (is_integer(self.seed) and self.seed >= 0)
        require(seeded, self, "seed", "a whole number", self.seed)
        check_secret(self, self.secret)
        object.__setattr__(self, "reading", check_read_options(self.reading))
        counted = self.input_rows is None or (is_integer(self.input_rows) and self.input_rows >= 0)
        require(counted, self, "input_rows", "a whole number", self.input_rows)
        for name in ("input_sha256", "input_digest", "input_file", "ledger", "ledger_head"):
            given = getattr(self, name)
            require(given is None or isinstance(given, str), self, name, "a text", given)
        dated = self.input_date is None or _is_date(self.input_date)
        require(dated, self, "input_date", "a date as in 2026-01-31", self.input_date)
        known = self.language in tuple(LANGUAGES)
        require(known, self, "language", f"one of {', '.join(LANGUAGES)}", self.language)

    @property
    def conventions(self) -> dict[str, Option]:
        """How a text file is written: separator (comma or semicolon), encoding, decimal mark, format of days, texts."""
        known: dict[str, Option] = {name: self.reading[name] for name in WRITTEN if name in self.reading}
        if known.get("separator") not in {",", ";"} or known.get("separator") == known.get("decimal"):
            known.pop("separator", None)
        if "date_format" in known:
            known["date_format"] = DateFormat(str(known["date_format"])).four_digits
        published = {*self.schema.quasi_identifiers, *self.schema.sensitive, *self.schema.insensitive}
        types: Any = self.reading.get("column_types", {})
        texts = {name: kind for name, kind in types.items() if kind == "text" and name in published}
        return known | ({"column_types": texts} if texts else {})

    def explain_input_mismatch(self, table: pa.Table) -> str | None:
        """Say that a table is not the one that the recipe was made for, if it states that one; None if it is."""
        if self.input_rows is not None and self.input_rows != table.num_rows:
            return (
                f"The recipe was made for a table of {self.input_rows:,} rows and this one has {table.num_rows:,};"
                " check that its roles and hierarchies still fit."
            )
        if self.input_sha256 is not None and self.input_sha256 != compute_table_digest(table):
            return (
                "The recipe was made for a table with other cells, or one that was read otherwise; check that its roles"
                " and hierarchies still fit."
            )
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values, as in its TOML file."""
        return {
            "sfumato": self._header(),
            **({} if not self._input() else {"input": self._input()}),
            **(
                {}
                if self.ledger is None
                else {"series": {"ledger": self.ledger, **_optional_entry(self, "ledger_head")}}
            ),
            "release": {
                "max_suppressed": float(self.max_suppressed),
                **_optional_entry(self, "block_rows"),
                **({"count_rows": True} if self.count_rows else {}),
                **({"publish_text": list(self.publish_text)} if self.publish_text else {}),
                "missing": str(self.schema.missing),
            },
            "attributes": {name: attribute_to_dict(self.schema, name) for name in self.schema.attributes},
            **({"masking": [_step_to_dict(step) for step in self.masking]} if self.masking else {}),
            "models": [{"name": model.name, **model.parameters()} for model in self.models],
            "algorithm": {"name": self.algorithm.name, **self.algorithm.parameters()},
        }

    def _header(self) -> dict[str, Any]:
        language = {} if self.language == "en" else {"language": self.language}
        return {"version": __version__, **_optional_entry(self, "seed"), **_optional_entry(self, "secret"), **language}

    def _input(self) -> dict[str, Any]:
        known: dict[str, Any] = {"file": self.input_file, "date": self.input_date}
        if self.input_sha256 is not None:
            known |= {"rows": self.input_rows, "sha256": self.input_sha256}
        if self.input_digest is not None:
            known |= {"rows": self.input_rows, "digest": self.input_digest}
        return {name: value for name, value in known.items() if value is not None} | dict(self.reading)

    def to_python(self, source: str, out: str = "release") -> str:
        """Write a script that reads the table, makes the same release, and writes its folders.

        Parameters
        ----------
        source : the file, or the URL of the database.
        out : the folder that the script writes.
        """
        named = {"schema": "schema", **({"reading": "reading"} if self.reading else {})}
        used = (*self.models, self.algorithm, *self.masking, *self.schema.hierarchies.values())
        packages = sorted({type(each).__module__ for each in used if not type(each).__module__.startswith("sfumato.")})
        return (
            "".join(f"import {package}\n" for package in packages)
            + "import sfumato as sf\n\n"
            + (f"reading = {format_python(self.reading)}\n" if self.reading else "")
            + f"table = sf.read({source!r}{', **reading' if self.reading else ''})\n"
            + f"schema = {format_constructor(self.schema)}\n"
            + f"recipe = {format_constructor(self, named)}\n"
            + ("" if self.ledger is None else "ledger = sf.Series('series.ledger')  # name the ledger of the series\n")
            + f"release = sf.run_recipe(recipe, table{'' if self.ledger is None else ', ledger=ledger'})\n"
            + f"release.write({out!r})\n"
        )

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def from_toml(cls, text: str, folder: Path | None = None) -> Recipe:
        """Read a recipe; hierarchy files that it names must be in `folder`, by default the current one."""
        return cls.from_dict(parse_toml(text, "recipe"), folder)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Recipe:
        """Read a recipe file; hierarchy files that it names must be next to it or in folders there."""
        path = Path(path)
        return cls.from_dict(read_toml(path, "recipe"), path.parent)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], folder: Path | None = None) -> Recipe:
        """Rebuild a recipe from the values returned by `to_dict`."""
        known = ("sfumato", "input", "series", "release", "attributes", "masking", "models", "algorithm")
        check_known_keys(content, known, "The recipe")
        release = get_section(
            content, "release", ("max_suppressed", "block_rows", "count_rows", "publish_text", "missing")
        )
        header = get_section(content, "sfumato", ("version", "seed", "secret", "language"))
        source = get_section(content, "input", ("file", "date", "rows", "sha256", "digest", *READ_OPTION_TYPES))
        series = get_section(content, "series", ("ledger", "ledger_head"))
        return cls(
            schema=schema_from_dict(
                get_table(content, "attributes"), release.get("missing", MissingPolicy.OWN_VALUE), folder
            ),
            models=models_from_dict(content),
            algorithm=algorithm_from_dict(content.get("algorithm", {"name": "mondrian"})),
            masking=tuple(instantiate_choice(MASKING_STEPS, entry, "step") for entry in get_tables(content, "masking")),
            max_suppressed=release.get("max_suppressed", 0.0),
            block_rows=release.get("block_rows"),
            count_rows=release.get("count_rows", False),
            publish_text=release.get("publish_text", ()),
            seed=header.get("seed"),
            secret=header.get("secret"),
            input_rows=source.get("rows"),
            input_sha256=source.get("sha256"),
            input_digest=source.get("digest"),
            reading={name: value for name, value in source.items() if name in READ_OPTION_TYPES},
            input_file=source.get("file"),
            input_date=source.get("date"),
            ledger=series.get("ledger"),
            ledger_head=series.get("ledger_head"),
            language=header.get("language", "en"),
        )


def _names(recipe: Recipe, given: object) -> tuple[str, ...]:
    good = isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)
    require(good, recipe, "publish_text", "a list of names of columns", given)
    return tuple(cast("Sequence[str]", given))


def check_read_options(given: Mapping[str, Any], owner: str = "[input]") -> dict[str, Option]:
    """Refuse what are no options of reading; empty ones are left out. `owner` is the part of a file that has them."""
    if not isinstance(given, Mapping):
        raise RecipeError("Recipe.reading must be a mapping of options, as in {'decimal': ','}.")
    check_known_keys(given, READ_OPTION_TYPES, owner)
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    for name, value in given.items():
        if type(value) is not READ_OPTION_TYPES[name]:
            raise RecipeError(f"The entry {name!r} in {owner} must be {TYPE_DESCRIPTIONS[READ_OPTION_TYPES[name]]}.")
    try:
        Conventions(**{name: given[name] for name in CONVENTIONS if name in given})
        Header(names=given.get("names", ()))
    except InvalidParameterError as error:
        raise RecipeError(f"{owner} cannot be used: {error}") from None
    return stated(given)  # type: ignore[return-value]  # as READING says


def models_from_dict(content: Mapping[str, Any]) -> tuple[GroupModel, ...]:
    """Return the models that a recipe's `[[models]]` name."""
    return tuple(instantiate_choice(MODELS, entry, "model") for entry in get_tables(content, "models"))


def algorithm_from_dict(entry: Mapping[str, Any]) -> TableAlgorithm:
    """Return the algorithm that a recipe's `[algorithm]` names."""
    algorithm: TableAlgorithm = instantiate_choice(ALGORITHMS, entry, "algorithm")
    return algorithm


def _is_date(given: object) -> bool:
    try:
        return isinstance(given, str) and date.fromisoformat(given).isoformat() == given
    except ValueError:
        return False


def _are_models(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(each, GroupModel) for each in given)


def _step_to_dict(step: MaskingStep) -> dict[str, Any]:
    """Write a step as plain values; what TOML calls an array is a list."""

    def plain(value: object) -> object:
        return [plain(each) for each in value] if isinstance(value, tuple) else value

    return {"name": step.name, **{name: plain(value) for name, value in step.parameters().items()}}


def _optional_entry(recipe: Recipe, name: str) -> dict[str, Any]:
    value = getattr(recipe, name)
    return {} if value is None else {name: value}


def instantiate_choice(known: Mapping[str, Any], entry: object, what: str) -> Any:
    """Return the choice that an entry of a recipe names, with the parameters that it gives."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise RecipeError(f"Every {what} of a recipe must be a table with a name.")
    name = entry["name"]
    if name not in known:
        raise RecipeError(f"There is no {what} {name!r}{_suggest_names(name, known)}")
    choice = known[name]
    parameters = {key: value for key, value in entry.items() if key != "name"}
    allowed = {parameter_name(field): field for field in fields(choice)}
    check_known_keys(parameters, allowed, f"The {what} {name!r}")
    needed = [key for key, field in allowed.items() if field.default is MISSING and field.default_factory is MISSING]
    lacking = [key for key in needed if key not in parameters]
    if lacking:
        raise RecipeError(f"The {what} {name!r} also needs {', '.join(lacking)}.")
    try:
        return make_with_parameters(choice, parameters)
    except TypeError:
        raise RecipeError(f"The {what} {name!r} has a parameter of the wrong type; see `sfumato {what}s`.") from None


def _suggest_names(name: str, known: Mapping[str, Any]) -> str:
    """Suggest all choices whose name ends in the given one, or else the closest.

    >>> _suggest_names("diversity", {"distinct-l-diversity": 1, "entropy-l-diversity": 2, "k-anonymity": 3})
    "; did you mean 'distinct-l-diversity' or 'entropy-l-diversity'?"
    """
    family = [each for each in known if name and each.endswith(f"-{name}")]
    if family:
        return f"; did you mean {' or '.join(map(repr, family))}?"
    return suggest_closest(name, known) or f"; choose one of {', '.join(known)}."


def get_tables(content: Mapping[str, Any], name: str) -> list[Any]:
    """Return the entries of a list of tables; empty if there is none."""
    entries = content.get(name, [])
    if not isinstance(entries, list):
        raise RecipeError(f"[[{name}]] must be a list of tables.")
    return entries


# The recipe of a release of another kind of data: what makes it again, as one TOML file.

InputOptions: TypeAlias = Mapping[str, Any]  # plain values, as TOML has them
TYPED_PARTS = ("sfumato", "input", "models", "algorithm")


@dataclass(frozen=True, kw_only=True)
class TypedRecipe:
    """Everything that determines a release of data of another kind than a table.

    Parameters
    ----------
    data_type : the kind of data, such as `"baskets"`.
    models : what is promised.
    algorithm : how to search for a release.
    secret : makes random choices repeatable that hide somebody: 64 hexadecimal digits, by default drawn from the
        operating system; kept by the owner, never published.
    input : what is known of the original and how it is read, as plain values: names of its columns, its digest.
    """

    data_type: str
    models: tuple[Model[Any], ...]
    algorithm: Algorithm[Any]
    secret: str | None = field(default=None, repr=False)
    input: InputOptions = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_secret(self, self.secret)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values, as in its TOML file."""
        secret = {} if self.secret is None else {"secret": self.secret}
        return {
            "sfumato": {"version": __version__, "kind": self.data_type, **secret},
            **({"input": dict(self.input)} if self.input else {}),
            "models": [_named_parameters(model) for model in self.models],
            "algorithm": _named_parameters(self.algorithm),
        }

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def load(
        cls, path: str | PathLike[str], kind: str, models: Mapping[str, Any], algorithms: Mapping[str, Any]
    ) -> Self:
        """Read a recipe of one kind of data, whose promises and searches are known by name."""
        content = read_toml(Path(path), "recipe")
        check_known_keys(content, TYPED_PARTS, "The recipe")
        header = get_section(content, "sfumato", ("version", "kind", "secret"))
        if header.get("kind") != kind:
            raise RecipeError(f"The recipe is not one for {kind}; its [sfumato] must say kind = {kind!r}.")
        return cls(
            data_type=kind,
            models=tuple(instantiate_choice(models, entry, "model") for entry in get_tables(content, "models")),
            algorithm=instantiate_choice(algorithms, content.get("algorithm", {}), "algorithm"),
            secret=header.get("secret"),
            input=get_table(content, "input") if "input" in content else {},
        )


def _named_parameters(settings: Parameterized) -> dict[str, Any]:
    return {"name": settings.name, **settings.parameters()}
