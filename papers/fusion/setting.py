"""What the experiments on fusion are done on: Adult as two owners have it, or made-up hospital stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_integer, require
from sfumato.datasets import hospital
from sfumato.errors import SchemaError
from sfumato.fusion.party import Party
from sfumato.fusion.scoring import attribute_sensitivities, count_classes, information_gain
from sfumato.fusion.session import KAnonymityRequirement, Scoring
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy

PERSON = "person"
OWNERS = ("owner 1", "owner 2")
ROWS = 45_222
MIN_ROWS = 100
SENSITIVE_FACTOR, OTHER_FACTOR = (3.0, 1.0), (4.0, 5.0)  # of values, in figures 3 and 4

ADULT_TAXONOMIES: Mapping[str, Mapping[str, object]] = {
    "workclass": {
        "government": ["Federal-gov", "Local-gov", "State-gov"],
        "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
        "private": ["Private"],
        "unpaid": ["Never-worked", "Without-pay"],
    },
    "education": {
        "school": {
            "primary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
            "secondary": ["9th", "10th", "11th", "12th", "HS-grad"],
        },
        "higher": {
            "undergraduate": ["Some-college", "Assoc-acdm", "Assoc-voc", "Bachelors"],
            "graduate": ["Masters", "Prof-school", "Doctorate"],
        },
    },
    "marital-status": {
        "married": ["Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent"],
        "once married": ["Divorced", "Separated", "Widowed"],
        "single": ["Never-married"],
    },
    "occupation": {
        "white-collar": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
        "blue-collar": [
            "Craft-repair",
            "Farming-fishing",
            "Handlers-cleaners",
            "Machine-op-inspct",
            "Transport-moving",
        ],
        "service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
    },
    "relationship": {
        "spouse": ["Husband", "Wife"],
        "relative": ["Other-relative", "Own-child"],
        "no relative": ["Not-in-family", "Unmarried"],
    },
    "native-country": {
        "America": {
            "North America": ["Canada", "Outlying-US(Guam-USVI-etc)", "United-States"],
            "Latin America": [
                "Columbia",
                "Cuba",
                "Dominican-Republic",
                "Ecuador",
                "El-Salvador",
                "Guatemala",
                "Haiti",
                "Honduras",
                "Jamaica",
                "Mexico",
                "Nicaragua",
                "Peru",
                "Puerto-Rico",
                "Trinadad&Tobago",
            ],
        },
        "Europe": {
            "Western Europe": ["England", "France", "Germany", "Holand-Netherlands", "Ireland", "Scotland"],
            "Southern Europe": ["Greece", "Italy", "Portugal", "Yugoslavia"],
            "Eastern Europe": ["Hungary", "Poland"],
        },
        "Asia": {
            "East Asia": ["China", "Hong", "Japan", "South", "Taiwan"],
            "Other Asia": ["Cambodia", "India", "Iran", "Laos", "Philippines", "Thailand", "Vietnam"],
        },
    },
}
ADULT_FACTORS = (
    {
        "age": 0.16,
        "workclass": 0.16,
        "fnlwgt": 0.16,
        "education": 0.1,
        "education-num": 0.16,
        "marital-status": 0.16,
        "occupation": 0.1,
    },
    {
        "relationship": 0.1,
        "race": 0.1,
        "sex": 0.175,
        "capital-gain": 0.175,
        "capital-loss": 0.175,
        "hours-per-week": 0.175,
        "native-country": 0.1,
    },
)


@dataclass(frozen=True, kw_only=True)
class FusionGrid:
    """The parameters of the experiments; the defaults are the text's, which does not say which k it used.

    Parameters
    ----------
    group_sizes : k, on the x-axis of all figures.
    held_out : the share of records that classifiers are tested on; they are not fused.
    repetitions : how often records are held out; each time others.
    scoring : a node weighs the mean of its values' factors (`"sensitive"`), or their sum as printed
        (`"sensitive-sum"`).
    seed : makes the choice of these records, and the made-up table, repeatable.
    """

    group_sizes: Sequence[int] = (20, 50, 75, 100, 125, 150, 200)
    held_out: float = 1 / 3
    repetitions: int = 5
    scoring: Scoring = "sensitive"
    seed: int = 0

    def __post_init__(self) -> None:
        require(is_integer(self.seed) and self.seed >= 0, self, "seed", "a whole number from 0", self.seed)
        sizes = all(is_integer(k) and k >= 1 for k in self.group_sizes)
        require(sizes and len(self.group_sizes) > 0, self, "group_sizes", "whole numbers from 1", self.group_sizes)
        many = is_integer(self.repetitions) and self.repetitions >= 1
        require(many, self, "repetitions", "a whole number from 1", self.repetitions)
        readings = ("sensitive", "sensitive-sum")
        require(self.scoring in readings, self, "scoring", "'sensitive' or 'sensitive-sum'", self.scoring)


@dataclass(frozen=True, eq=False, kw_only=True)
class FusionSubject:
    """A table whose attributes belong to two owners.

    Parameters
    ----------
    table : all attributes and the class, without missing values.
    target : the class.
    attributes : the attributes of each owner.
    quasi : the attributes on which groups are required.
    sensitive : the attributes whose values have the smaller factors.
    hierarchies : how texts are generalized.
    attribute_factors : for each owner; by default computed from information gain.
    """

    table: pa.Table
    target: str
    attributes: tuple[tuple[str, ...], ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    hierarchies: Mapping[str, HierarchyBuilder] = field(repr=False)
    attribute_factors: tuple[Mapping[str, float], ...] | None = None

    @property
    def columns(self) -> list[str]:
        """All attributes."""
        return [name for mine in self.attributes for name in mine]

    @property
    def views(self) -> tuple[Sequence[str], ...]:
        """What classifiers may see: all attributes, or the quasi-identifiers alone."""
        return self.columns, self.quasi

    def columns_of(self, table: pa.Table) -> FusionSubject:
        """Return the same subject with other records."""
        return replace(self, table=table)

    def requirement(self, k: int) -> KAnonymityRequirement:
        """Require groups of this many records."""
        return KAnonymityRequirement(quasi=self.quasi, k=k)

    def parties(self, setting: int) -> list[Party]:
        """Split the attributes among owners, with the factors of figure 3 (setting 0) or of figure 4 (setting 1)."""
        persons = pa.array(np.arange(self.table.num_rows))
        made = []
        for place, (name, mine) in enumerate(zip(OWNERS, self.attributes, strict=True)):
            table = self.table.select([*mine, self.target]).append_column(PERSON, persons)
            factors = {each: (SENSITIVE_FACTOR if each in self.sensitive else OTHER_FACTOR)[setting] for each in mine}
            made.append(
                Party(
                    name=name,
                    data=table,
                    id=PERSON,
                    attributes=mine,
                    hierarchies={each: self.hierarchies[each] for each in mine if each in self.hierarchies},
                    factor=1 / len(OWNERS),
                    attribute_factors=None if self.attribute_factors is None else self.attribute_factors[place],
                    value_factors=factors,
                )
            )
        return made

    def joined(self, setting: int) -> Party:
        """Let one owner have all attributes, weighed as those of `parties`; this makes the same table."""
        parties = self.parties(setting)
        weights: dict[str, float] = {}
        for party in parties:
            factors = party.attribute_factors or attribute_sensitivities(
                {name: self._gain(name) for name in party.attributes}
            )
            weights |= {name: party.factor * factors[name] for name in party.attributes}
        return Party(
            name="all",
            data=self.table.append_column(PERSON, pa.array(np.arange(self.table.num_rows))),
            id=PERSON,
            attributes=self.columns,
            hierarchies=self.hierarchies,
            attribute_factors=weights,
            value_factors={name: factor for party in parties for name, factor in party.value_factors.items()},
        )

    def _gain(self, name: str) -> float:
        """Return how much the values of an attribute reveal about the class."""
        values, classes = (self.table[each].combine_chunks().dictionary_encode() for each in (name, self.target))
        shape = len(values.dictionary), len(classes.dictionary)
        return information_gain(count_classes(values.indices.to_numpy(), classes.indices.to_numpy(), shape))


def adult_subject(table: pa.Table, *, rows: int | None = None, seed: int = 0) -> FusionSubject:
    """Use Adult with the text's owners, quasi-identifier and factors; records with missing values are dropped.

    Parameters
    ----------
    table : with the 14 attributes as UCI names them, and `class`.
    rows : use this many records at random; by default all.
    seed : makes the choice of records repeatable.
    """
    wanted = [*(name for mine in ADULT_FACTORS for name in mine), "class"]
    absent = [name for name in wanted if name not in table.column_names]
    if absent:
        raise SchemaError(f"The table has no columns {', '.join(absent)}, which Adult has; name them as UCI does.")
    return FusionSubject(
        table=_sampled(table.select(wanted).drop_null(), rows, seed),
        target="class",
        attributes=tuple(tuple(mine) for mine in ADULT_FACTORS),
        quasi=("age", "workclass", "marital-status", "race", "sex", "native-country"),
        sensitive=("education", "occupation", "relationship", "race", "native-country"),
        hierarchies={name: Taxonomy(tree) for name, tree in ADULT_TAXONOMIES.items()},
        attribute_factors=ADULT_FACTORS,
    )


def synthetic_subject(*, rows: int | None = None, seed: int = 0) -> FusionSubject:
    """Make up hospital stays; the class says whether a stay costs more than the median.

    A hospital has age, sex, height and disease, an agency has the rest. Factors of attributes come from information
    gain.
    """
    made = hospital.generate_hospital(ROWS if rows is None else rows, seed=seed, missing=0.0)
    _check_enough_rows(made)
    median = pc.quantile(made["cost"], q=0.5)[0]
    classes = pc.if_else(pc.greater(made["cost"], median), "dear", "cheap")
    attributes = (("age", "sex", "height_cm", "disease"), ("zip", "marital_status", "education", "job", "nationality"))
    names = [name for mine in attributes for name in mine]
    return FusionSubject(
        table=made.select(names).append_column("class", classes).combine_chunks(),
        target="class",
        attributes=attributes,
        quasi=("age", "sex", "zip", "marital_status", "nationality"),
        sensitive=("disease", "education", "job", "nationality"),
        hierarchies={
            "disease": Taxonomy(hospital.DISEASES),
            "zip": Prefixes(),
            "marital_status": Taxonomy(hospital.MARITAL),
            "job": Taxonomy(hospital.JOBS),
            "nationality": Taxonomy(hospital.COUNTRIES),
        },
    )


def _sampled(table: pa.Table, rows: int | None, seed: int) -> pa.Table:
    if rows is not None and rows < table.num_rows:
        require(is_integer(rows) and rows >= MIN_ROWS, "adult_subject", "rows", f"at least {MIN_ROWS}", rows)
        order = np.random.default_rng(seed).permutation(table.num_rows)[:rows]
        table = table.take(pa.array(np.sort(order)))
    _check_enough_rows(table)
    return table.combine_chunks()


def _check_enough_rows(table: pa.Table) -> None:
    if table.num_rows < MIN_ROWS:
        raise SchemaError(f"{table.num_rows:,} complete records are too few to learn from; give {MIN_ROWS} or more.")
