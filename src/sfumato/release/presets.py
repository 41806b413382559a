"""Presets: what to promise, by who receives the table or by a rule that it must keep, each with its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from types import MappingProxyType
from typing import Literal

from sfumato.exceptions import InvalidParameterError
from sfumato.inspection.detect import ColumnProposal
from sfumato.judging.risk.attackers import min_group_size
from sfumato.judging.risk.ema import LEAST_GROUP, WRITTEN
from sfumato.models.base import GroupModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.recipe import Recipe
from sfumato.schema.roles import Role
from sfumato.schema.schema import Schema
from sfumato.validation import suggest_closest
from sfumato.words import load_messages

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
    needed = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]  # type: ignore[arg-type]  # every model is a dataclass
    about = dict.fromkeys(("sensitive", "y"), column)
    known = {**STARTING, **({} if column is None else about)}
    return {"name": kind.name, **{name: known[name] for name in needed if name in known}}
