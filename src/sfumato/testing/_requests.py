"""Small tables, schemas and promises for the checks of algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import seeded_generator
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models._conjunction import Conjunction
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups

ROWS = 60
LOST = 0.08
JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}})
DISEASES = Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer", "gastritis", "colitis"]})
GRADES = ("none", "school", "degree")
S = "disease"

MODEL_SETS: tuple[tuple[GroupModel, ...], ...] = (
    (KAnonymity(k=3),),
    (KAnonymity(k=2), DistinctLDiversity(l=2, sensitive=S)),
    (FrequencyLDiversity(l=2, sensitive=S),),
    (EntropyLDiversity(l=1.9, sensitive=S),),
    (RecursiveLDiversity(c=2, l=2, sensitive=S),),
    (TCloseness(t=0.3, sensitive=S), TCloseness(t=0.3, sensitive=S, distance="hierarchical")),
    (
        KAnonymity(k=3),
        DistinctLDiversity(l=2, sensitive=S),
        FrequencyLDiversity(l=1.5, sensitive=S),
        EntropyLDiversity(l=1.5, sensitive=S),
        RecursiveLDiversity(c=3, l=2, sensitive=S),
        TCloseness(t=0.4, sensitive=S),
        TCloseness(t=0.4, sensitive="grade", distance="ordered"),
    ),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ConformanceRequest:
    """A table to publish, its schema, the promised models, and the share of records that may be suppressed."""

    table: pa.Table
    schema: Schema
    models: Sequence[GroupModel]
    max_suppressed: float = 0.0

    @property
    def max_suppressed_records(self) -> int:
        """The number of records that may be suppressed."""
        return int(self.max_suppressed * self.table.num_rows)


@dataclass(frozen=True, kw_only=True)
class MaxGroupSize(GroupModel):
    """Require fewer than $k$ records in every group: merging valid groups can break it."""

    name = "fewer-than"
    reference = "a law that no publication wants"
    bound = "max"
    strict = True
    monotone = False
    stricter: ClassVar = {"k": "smaller"}

    k: int

    @property
    def limit(self) -> float:
        """The size that no group may reach."""
        return self.k

    def levels(self, groups: Groups) -> Levels:
        """Return the size of every group."""
        return groups.sizes.astype(np.float64)


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoAttributeDiversity(Conjunction):
    """Require two values of each of two attributes: one model about several attributes."""

    name = "both"
    reference = "a law about two attributes"
    extendable = True
    stricter: ClassVar = {}

    first: str
    second: str

    @property
    def parts(self) -> tuple[GroupModel, ...]:
        """Two values of either attribute."""
        return tuple(DistinctLDiversity(l=2, sensitive=name) for name in (self.first, self.second))


def requests() -> Iterator[ConformanceRequest]:
    """Yield every promise on tables of all scales, with and without missing values, under both policies.

    Sensitive values are missing under one policy only: they count alike under both, and buckets cannot hide them.
    """
    for number, models in enumerate(MODEL_SETS):
        for missing in MissingPolicy:
            complete = (S, "grade") if missing is MissingPolicy.OWN_VALUE else ()
            table = draw_table(number, lost=0.0 if number == 0 else LOST, complete=complete)
            schema = _protecting(full_schema(missing), models)
            yield ConformanceRequest(table=table, schema=schema, models=models, max_suppressed=0.1 * (number % 2))
    for models in (MODEL_SETS[1], MODEL_SETS[-1]):
        schema = _protecting(full_schema(MissingPolicy.OWN_VALUE), models)
        yield ConformanceRequest(table=draw_table(1, lost=0.0), schema=schema, models=models)


def edge_case_requests() -> Iterator[ConformanceRequest]:
    """Yield extreme tables."""
    table, schema = draw_table(1, lost=LOST, complete=[S]), full_schema(MissingPolicy.OWN_VALUE)
    one, three = KAnonymity(k=1), (KAnonymity(k=3), DistinctLDiversity(l=1, sensitive=S))
    lost = {name: pa.nulls(ROWS, pa.string()) for name in ("age", "zip", "job", "color")}
    constant = {name: table[name].drop_null().take([0] * ROWS) for name in ("age", "job", "color", S)}
    odd = {name: f"{name} - of 'ünï\"cöde', 名" for name in ("age", "job", "color", S, "note")}
    for missing in MissingPolicy:
        policy = replace(schema, missing=missing)
        yield ConformanceRequest(table=table.slice(0, 1), schema=policy, models=[one])
        yield ConformanceRequest(table=table.slice(0, 3), schema=policy, models=three)
        yield ConformanceRequest(table=table.take([0] * ROWS), schema=policy, models=three)
        yield ConformanceRequest(table=_replace_columns(table, lost), schema=policy, models=three)
        yield ConformanceRequest(table=_replace_columns(table, constant), schema=policy, models=three)
        yield ConformanceRequest(table=table, schema=Schema(sensitive=[S], missing=missing), models=three)
        yield ConformanceRequest(table=table, schema=Schema(insensitive=["note"], missing=missing), models=[one])
    named = table.rename_columns([odd.get(name, name) for name in table.column_names])
    names = Schema(
        quasi_identifiers=[odd["age"], odd["job"], odd["color"]], sensitive=[odd[S]], insensitive=[odd["note"]]
    )
    yield ConformanceRequest(
        table=named, schema=names, models=[KAnonymity(k=2), DistinctLDiversity(l=2, sensitive=odd[S])]
    )


def unsupported_requests() -> Iterator[ConformanceRequest]:
    """Yield what most algorithms cannot do: single sensitive cells, and promises that merging breaks."""
    table, flags = draw_table(1, lost=0.0), pa.array(np.arange(ROWS) % 2 == 0)
    flagged = replace(full_schema(MissingPolicy.OWN_VALUE), flags={"age": "age__sensitive"})
    yield ConformanceRequest(
        table=table.append_column("age__sensitive", flags), schema=flagged, models=[KAnonymity(k=2)]
    )
    yield ConformanceRequest(
        table=table, schema=full_schema(MissingPolicy.OWN_VALUE), models=[MaxGroupSize(k=ROWS // 2)]
    )


def capability_requests(algorithm: TableAlgorithm) -> Iterator[tuple[str, bool, ConformanceRequest]]:
    """Ask for what each declared fact is about, and say whether it should be served."""
    table, schema = draw_table(1, lost=0.0), full_schema(MissingPolicy.OWN_VALUE)
    diverse = DistinctLDiversity(l=2, sensitive=S)
    flags = pa.array(np.arange(ROWS) % 2 == 0)
    flagged = replace(schema, sensitive=(), insensitive=[*schema.insensitive, S], flags={"age": "flag"})
    yield (
        "supports_flags",
        algorithm.supports_flags,
        ConformanceRequest(
            table=table.append_column("flag", flags),
            schema=flagged,
            models=[DistinctLDiversity(l=2, sensitive="age")],
        ),
    )
    for missing, served in (
        (MissingPolicy.OWN_VALUE, algorithm.needs_monotone != "always"),
        (MissingPolicy.MATCHES_ALL, algorithm.needs_monotone == "never"),
    ):
        request = ConformanceRequest(
            table=table, schema=replace(schema, missing=missing), models=[MaxGroupSize(k=ROWS + 1)]
        )
        yield "needs_monotone", served, request
    lost = ConformanceRequest(table=draw_table(1, lost=LOST, complete=[S]), schema=schema, models=[diverse])
    yield "needs_complete", not algorithm.needs_complete, lost
    yield (
        "hides_identities",
        algorithm.hides_identities,
        ConformanceRequest(table=table, schema=schema, models=[KAnonymity(k=2)]),
    )
    pair = [diverse, DistinctLDiversity(l=2, sensitive="grade")]
    two = _protecting(schema, pair)
    apart = ConformanceRequest(table=table, schema=two, models=pair)
    yield "supports_attributes", algorithm.supports_attributes != "one", apart
    together = ConformanceRequest(table=table, schema=two, models=[TwoAttributeDiversity(first=S, second="grade")])
    yield "supports_attributes", algorithm.supports_attributes == "together", together


def full_schema(missing: MissingPolicy) -> Schema:
    """Return the schema of the drawn tables: quasi-identifiers of every scale."""
    return Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "born", "zip", "job", "grade", "color"],
        sensitive=[S],
        insensitive=["note"],
        hierarchies={"born": Intervals("month", "year"), "zip": Prefixes(), "job": JOBS, S: DISEASES},
        orders={"grade": GRADES},
        missing=missing,
    )


def draw_table(seed: int, *, lost: float, complete: Sequence[str] = ()) -> pa.Table:
    """Draw a table with attributes of every scale; a share of its cells is missing, except in some columns."""
    rng = seeded_generator(seed)
    cells = {
        "age": pa.array(rng.integers(18, 60, ROWS)),
        "born": pa.array([date(1980, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 90, ROWS)]),
        "zip": _pick_values(rng, ["53715", "53703", "53706", "90210", "90211"]),
        "job": _pick_values(rng, JOBS.hierarchy.leaves),
        "grade": _pick_values(rng, GRADES),
        "color": _pick_values(rng, ["red", "green", "blue", "black"]),
        S: _pick_values(rng, DISEASES.hierarchy.leaves),
    }
    missing = {name: pa.array((rng.random(ROWS) < lost) & (name not in complete)) for name in cells}
    shown = {name: _blank_cells(values, missing[name]) for name, values in cells.items()}
    names = pa.array([f"person {number}" for number in range(ROWS)])
    return pa.table({"name": names, **shown, "note": pa.array([f"note {i % 7}" for i in range(ROWS)])})


def _protecting(schema: Schema, models: Sequence[GroupModel]) -> Schema:
    """Make the attributes that the models protect sensitive; the others stay quasi-identifiers."""
    protected = {S, *(name for model in models for name in model.sensitive_attributes)}
    quasi = [name for name in schema.quasi_identifiers if name not in protected]
    return replace(schema, quasi_identifiers=quasi, sensitive=sorted(protected))


def _pick_values(rng: np.random.Generator, values: Sequence[object]) -> pa.Array:
    return pa.array([str(values[i]) for i in np.minimum(rng.geometric(0.35, ROWS) - 1, len(values) - 1)])


def _blank_cells(values: pa.Array, missing: pa.Array) -> pa.Array:
    return pc.if_else(missing, pa.scalar(None, values.type), values)


def _replace_columns(table: pa.Table, columns: dict[str, pa.Array]) -> pa.Table:
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table
