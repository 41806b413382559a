"""Presets: what to promise, by who receives the table or by a rule that it must keep, each with its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from types import MappingProxyType
from typing import Literal, Unpack

from sfumato._locale.messages import load_messages
from sfumato._validation import suggest_closest
from sfumato.core.model import parameter_name
from sfumato.core.recipe import READ_OPTION_TYPES, Recipe
from sfumato.errors import InvalidParameterError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import compute_table_digest
from sfumato.io.formats import Option
from sfumato.schema.roles import Role, Scale
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.engines.options import Data, InputEngineOptions
from sfumato.tables.inspection.inspection import ColumnProposal, Inspection, inspect_columns
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.risk._attacker_models import min_group_size
from sfumato.tables.risk._regulations import LEAST_GROUP, WRITTEN

USUAL_K = 5
USUAL_L = 2
QUOTED_THRESHOLD = 0.05  # often quoted for GB/T 42460; not verified in its text


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A proposal of promises.

    Parameters
    ----------
    name : its name in Python and on the command line.
    of : whether it follows from a `"receiver"` of the table or from a `"rule"`.
    k : the least number of records in a group.
    guess : promise by how `"often"` a value may be shown in a group (one in l), or by how many values it `"shows"`.
    l : the number of values for each sensitive column.
    t : the largest distance of a group's values from the whole table's, if that is bounded, too.
    max_suppressed : the share of records that may be suppressed.
    source : where a rule is written down.
    """

    name: str
    of: Literal["receiver", "rule"]
    k: int
    guess: Literal["shows", "often"] = "shows"
    l: int = USUAL_L
    t: float | None = None
    max_suppressed: float = 0.0
    source: str | None = None

    @property
    def title(self) -> str:
        """What the preset is called."""
        return load_messages("en")(f"presets.{self.name}.title")

    @property
    def reason(self) -> str:
        """Why it promises what it promises, and what it leaves to you."""
        return load_messages("en")(f"presets.{self.name}.reason")

    def models(
        self, schema: Schema, *, distinct: Mapping[str, int] | None = None, ordered: Collection[str] = ()
    ) -> tuple[GroupModel, ...]:
        """Propose models for a schema.

        Parameters
        ----------
        schema : the roles.
        distinct : how many values columns have, where that is known; a column with one value has none to hide.
        ordered : columns of numbers or of values in order, whose distance counts how far apart values are.
        """
        return tuple(self._models(schema, distinct or {}, ordered))

    def _models(self, schema: Schema, distinct: Mapping[str, int], ordered: Collection[str]) -> Iterator[GroupModel]:
        yield KAnonymity(k=self.k)
        for name in dict.fromkeys((*schema.sensitive, *schema.flags)):
            if distinct.get(name, USUAL_L) < USUAL_L:
                continue
            if self.guess == "often":
                yield FrequencyLDiversity(l=self.l, sensitive=name)
            else:
                yield DistinctLDiversity(l=self.l, sensitive=name)
            if self.t is not None and name not in schema.flags:
                yield TCloseness(t=self.t, sensitive=name, distance="ordered" if name in ordered else "equal")

    def needs_more(self, column: ColumnProposal) -> bool:
        """Return whether a sensitive column has a value so frequent that not even all records together keep this."""
        often = self.guess == "often" and column.role is Role.SENSITIVE and column.distinct >= USUAL_L
        return often and column.commonest * self.l > 1

    def applied(
        self, recipe: Recipe, *, distinct: Mapping[str, int] | None = None, ordered: Collection[str] = ()
    ) -> Recipe:
        """Return a recipe with these promises instead of its own; the rest of it stays."""
        models = self.models(recipe.schema, distinct=distinct, ordered=ordered)
        return replace(recipe, models=models, max_suppressed=self.max_suppressed)


_EMA = "European Medicines Agency, External guidance on the implementation of Policy 0070, 2018"
_PRESETS = (
    Preset(name="open-data", of="receiver", k=20, t=0.2, max_suppressed=0.05),
    Preset(name="research-partner", of="receiver", k=USUAL_K),
    Preset(name="colleagues", of="receiver", k=3),
    Preset(name="ema", of="rule", k=min_group_size(WRITTEN), max_suppressed=0.05, source=_EMA),
    Preset(name="ema-usual", of="rule", k=LEAST_GROUP, max_suppressed=0.05, source=_EMA),
    Preset(
        name="wp216",
        of="rule",
        k=USUAL_K,
        guess="often",
        source="Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques, WP216",
    ),
    Preset(
        name="gbt-42460",
        of="rule",
        k=min_group_size(QUOTED_THRESHOLD),
        max_suppressed=0.05,
        source="GB/T 42460-2023, Guide for evaluating the effectiveness of personal information de-identification",
    ),
)
PRESETS: Mapping[str, Preset] = MappingProxyType({each.name: each for each in _PRESETS})


def list_presets() -> tuple[Preset, ...]:
    """List all presets: first by who receives the table, then by rules."""
    return tuple(PRESETS.values())


def get_preset(name: str) -> Preset:
    """Return the preset of a name.

    Raises
    ------
    InvalidParameterError
        If there is none.
    """
    if name not in PRESETS:
        hint = suggest_closest(str(name), PRESETS) or f"; choose one of {', '.join(PRESETS)}."
        raise InvalidParameterError(f"There is no preset {name!r}{hint}")
    return PRESETS[name]


