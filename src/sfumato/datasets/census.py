"""A made-up census for reproducing experiments: nobody in it exists.

The attributes and the number of values of each are those of a doctoral thesis of Jilin University, 2018:
"Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests".
What depends on what, and how skewed it is, is plausible rather than estimated: people with more schooling work more
hours for more money, and salaries heap at round numbers. How much they heap is inferred from the thesis: its heuristic
halves salaries at the median while no value holds more than 1/l of a half, and it works up to l = 15 but not at l = 18.
So twice the share of the most frequent salary lies between 1/18 and 1/15, and the share between 2.8% and 3.3%.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer, require
from sfumato.hierarchies.taxonomy import Taxonomy

RELATIONSHIPS: Final[tuple[str, ...]] = (
    "head",
    "spouse",
    "child",
    "child-in-law",
    "parent",
    "parent-in-law",
    "sibling",
    "sibling-in-law",
    "grandchild",
    "other relative",
    "partner or friend",
    "other non-relative",
    "institutional inmate",
)
MARITAL_STATUSES: Final[tuple[str, ...]] = (
    "married, together",
    "married, spouse absent",
    "separated",
    "divorced",
    "widowed",
    "never married",
)
RACES: Final[tuple[str, ...]] = (
    "white",
    "black",
    "American Indian",
    "Chinese",
    "Japanese",
    "other Asian",
    "other race",
    "two races",
    "three or more races",
)
EDUCATION_LEVELS: Final[tuple[str, ...]] = (
    "no schooling",
    "to grade 4",
    "to grade 8",
    "grade 9",
    "grade 10",
    "grade 11",
    "grade 12",
    "1 year of college",
    "2 years of college",
    "4 years of college",
    "5 or more years of college",
)
SEXES: Final[tuple[str, ...]] = ("female", "male")
FIRST_AGE: Final = 17
AGES: Final = 73

_Codes = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

_RACE_WEIGHTS: Final = (72, 12, 1, 1.6, 0.4, 3.5, 6, 3, 0.5)
# Weights of school levels of the youngest and of the oldest.
_LEVELS_OF_YOUNG: Final = (0.7, 0.5, 1.6, 1.3, 1.6, 2, 33, 14, 10, 22, 13)
_LEVELS_OF_OLD: Final = (2, 2.5, 9, 4, 5, 4, 38, 9, 6, 12, 8.5)
# Weights of marital statuses at these ages, straight lines between.
_MARITAL_AGES: Final = (17, 22, 30, 45, 65, 89)
_MARITAL_CURVES: Final = (
    (1, 14, 50, 62, 62, 40),
    (0.5, 2, 3, 3, 2, 2),
    (0.1, 1.2, 3, 3, 1.5, 0.6),
    (0.1, 1.5, 8, 17, 15, 7),
    (0.02, 0.05, 0.3, 2, 12, 48),
    (98, 81, 36, 13, 7, 4),
)
# Weights of relationships to the head of the household: who lives with a spouse, who does not, and the young.
_RELATIONSHIPS_OF_MARRIED: Final = (50, 46, 1.5, 0.6, 0.3, 0.2, 0.2, 0.2, 0.05, 0.4, 0.2, 0.3, 0.05)
_RELATIONSHIPS_OF_OTHERS: Final = (58, 0.2, 14, 0.4, 2, 0.6, 3, 0.9, 0.5, 1.6, 12, 6, 0.8)
_RELATIONSHIPS_OF_YOUNG: Final = (16, 0.2, 55, 0.5, 0.05, 0.05, 3, 1, 5, 3, 10, 6, 0.7)
_YOUNG: Final = 25
_RETIRED: Final = 66
_USUAL_HOURS: Final = 40
_USUAL_SHARE: Final = 0.62
_ROUND_HOURS: Final = 0.7
OCCUPATIONS_PER_FIELD: Final = 12
# The share of those who name their salary to the nearest 5,000, to the nearest 1,000, or to the nearest 100.
# They give the most frequent salary a share of 3.0%, in the middle of what the thesis implies.
_HEAPING: Final = (0.26, 0.38, 0.36)
_STEPS: Final = (5000, 1000, 100)
_TOP_OF_STEP: Final = (300_000, 150_000)
_MEDIAN_SALARY: Final = 31_000


@dataclass(frozen=True, kw_only=True)
class CensusCardinalities:
    """The number of values of some attributes of a census; all others are fixed.

    Sex has 2 values, age 73, relationship 13, marital status 6, race 9, education 11.
    """

    hours: int = 90
    occupations: int = 216
    salaries: int = 702

    def __post_init__(self) -> None:
        least = len(_salaries(0))
        for name, low, high in (("hours", 2, 99), ("occupations", 2, 999), ("salaries", least, 1500)):
            given = getattr(self, name)
            require(is_integer(given) and low <= given <= high, self, name, f"from {low} to {high}", given)


def generate_census(rows: int = 30_000, *, seed: int = 0, cardinalities: CensusCardinalities | None = None) -> pa.Table:
    """Make up a census of working people, one row per person, with the attributes of the thesis.

    With at least as many rows as an attribute has values, all its values occur.

    Parameters
    ----------
    rows : the number of people.
    seed : the same rows, seed and cardinalities give the same table.
    cardinalities : the number of values of hours, occupation and salary; by default `Cardinalities()`.

    Examples
    --------
    >>> table = generate_census(2000, seed=7)
    >>> table.column_names[:4], len(table["salary"].unique())
    (['sex', 'age', 'relationship', 'marital_status'], 702)
    >>> table.equals(generate_census(2000, seed=7))
    True
    """
    require(is_integer(rows) and rows >= 0, "generate_census", "rows", "a whole number, at least 0", rows)
    require(is_integer(seed) and seed >= 0, "generate_census", "seed", "a whole number, at least 0", seed)
    sizes = CensusCardinalities() if cardinalities is None else cardinalities
    require(isinstance(sizes, CensusCardinalities), "generate_census", "cardinalities", "a Cardinalities", sizes)
    rng = np.random.default_rng(seed)
    years = np.arange(AGES)
    sex = rng.integers(2, size=rows)
    age = _draw_codes(rng, _working_ages(), np.zeros(rows, dtype=np.int64))
    education = _draw_codes(rng, _educations(), age)
    marital = _draw_codes(rng, _marital_statuses(), age)
    young = age + FIRST_AGE < _YOUNG
    relationship = _draw_codes(rng, _relationships(), np.where(marital == 0, 0, np.where(young, 2, 1)))
    race = _draw_codes(rng, np.array([_RACE_WEIGHTS]), np.zeros(rows, dtype=np.int64))
    occupation = _draw_codes(rng, _occupations(sizes.occupations), education * 2 + sex)
    hours = _hours(rng, age + FIRST_AGE, sex, sizes.hours)
    prestige = _prestige(sizes.occupations)[occupation]
    salary = _salary(rng, (age + FIRST_AGE, sex, education, hours), prestige, sizes.salaries)
    codes = {
        "sex": (sex, pa.array(SEXES)),
        "age": (age, pa.array(years + FIRST_AGE)),
        "relationship": (relationship, pa.array(RELATIONSHIPS)),
        "marital_status": (marital, pa.array(MARITAL_STATUSES)),
        "race": (race, pa.array(RACES)),
        "education": (education, pa.array(EDUCATION_LEVELS)),
        "hours_per_week": (hours, pa.array(np.arange(1, sizes.hours + 1))),
        "occupation": (occupation, pa.array(make_occupation_names(sizes.occupations))),
        "salary": (salary, pa.array(_salaries(sizes.salaries))),
    }
    return pa.table(
        {
            name: values.take(pa.array(_cover_all_values(rng, code, len(values))))
            for name, (code, values) in codes.items()
        }
    )


def _draw_codes(rng: np.random.Generator, weights: _Floats, condition: _Codes) -> _Codes:
    """Draw one code per row with the weights of its condition."""
    bounds = np.cumsum(weights, axis=1)
    bounds /= bounds[:, -1:]
    bounds += np.arange(len(bounds))[:, None]
    found = np.searchsorted(bounds.ravel(), condition + rng.random(len(condition)), side="right")
    return np.asarray(np.minimum(found - condition * bounds.shape[1], bounds.shape[1] - 1))


def _cover_all_values(rng: np.random.Generator, codes: _Codes, values: int) -> _Codes:
    """Let every value occur, replacing values that occur more than once."""
    present, first = np.unique(codes, return_index=True)
    absent = np.setdiff1d(np.arange(values), present)
    spare = np.setdiff1d(np.arange(len(codes)), first)
    if not len(absent) or len(spare) < len(absent):
        return codes
    completed = codes.copy()
    completed[rng.choice(spare, len(absent), replace=False)] = absent
    return completed


def _working_ages() -> _Floats:
    age = np.arange(AGES) + FIRST_AGE
    begun, left = 1 / (1 + np.exp((21 - age) / 2.5)), 1 / (1 + np.exp((age - 63) / 4.5))
    return np.atleast_2d(begun * left * (1 + 0.35 * np.exp(-(((age - 46) / 12) ** 2))))


def _educations() -> _Floats:
    """Weight school levels by age; the young cannot have got far."""
    old = np.linspace(0, 1, AGES)[:, None]
    weights = (1 - old) * np.array(_LEVELS_OF_YOUNG) + old * np.array(_LEVELS_OF_OLD)
    age, level = np.arange(AGES)[:, None] + FIRST_AGE, np.arange(len(EDUCATION_LEVELS))
    reached = np.array([0, 0, 0, 15, 16, 17, 17, 19, 20, 22, 24])[level]
    return np.asarray(np.where(age >= reached, weights, weights * 0.02))


def _marital_statuses() -> _Floats:
    age = np.arange(AGES) + FIRST_AGE
    return np.column_stack([np.interp(age, _MARITAL_AGES, curve) for curve in _MARITAL_CURVES])


def _relationships() -> _Floats:
    return np.array([_RELATIONSHIPS_OF_MARRIED, _RELATIONSHIPS_OF_OTHERS, _RELATIONSHIPS_OF_YOUNG])


def _prestige(occupations: int) -> _Floats:
    """Return from 0 to 1 how much schooling an occupation needs: fields differ, and so do occupations within one."""
    place = np.arange(occupations)
    return np.asarray((place // OCCUPATIONS_PER_FIELD * 7919 % 31 / 30 * 0.75) + place * 104_729 % 17 / 16 * 0.25)


def _occupations(occupations: int) -> _Floats:
    """Weight occupations by schooling and sex; few are frequent, many are rare."""
    place, prestige = np.arange(occupations), _prestige(occupations)
    frequency = 1 / (place * 37 % occupations + 12.0) ** 0.9
    women = 0.08 + 0.84 * (place // OCCUPATIONS_PER_FIELD * 5 % 13 / 12)
    schooling = np.linspace(0, 1, len(EDUCATION_LEVELS))[:, None, None]
    fit = np.exp(-(((schooling - prestige) / 0.35) ** 2))
    by_sex = np.stack([women, 1 - women])[None]
    return np.asarray((frequency * fit * by_sex).reshape(-1, occupations))


def make_occupation_names(occupations: int) -> list[str]:
    """Name occupations by their field, and by their number in it."""
    places = (divmod(at, OCCUPATIONS_PER_FIELD) for at in range(occupations))
    return [f"field {field + 1:02d} job {job + 1:02d}" for field, job in places]


def _hours(rng: np.random.Generator, age: _Codes, sex: _Codes, most: int) -> _Codes:
    """Draw weekly hours minus 1: half work the usual hours, others part-time or longer, often a multiple of 5."""
    part_time = np.where((age < _YOUNG) | (age >= _RETIRED), 0.45, np.where(sex == 0, 0.24, 0.1))
    kind = rng.random(len(age))
    some = np.where(kind < part_time, rng.normal(24, 9, len(age)), rng.normal(47, 9, len(age)))
    rounded = np.where(rng.random(len(age)) < _ROUND_HOURS, np.rint(some / 5) * 5, np.rint(some))
    usual = (kind >= part_time) & (rng.random(len(age)) < _USUAL_SHARE)
    return np.clip(np.where(usual, _USUAL_HOURS, rounded), 1, most).astype(np.int64) - 1


def _salaries(values: int) -> npt.NDArray[np.int64]:
    """Return salaries: multiples of 5,000 and 1,000, and as many small multiples of 100 as needed."""
    round_ones = [np.arange(step, top + 1, step) for step, top in zip(_STEPS, _TOP_OF_STEP, strict=False)]
    heaps = np.unique(np.concatenate(round_ones))
    fine = np.setdiff1d(np.arange(1, 3 * max(values, 1)) * _STEPS[-1], heaps)
    return np.sort(np.concatenate([heaps, fine[: max(0, values - len(heaps))]]))


def _salary(
    rng: np.random.Generator, person: tuple[_Codes, _Codes, _Codes, _Codes], prestige: _Floats, values: int
) -> _Codes:
    """Draw salaries around what schooling, occupation, hours and age earn, rounded the way people round."""
    age, sex, education, hours = person
    earned = 0.09 * (education - 6) + 0.6 * (prestige - 0.4) + 0.85 * np.log((hours + 6) / 45)
    earned += 0.16 * sex - 0.0006 * (age - 50) ** 2 + 0.15
    exact = _MEDIAN_SALARY * np.exp(earned + 0.55 * rng.standard_normal(len(age)))
    known = _salaries(values)
    step = rng.choice(len(_STEPS), len(age), p=_HEAPING)
    codes = np.zeros(len(age), dtype=np.int64)
    for each, size in enumerate(_STEPS):
        heaps = np.flatnonzero(known % size == 0)
        mine = step == each
        nearest = np.searchsorted((known[heaps][1:] + known[heaps][:-1]) / 2, exact[mine])
        codes[mine] = heaps[nearest]
    return codes


# Taxonomies for the nominal attributes of the made-up census.

FIELDS_PER_SECTOR = 4
RELATIONSHIP_TAXONOMY: Mapping[str, object] = {
    "family": {
        "head or spouse": ["head", "spouse"],
        "descendants": ["child", "child-in-law", "grandchild"],
        "ascendants": ["parent", "parent-in-law"],
        "others of the family": ["sibling", "sibling-in-law", "other relative"],
    },
    "no family": ["partner or friend", "other non-relative", "institutional inmate"],
}
MARITAL_STATUS_TAXONOMY: Mapping[str, object] = {
    "married": ["married, together", "married, spouse absent", "separated"],
    "not married": ["divorced", "widowed", "never married"],
}
RACE_TAXONOMY: Mapping[str, object] = {
    "one race": {
        "white or black": ["white", "black"],
        "Asian": ["Chinese", "Japanese", "other Asian"],
        "others of one race": ["American Indian", "other race"],
    },
    "several races": ["two races", "three or more races"],
}


def make_census_taxonomies(occupations: int) -> dict[str, Taxonomy]:
    """Return a taxonomy for every nominal attribute of a census with so many occupations.

    Occupations are in fields of 12, and these in sectors of 4 fields.

    >>> {name: tree.hierarchy.height for name, tree in make_census_taxonomies(216).items()}
    {'sex': 1, 'relationship': 3, 'marital_status': 2, 'race': 3, 'occupation': 3}
    """
    return {
        "sex": Taxonomy(SEXES),
        "relationship": Taxonomy(RELATIONSHIP_TAXONOMY),
        "marital_status": Taxonomy(MARITAL_STATUS_TAXONOMY),
        "race": Taxonomy(RACE_TAXONOMY),
        "occupation": Taxonomy(_occupation_sectors(occupations)),
    }


def _occupation_sectors(occupations: int) -> dict[str, dict[str, list[str]]]:
    sectors: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, name in enumerate(make_occupation_names(occupations)):
        field = at // OCCUPATIONS_PER_FIELD
        sectors[f"sector {field // FIELDS_PER_SECTOR + 1}"][f"field {field + 1:02d}"].append(name)
    return {sector: dict(fields) for sector, fields in sectors.items()}
