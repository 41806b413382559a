"""The data and the parameters of the experiments of the thesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_integer, require
from sfumato.datasets.census import EDUCATION_LEVELS, CensusCardinalities, generate_census, make_census_taxonomies
from sfumato.encoding.domain import infer_domain
from sfumato.errors import SchemaError
from sfumato.queries.value_partition import is_numeric
from sfumato.schema.schema import Schema
from sfumato.schema.sensitive_cells import mark_sensitive_cells

THESIS_ROWS = {3: 22_517, 4: 17_629, 5: 31_055}
THESIS_CARDINALITIES = {
    3: CensusCardinalities(hours=90, occupations=216, salaries=702),
    4: CensusCardinalities(hours=89, occupations=187, salaries=682),
    5: CensusCardinalities(hours=93, occupations=257, salaries=719),
}
SEMI_SENSITIVE = 2
MIN_QUASI = 4


@dataclass(frozen=True, kw_only=True)
class ThesisGrid:
    """The parameters of all experiments; the defaults are the thesis's.

    The thesis does not say which `group_sizes` it used in figures 3.9 to 3.11, nor which `diversities` in chapters 3
    and 4; the latter are those of chapter 5.

    Parameters
    ----------
    queries : random queries per release.
    seed : makes flags, queries and releases repeatable.
    diversities : l wherever it is the x-axis.
    group_size : k where it is fixed, in chapter 3.
    group_sizes, fixed_diversities : k on the x-axis, and l of every line, in figures 3.9 to 3.11.
    generalized_sizes : k in chapter 5.
    densities, density : shares of flagged cells, and the share where it is fixed.
    closeness : t of the attribute with few values.
    """

    queries: int = 1000
    seed: int = 0
    diversities: Sequence[int] = (5, 8, 10, 12, 15, 18, 20)
    group_size: int = 3
    group_sizes: Sequence[int] = (2, 3, 5, 8, 10)
    fixed_diversities: Sequence[int] = (5, 10, 15, 20)
    generalized_sizes: Sequence[int] = (5, 8, 10)
    densities: Sequence[float] = (0.1, 0.2, 0.3, 0.4)
    density: float = 0.2
    closeness: float = 0.2

    def __post_init__(self) -> None:
        require(is_integer(self.queries) and self.queries >= 1, self, "queries", "at least 1", self.queries)
        require(is_integer(self.seed) and self.seed >= 0, self, "seed", "a whole number from 0", self.seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class ThesisSubject:
    """A table to experiment on.

    Parameters
    ----------
    table, schema : the table without missing values, and its roles; one attribute is sensitive.
    semi_sensitive : quasi-identifiers with flagged cells, which are kept l-diverse.
    narrow : a quasi-identifier with few values, whose flagged cells are kept t-close.
    """

    table: pa.Table
    schema: Schema
    semi_sensitive: tuple[str, ...]
    narrow: str

    @property
    def summed(self) -> str:
        """The sensitive attribute, whose numbers queries sum."""
        return self.schema.sensitive[0]

    def sensitive_cells(self, names: Sequence[str], density: float, seed: int) -> ThesisSubject:
        """Flag a share of the cells of some attributes at random; cells of a lower density are among these."""
        rows = self.table.num_rows
        number = max(1, round(density * rows))
        streams = np.random.default_rng(seed).spawn(len(names))
        mask = {}
        for name, stream in zip(names, streams, strict=True):
            flags = np.zeros(rows, dtype=np.bool_)
            flags[stream.permutation(rows)[:number]] = True
            mask[name] = flags
        table, schema = mark_sensitive_cells(self.table, self.schema, mask=pa.table(mask))
        return replace(self, table=table, schema=schema)


def census_schema(cardinalities: CensusCardinalities | None = None) -> Schema:
    """Return the roles of the attributes of `generate_census`, and taxonomies for nominal ones, as the thesis has."""
    sizes = CensusCardinalities() if cardinalities is None else cardinalities
    return Schema(
        quasi_identifiers=[
            "sex",
            "age",
            "relationship",
            "marital_status",
            "race",
            "education",
            "hours_per_week",
            "occupation",
        ],
        sensitive=["salary"],
        orders={"education": EDUCATION_LEVELS},
        hierarchies=make_census_taxonomies(sizes.occupations),
    )


def census_subject(chapter: int, *, rows: int | None, seed: int) -> ThesisSubject:
    """Make up the census of a chapter, by default with as many rows as in the thesis."""
    sizes = THESIS_CARDINALITIES[chapter]
    table = generate_census(THESIS_ROWS[chapter] if rows is None else rows, seed=seed, cardinalities=sizes)
    schema = census_schema(sizes)
    return ThesisSubject(table=table, schema=schema, semi_sensitive=("age", "occupation"), narrow="sex")


def subject_from_table(table: pa.Table, schema: Schema) -> ThesisSubject:
    """Experiment on a table of the user.

    The first numeric sensitive attribute is summed. The attributes with flags in the schema are semi-sensitive, or else
    the two quasi-identifiers with the most values; the one with the fewest is kept t-close. Records with missing values
    are dropped, as in the thesis.
    """
    schema.check_columns(table.column_names)
    summed = [name for name in schema.sensitive if is_numeric(infer_domain(name, table[name], schema))]
    if not summed:
        raise SchemaError("The thesis sums a sensitive number, but no sensitive attribute is numeric; name one.")
    if len(schema.quasi_identifiers) < MIN_QUASI:
        raise SchemaError(f"The thesis queries {MIN_QUASI} quasi-identifiers at once; add some to the schema.")
    names = [*schema.quasi_identifiers, summed[0]]
    kept = table.select(names).drop_null()
    if not kept.num_rows:
        raise SchemaError("Every record has a missing value, but the thesis drops such records; give complete records.")
    widths = {name: len(pc.unique(kept[name])) for name in schema.quasi_identifiers}
    by_width = sorted((name for name in schema.quasi_identifiers if widths[name] > 1), key=lambda name: widths[name])
    semi = tuple(schema.flags) or tuple(by_width[-SEMI_SENSITIVE:])
    narrow = [name for name in by_width if name not in semi]
    if not narrow or not set(semi) <= set(schema.quasi_identifiers):
        raise SchemaError("Flagged attributes must be quasi-identifiers, and one more must have two values or more.")
    return ThesisSubject(table=kept, schema=_only(schema, summed[0]), semi_sensitive=semi, narrow=narrow[0])


def _only(schema: Schema, summed: str) -> Schema:
    """Keep the quasi-identifiers and one sensitive attribute."""
    quasi = schema.select_quasi_identifiers()
    return replace(
        quasi,
        sensitive=[summed],
        hierarchies={
            name: schema.hierarchies[name] for name in (*schema.quasi_identifiers, summed) if name in schema.hierarchies
        },
        scales={name: schema.scales[name] for name in (*schema.quasi_identifiers, summed) if name in schema.scales},
    )