STARTING: Mapping[str, float] = MappingProxyType(
    {
        "k": USUAL_K,
        "l": USUAL_L,
        "p": 2,
        "h": 2,
        "c": 2.0,
        "t": 0.2,
        "n": 100,
        "m": 2,
        "limit": 0.5,
        "alpha": 0.5,
        "beta": 1.0,
        "delta": 1.0,
        "bounds": 0.5,
        "e": 1000.0,
        "epsilon": 100.0,
        "delta_min": 0.0,
        "delta_max": 0.5,
    }
)


def starting_model(kind: type[GroupModel], column: str | None = None) -> dict[str, object]:
    """Return a model to begin with as plain values: usual numbers for what it needs, and a column to protect.

    What it needs besides is left out: levels or categories of values, which only you know.

    Parameters
    ----------
    kind : the class of the model.
    column : the sensitive column, if the model is about one.

    Examples
    --------
    >>> starting_model(DistinctLDiversity, "disease")
    {'name': 'distinct-l-diversity', 'l': 2, 'sensitive': 'disease'}
    """
    parameters = fields(kind)  # type: ignore[arg-type]  # every model is a dataclass
    needed = [
        parameter_name(each) for each in parameters if each.default is MISSING and each.default_factory is MISSING
    ]
    about = dict.fromkeys(("sensitive", "y"), column)
    known = {**STARTING, **({} if column is None else about)}
    return {"name": kind.name, **{name: known[name] for name in needed if name in known}}


# `sf.inspect` and `sf.propose_recipe`: what a table seems to be, and a first recipe for it.

USUAL = "research-partner"
USUAL_READING = {"separator": ",", "encoding": "utf-8"}


def inspect(
    data: Data,
    *,
    labels: Mapping[str, str] | None = None,
    preset: str | None = None,
    **where: Unpack[InputEngineOptions],
) -> Inspection:
    """Propose a role and a scale for every column of a table, and what to promise, and measure its risk.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table, which is not changed; or what is larger than memory: a file, a folder of
        Parquet files or a pattern such as `"census/*.parquet"`, an Arrow dataset.
    labels : what is known in words about columns whose names say little, as surveys have them; `read_detecting_layout`
        returns those of a Stata, SPSS or SAS file.
    preset : who receives the table, or the rule that it must keep; one of `sf.tables.list_presets()`.
    where : `engine`, `memory` and `temporary`, see `sfumato.tables.engines.options.InputEngineOptions`.

    Raises
    ------
    SchemaError
        If the table has no rows or no columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]}))
    >>> [(p.name, p.role.value) for p in found.proposals]
    [('age', 'quasi'), ('disease', 'sensitive')]
    >>> found.models
    (KAnonymity(k=3), DistinctLDiversity(l=2, sensitive='disease'))
    """
    return with_models(inspect_columns(data, labels=labels, **where), preset)


def with_models(found: Inspection, preset: str | None = None) -> Inspection:
    """Add to what was found in a table what to promise."""
    return replace(found, models=propose_recipe(found, None, preset=preset).models)


def propose_recipe(
    found: Inspection, data: Frame | None, *, reading: Mapping[str, Option] | None = None, preset: str | None = None
) -> Recipe:
    """Propose a recipe that can be carried out as it stands, or changed first.

    It promises what a preset promises: by default 5-anonymity, and two different values in every group for each
    sensitive column. Only by default is less promised of a table with fewer than five records. A sensitive column in
    which one value is so frequent that nothing could keep the preset has no role, so it is not published.

    Parameters
    ----------
    found : what `sf.inspect` found in the table; its roles are proposals, to be checked.
    data : the table, whose fingerprint the recipe records; None if it is larger than memory.
    reading : how the table was read, as `sf.read_detecting_layout` tells it.
    preset : who receives the table, or the rule that it must keep; one of `sf.tables.list_presets()`.

    Raises
    ------
    InvalidParameterError
        If the table has fewer records than the preset wants in one group.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]})
    >>> [model.name for model in propose_recipe(inspect(table), table).models]
    ['k-anonymity', 'distinct-l-diversity']
    """
    chosen = get_preset(preset or USUAL)
    if preset is None:
        chosen = replace(chosen, k=min(chosen.k, found.rows))
    if chosen.k > found.rows:
        raise InvalidParameterError(
            f"The preset {chosen.name!r} wants at least {chosen.k} records in every group, and the table has "
            f"{found.rows:,}; choose another preset."
        )
    kept = [each for each in found.proposals if not chosen.needs_more(each)]
    recipe = Recipe(
        schema=replace(found, proposals=tuple(kept)).schema(),
        models=(KAnonymity(k=1),),
        algorithm=Mondrian(),
        input_rows=found.rows,
        input_sha256=None if data is None else compute_table_digest(to_arrow(data)[0]),
        reading=non_default_options(reading or {}),
    )
    return chosen.applied(
        recipe,
        distinct={each.name: each.distinct for each in kept},
        ordered=[each.name for each in kept if each.scale in {Scale.NUMERIC, Scale.ORDINAL}],
    )


def non_default_options(reading: Mapping[str, Option]) -> dict[str, Option]:
    """Return how a table was read, without what goes without saying."""
    known = {name: value for name, value in reading.items() if name in READ_OPTION_TYPES}
    return {name: value for name, value in known.items() if USUAL_READING.get(name) != value}
