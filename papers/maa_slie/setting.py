"""The data and the parameters of the experiments on MAA-SLIE."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_integer, require
from sfumato.datasets.census import EDUCATION_LEVELS, CensusCardinalities, generate_census
from sfumato.errors import SchemaError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema

LEVEL_WEIGHTS: Final[Mapping[int, float]] = {1: 0.1, 2: 0.2, 3: 0.4, 4: 0.6, 5: 0.8}
LARGE_REPETITIONS: Final = 3

# Occupations of the made-up census belong to 14 fields, as many as Adult has occupations.
CENSUS_OCCUPATIONS: Final = CensusCardinalities(occupations=168)
FIELD: Final = len("field 01")
CENSUS_TREES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "marital_status": {
        "spouse present": ("married, together",),
        "spouse not present": ("married, spouse absent", "separated", "divorced", "widowed", "never married"),
    },
    "relationship": {
        "couple": ("head", "spouse", "partner or friend"),
        "younger": ("child", "child-in-law", "grandchild"),
        "older": ("parent", "parent-in-law"),
        "same age": ("sibling", "sibling-in-law"),
        "others": ("other relative", "other non-relative", "institutional inmate"),
    },
}

ADULT_QUASI: Final = ("age", "sex", "race", "education", "marital-status", "native-country", "workclass")
ADULT_SENSITIVE: Final = "occupation"
ADULT_EDUCATION: Final = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
# Similar occupations share a level, as similar diseases do in the paper: cancer and HIV, diabetes and hepatitis, flu
# and fever. The paper does not say which occupations are similar, or more sensitive.
ADULT_LEVELS: Final[Mapping[int, Sequence[str]]] = {
    1: ("Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"),
    2: ("Other-service", "Priv-house-serv"),
    3: ("Adm-clerical", "Sales", "Tech-support"),
    4: ("Exec-managerial", "Prof-specialty"),
    5: ("Armed-Forces", "Protective-serv"),
}
ADULT_TREES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "marital-status": {
        "spouse present": ("Married-civ-spouse", "Married-AF-spouse"),
        "spouse not present": ("Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent"),
    },
    "native-country": {
        "North America": ("United-States", "Canada", "Outlying-US(Guam-USVI-etc)"),
        "Latin America": (
            *("Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti", "Honduras"),
            *("Jamaica", "Mexico", "Nicaragua", "Peru", "Puerto-Rico", "Trinadad&Tobago"),
        ),
        "Europe": (
            *("England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy"),
            *("Poland", "Portugal", "Scotland", "Yugoslavia"),
        ),
        "Asia": (
            *("Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "South", "Taiwan"),
            *("Thailand", "Vietnam"),
        ),
    },
    "workclass": {
        "private": ("Private", "Self-emp-inc", "Self-emp-not-inc"),
        "government": ("Federal-gov", "Local-gov", "State-gov"),
        "without pay": ("Without-pay", "Never-worked"),
    },
}


@dataclass(frozen=True, kw_only=True)
class MaaSlieGrid:
    """The parameters of all experiments; the defaults are the paper's.

    The paper does not say which p its figures use. Here p is every number of values from 3, the largest H, to 8, the
    smallest k.

    Parameters
    ----------
    rows : records of each table.
    large_rows : records of the larger tables, which the paper does not have; 0 for none.
    repetitions : tables of `rows` records; of larger ones there are at most 3.
    index : whether MAA-SLIE's index has the mean loss per record, or the sum, as printed.
    seed : another seed gives other tables.
    settings : H and k of every part of a figure.
    values : p, the x-axis.
    """

    rows: int = 3000
    large_rows: int = 30_000
    repetitions: int = 10
    index: Literal["mean", "sum"] = "mean"
    seed: int = 0
    settings: Sequence[tuple[int, int]] = ((2, 8), (2, 12), (3, 8))
    values: Sequence[int] = (3, 4, 5, 6, 7, 8)

    def __post_init__(self) -> None:
        for name, least in (("rows", 1), ("large_rows", 0), ("repetitions", 1), ("seed", 0)):
            given = getattr(self, name)
            require(is_integer(given) and given >= least, self, name, f"a whole number from {least}", given)
        require(self.index in ("mean", "sum"), self, "index", "'mean' or 'sum'", self.index)

    @property
    def sizes(self) -> Mapping[int, int]:
        """The number of tables of each size."""
        large = {self.large_rows: min(self.repetitions, LARGE_REPETITIONS)} if self.large_rows > self.rows else {}
        return {self.rows: self.repetitions, **large}


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedTable:
    """A table whose sensitive values have levels from 1 to 5; without a table, a census is made up.

    Parameters
    ----------
    schema : roles and hierarchies; one attribute is sensitive.
    levels : the level of every value.
    table : complete records to draw from.
    """

    schema: Schema
    levels: Mapping[str, int]
    table: pa.Table | None = None

    @property
    def sensitive(self) -> str:
        """The name of the sensitive attribute."""
        return self.schema.sensitive[0]

    def max_level(self, rows: int) -> int:
        """Return how many records a table has if this many are requested."""
        return rows if self.table is None else min(rows, self.table.num_rows)

    def sample(self, rows: int, seed: int, repetition: int) -> pa.Table:
        """Draw records without replacement, or make up this many."""
        names = [*self.schema.quasi_identifiers, self.sensitive]
        sequence = np.random.SeedSequence([seed, repetition])
        if self.table is None:
            return _generate_census(rows, int(sequence.generate_state(1)[0])).select(names)
        order = np.random.default_rng(sequence).permutation(self.table.num_rows)
        return self.table.take(np.sort(order[: self.max_level(rows)])).select(names)


def generate_ranked_census() -> RankedTable:
    """Make up a census like Adult: seven quasi-identifiers of all four scales, and 14 fields of occupations."""
    schema = Schema(
        quasi_identifiers=["age", "sex", "race", "education", "marital_status", "relationship", "hours_per_week"],
        sensitive=["occupation"],
        orders={"education": EDUCATION_LEVELS},
        hierarchies={name: Taxonomy(tree) for name, tree in CENSUS_TREES.items()},
    )
    return RankedTable(
        schema=schema, levels=_assign_levels(_generate_census(CENSUS_OCCUPATIONS.occupations, 0)["occupation"])
    )


def ranked_adult(table: pa.Table) -> RankedTable:
    """Use a table with the columns of Adult that the paper uses; incomplete records are dropped, as in the paper.

    The paper does not say which occupation has which level. Here similar ones share a level, as similar diseases do
    in its examples: manual work, services, offices, professions, protection. Occupations that Adult does not have are
    dealt to the levels as neighbors in alphabetical order.
    """
    names = {_adult_spelling(name): name for name in table.column_names}
    wanted = (*ADULT_QUASI, ADULT_SENSITIVE)
    missing = [repr(name) for name in wanted if name not in names]
    if missing:
        raise SchemaError(
            f"The table has no column {', '.join(missing)}; give one with the columns of Adult that the paper uses: "
            f"{', '.join(wanted)}."
        )
    columns = {name: table[names[name]] for name in wanted}
    for name, column in columns.items():
        if name != "age":
            texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
            columns[name] = pc.if_else(pc.equal(texts, "?"), pa.scalar(None, pa.string()), texts)
    kept = pa.table(columns).drop_null()
    if not kept.num_rows:
        raise SchemaError("Every record has a missing value, but the paper drops such records; give complete records.")
    schema = Schema(
        quasi_identifiers=ADULT_QUASI,
        sensitive=[ADULT_SENSITIVE],
        orders={"education": ADULT_EDUCATION},
        hierarchies={name: _complete_tree(tree, kept[name]) for name, tree in ADULT_TREES.items()},
    )
    return RankedTable(schema=schema, levels=_assign_levels(kept[ADULT_SENSITIVE]), table=kept)


def _generate_census(rows: int, seed: int) -> pa.Table:
    """Make up a census with fields instead of occupations."""
    table = generate_census(rows, seed=seed, cardinalities=CENSUS_OCCUPATIONS)
    fields = pc.utf8_slice_codeunits(table["occupation"], 0, FIELD)
    return table.set_column(table.column_names.index("occupation"), "occupation", fields)


def _assign_levels(column: pa.ChunkedArray) -> dict[str, int]:
    """Give values the levels of Adult's occupations, and deal others as neighbors in alphabetical order."""
    known = {value: level for level, values in ADULT_LEVELS.items() for value in values}
    found = sorted(pc.unique(column).to_pylist())
    others = [value for value in found if value not in known]
    dealt = {value: 1 + at * len(LEVEL_WEIGHTS) // len(others) for at, value in enumerate(others)}
    return {value: known.get(value) or dealt[value] for value in found}


def _complete_tree(tree: Mapping[str, Sequence[str]], column: pa.ChunkedArray) -> Taxonomy:
    """Put values that are not in a tree into a branch of their own."""
    known = {value for values in tree.values() for value in values}
    others = sorted(set(pc.unique(column).to_pylist()) - known)
    return Taxonomy({**{name: list(values) for name, values in tree.items()}, **({"other": others} if others else {})})


def _adult_spelling(name: str) -> str:
    """Spell a column's name as Adult does.

    >>> _adult_spelling("Marital Status"), _adult_spelling("native.country"), _adult_spelling("gender")
    ('marital-status', 'native-country', 'sex')
    """
    plain = re.sub(r"[\s_.]+", "-", name.strip().lower())
    return {"gender": "sex", "work-class": "workclass"}.get(plain, plain)
