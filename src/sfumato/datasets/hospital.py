"""A made-up hospital population for the demo, the documentation and benchmarks.

Nobody in it exists: names are joined from syllables, places from numbers. The shares are plausible rather than
estimated: they give a table with the skew and the dependencies of real tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import is_finite_number, is_integer, require

EDUCATION_ORDER: Final[tuple[str, ...]] = (
    "no schooling",
    "primary school",
    "lower secondary",
    "upper secondary",
    "vocational training",
    "bachelor",
    "master",
    "doctorate",
)

MARITAL: Final[dict[str, list[str]]] = {
    "with partner": ["married", "registered partnership", "cohabiting"],
    "without partner": ["single", "separated", "divorced", "widowed"],
}

JOBS: Final[dict[str, dict[str, list[str]]]] = {
    "office": {"administration": ["clerk", "accountant"], "technology": ["programmer", "engineer"]},
    "professions": {"health care": ["nurse", "physician"], "teaching": ["teacher", "researcher"]},
    "services": {"retail": ["cashier", "salesperson"], "hospitality": ["cook", "waiter"]},
    "manual": {"craft": ["bricklayer", "plumber", "machinist"], "outdoor": ["driver", "farmer", "gardener"]},
    "not employed": {
        "growing up": ["small child", "pupil", "student"],
        "at home": ["homemaker", "job seeker", "pensioner"],
    },
}

DISEASES: Final[dict[str, dict[str, list[str]]]] = {
    "circulation": {"heart": ["heart attack", "heart failure"], "vessels": ["stroke", "hypertension"]},
    "lungs": {"airway infection": ["influenza", "pneumonia"], "chronic lung": ["asthma", "COPD"]},
    "digestion": {"stomach": ["gastritis", "stomach ulcer"], "bowel": ["appendicitis", "colitis"]},
    "cancer": {"hormonal": ["breast cancer", "prostate cancer"], "internal": ["lung cancer", "colon cancer"]},
    "mind and nerves": {"mind": ["depression", "anxiety"], "nerves": ["migraine", "dementia"]},
    "body": {"skeleton": ["fracture", "back pain"], "metabolism": ["diabetes"]},
}

COUNTRIES: Final[dict[str, dict[str, list[str]]]] = {
    "Europe": {
        "Western Europe": ["Germany", "France", "Netherlands", "Austria", "Switzerland"],
        "Southern Europe": ["Italy", "Spain", "Portugal", "Greece"],
        "Northern Europe": ["Sweden", "Denmark", "United Kingdom"],
        "Eastern Europe": ["Poland", "Romania", "Ukraine"],
    },
    "Asia": {
        "Western Asia": ["Turkey", "Syria", "Iraq"],
        "Southern Asia": ["India", "Afghanistan"],
        "Eastern Asia": ["China", "Vietnam"],
    },
    "Africa": {"North Africa": ["Morocco", "Egypt"], "Sub-Sahara": ["Nigeria", "Eritrea", "Kenya"]},
    "America": {"North America": ["United States", "Canada"], "Latin America": ["Brazil", "Colombia"]},
}

_SEXES: Final = ("female", "male")
_AGES: Final = 101
_BLOCK: Final = 1 << 18

# Syllables of names, split where they are used.
_STEMS: Final = "Al Bre Cal Dor El Fen Gal Hal Il Jor Kel Lor Mar Nel Or Per Quin Ros Sel Tam Ul Vel Yor Zel"
_FEMALE_ENDINGS: Final = "a ena ina essa ora wyn itha ella"
_MALE_ENDINGS: Final = "an en in or ric bert mund wick"
_LAST_STARTS: Final = "Ash Bram Crow Dun Elder Fal Glen Har Inger Jarn Kirk Lang Mer Nor Pem Quill Rav Thorn"
_NAME_STEP: Final = 42_713  # has no divisor in common with the number of names, so that every name comes once
_LAST_ENDINGS: Final = "berg bourne by croft dale den fell ford gate holt land ley lund mere more ridge wick"

# Weights of each marital status at these ages, straight lines between; everybody below 18 is single.
_MARITAL_AGES: Final = (17, 18, 25, 35, 50, 65, 80, 100)
_MARITAL_CURVES: Final = {
    "married": (0, 1, 12, 52, 58, 60, 48, 20),
    "registered partnership": (0, 0.2, 1.5, 3, 2.5, 1.5, 1, 0.3),
    "cohabiting": (0, 3, 20, 13, 8, 4, 2, 1),
    "single": (100, 96, 66, 27, 13, 8, 7, 8),
    "separated": (0, 0, 0.5, 2, 4, 2, 1, 0.3),
    "divorced": (0, 0, 0.5, 5, 14, 14, 9, 4),
    "widowed": (0, 0, 0.05, 0.4, 2, 9, 30, 66),
}

# The youngest age at each school level, and weights at two ages among adults (the old studied less).
_LEVEL_AGES: Final = (0, 6, 11, 16, 17, 20, 23, 26)
_LEVELS_AT_30: Final = (0.4, 2, 11, 24, 30, 18, 12.5, 2.1)
_LEVELS_AT_90: Final = (3, 16, 34, 14, 26, 4, 2.5, 0.5)

# For every job: the lowest school level, the usual one, the relative number of jobs, the share of women.
_WORK: Final = {
    "clerk": (2, 3.5, 12, 0.66),
    "accountant": (3, 5.0, 5, 0.52),
    "programmer": (3, 5.5, 5, 0.2),
    "engineer": (5, 6.0, 8, 0.2),
    "nurse": (3, 4.2, 8, 0.82),
    "physician": (6, 6.6, 6, 0.49),
    "teacher": (5, 6.0, 9, 0.7),
    "researcher": (5, 7.0, 3, 0.42),
    "cashier": (1, 2.0, 6, 0.75),
    "salesperson": (1, 3.2, 9, 0.55),
    "cook": (0, 2.0, 5, 0.42),
    "waiter": (1, 2.8, 4, 0.58),
    "bricklayer": (0, 2.2, 6, 0.03),
    "plumber": (2, 4.0, 6, 0.05),
    "machinist": (1, 3.4, 8, 0.15),
    "driver": (0, 2.0, 7, 0.08),
    "farmer": (0, 2.5, 3, 0.35),
    "gardener": (0, 1.8, 3, 0.35),
}
# The ages at which phases of life begin, and for every phase the shares of those without a job.
_PHASES: Final = (6, 16, 19, 27, 63, 67)
_WITHOUT_WORK: Final[tuple[dict[str, float], ...]] = (
    {"small child": 1.0},
    {"pupil": 1.0},
    {"pupil": 0.7, "student": 0.05, "job seeker": 0.05},
    {"student": 0.4, "homemaker": 0.04, "job seeker": 0.07},
    {"student": 0.02, "homemaker": 0.08, "job seeker": 0.05, "pensioner": 0.03},
    {"homemaker": 0.05, "job seeker": 0.03, "pensioner": 0.5},
    {"homemaker": 0.02, "pensioner": 0.93},
)

# For every disease: weights at these ages, the share of women, the usual bill.
_DISEASE_AGES: Final = (0, 10, 20, 35, 50, 65, 80, 100)
_ILLNESS: Final = {
    "heart attack": ((0, 0, 0.1, 1, 5, 9, 11, 11), 0.35, 14200),
    "heart failure": ((0.1, 0.1, 0.1, 0.5, 2, 7, 15, 22), 0.5, 9800),
    "stroke": ((0, 0.1, 0.2, 0.8, 2.5, 6, 11, 14), 0.5, 12500),
    "hypertension": ((0, 0.1, 0.5, 3, 8, 11, 11, 9), 0.5, 2700),
    "influenza": ((16, 12, 8, 6, 5, 4, 5, 6), 0.5, 2100),
    "pneumonia": ((14, 6, 3, 3, 4, 6, 11, 17), 0.46, 5300),
    "asthma": ((9, 14, 8, 5, 3, 2, 1.5, 1), 0.5, 2600),
    "COPD": ((0, 0, 0.1, 0.6, 4, 8, 8, 6), 0.42, 6700),
    "gastritis": ((4, 7, 8, 8, 6, 4, 3, 2), 0.52, 1900),
    "stomach ulcer": ((0, 0.5, 2, 4, 5, 4, 3, 3), 0.42, 4800),
    "appendicitis": ((2, 16, 13, 7, 3, 2, 1, 0.5), 0.46, 5200),
    "colitis": ((1, 3, 6, 6, 4, 3, 3, 2), 0.52, 4400),
    "breast cancer": ((0, 0, 0.2, 3, 7, 7, 5, 4), 0.99, 13800),
    "prostate cancer": ((0, 0, 0, 0.1, 2.5, 8, 8, 6), 0.0, 11900),
    "lung cancer": ((0, 0, 0, 0.5, 3, 6, 5, 2), 0.42, 16400),
    "colon cancer": ((0, 0, 0.1, 0.8, 3, 6, 7, 5), 0.46, 15300),
    "depression": ((0, 3, 13, 13, 11, 6, 4, 3), 0.63, 7200),
    "anxiety": ((0.5, 6, 12, 9, 6, 3, 2, 1), 0.64, 4100),
    "migraine": ((0.5, 6, 10, 10, 6, 2, 1, 0.5), 0.72, 1500),
    "dementia": ((0, 0, 0, 0, 0.5, 3, 12, 26), 0.58, 8900),
    "fracture": ((12, 22, 14, 8, 7, 8, 13, 19), 0.48, 6600),
    "back pain": ((0, 1, 6, 11, 12, 9, 6, 3), 0.5, 3200),
    "diabetes": ((1, 3, 2, 3, 6, 9, 8, 5), 0.47, 3900),
}
# What working in a field makes more likely.
_STRAIN: Final = {
    "office": {"migraine": 1.5, "hypertension": 1.3},
    "professions": {"influenza": 1.6, "depression": 1.4},
    "services": {"gastritis": 1.6, "anxiety": 1.3},
    "manual": {"back pain": 2.2, "fracture": 1.7, "asthma": 1.3},
}

_HEIGHT_AGES: Final = (0, 1, 2, 5, 10, 13, 16, 19, 45, 100)
_HEIGHTS: Final = {
    "female": (58, 76, 87, 110, 139, 158, 165, 166.5, 166, 156),
    "male": (59, 77, 88, 111, 139, 157, 174, 180, 179.5, 169),
}

_FIRST_DAY: Final = np.datetime64("2023-01-01", "D")
_LAST_DAY: Final = np.datetime64("2024-12-31", "D")
_REGIONS: Final = 60
_URBAN_SHARE: Final = 0.01

_Floats = npt.NDArray[np.float64]
_Codes = npt.NDArray[Any]


def generate_hospital(rows: int = 5000, *, seed: int = 0, missing: float = 0.01) -> pa.Table:
    """Make up a table of hospital stays, one row per person.

    Time and memory grow linearly with the rows; the table comes in chunks of about a quarter million.

    Parameters
    ----------
    rows
        The number of people.
    seed
        The same rows, seed and missing share give the same table.
    missing
        The share of missing cells in `education`, `job` and `nationality`, drawn independently.

    Examples
    --------
    >>> table = generate_hospital(1000, seed=7)
    >>> table.num_rows, table.column_names[:4]
    (1000, ['name', 'age', 'sex', 'zip'])
    >>> table.equals(generate_hospital(1000, seed=7))
    True
    """
    require(is_integer(rows) and rows >= 0, "generate", "rows", "a whole number, at least 0", rows)
    require(is_integer(seed) and seed >= 0, "generate", "seed", "a whole number, at least 0", seed)
    require(is_finite_number(missing) and 0 <= missing <= 1, "generate", "missing", "between 0 and 1", missing)
    society = _PopulationModel()
    starts = range(0, max(rows, 1), _BLOCK)
    root = np.random.SeedSequence(seed)
    streams, shift = root.spawn(len(starts)), int(root.generate_state(1)[0])
    blocks = [
        society.block(np.random.default_rng(stream), min(_BLOCK, rows - start), missing, start, shift)
        for start, stream in zip(starts, streams, strict=True)
    ]
    return pa.Table.from_batches(blocks)


class _ConditionalSampler:
    """Draw codes with weights that depend on a condition, one table lookup per draw.

    Each condition is a row of weights; its codes are spread over 2**bits slots.
    """

    def __init__(self, weights: _Floats, bits: int = 12) -> None:
        bounds = np.cumsum(np.atleast_2d(weights), axis=1)
        bounds = np.rint(bounds / bounds[:, -1:] * (1 << bits))
        slots = np.diff(bounds, axis=1, prepend=0).astype(np.int64)
        conditions, labels = slots.shape
        each = np.tile(np.arange(labels, dtype=np.min_scalar_type(labels)), conditions)
        self.codes: _Codes = np.repeat(each, slots.ravel())
        self.bits = bits

    def draw(self, rng: np.random.Generator, rows: int, condition: _Codes | None = None) -> _Codes:
        """Draw one code per row, given the code of its condition."""
        slots = rng.integers(1 << self.bits, size=rows, dtype=np.uint16)
        if condition is None:
            return self.codes.take(slots)
        return self.codes.take((condition.astype(np.intp) << self.bits) + slots)


class _PopulationModel:
    """The distributions of all columns; a person code is twice the age plus the code of the sex."""

    def __init__(self) -> None:
        self.zips, sizes = _towns()
        fields = [code for code, groups in enumerate(JOBS.values()) for _ in _tree_leaves(groups)]
        heights = [np.interp(np.arange(_AGES), _HEIGHT_AGES, _HEIGHTS[sex]) for sex in _SEXES]
        self.person = _ConditionalSampler(_age_sex_weights(), bits=16)
        self.town = _ConditionalSampler(sizes, bits=16)
        self.marital = _ConditionalSampler(_marital_weights())
        self.education = _ConditionalSampler(_education_weights())
        self.job = _ConditionalSampler(_job_weights())
        self.nationality = _ConditionalSampler(_nationality_weights())
        self.day = _ConditionalSampler(_day_weights(), bits=16)
        self.disease = _ConditionalSampler(_disease_weights())
        self.urban = (sizes / sizes.sum() >= _URBAN_SHARE).astype(np.uint8)
        self.phase = np.searchsorted(_PHASES, np.arange(_AGES), side="right").astype(np.uint16)
        self.field = np.array(fields, dtype=np.uint16)
        self.height = np.column_stack(heights).ravel()
        self.bill = np.array([_ILLNESS[disease][2] for disease in _tree_leaves(DISEASES)], dtype=np.float64)

    def block(self, rng: np.random.Generator, rows: int, missing: float, start: int, shift: int) -> pa.RecordBatch:
        """Draw some people, each column given the earlier ones it depends on; `start` and `shift` choose names."""
        person = self.person.draw(rng, rows)
        age, sex = person >> 1, person & 1
        town = self.town.draw(rng, rows)
        marital = self.marital.draw(rng, rows, person)
        education = self.education.draw(rng, rows, age)
        schooling = self.phase.take(age) * len(EDUCATION_ORDER) + education
        job = self.job.draw(rng, rows, schooling * 2 + sex)
        day = self.day.draw(rng, rows)
        nationality = self.nationality.draw(rng, rows, self.urban.take(town))
        height = self.height.take(person) * (1 + 0.039 * rng.standard_normal(rows))
        disease = self.disease.draw(rng, rows, (age // 5 * len(JOBS) + self.field.take(job)) * 2 + sex)
        bill = self.bill.take(disease) * (1 + age / 250) * np.exp(0.45 * rng.standard_normal(rows))
        gaps = [rng.random(rows) < missing for _ in range(3)]
        columns = {
            "name": _draw_names(sex, start, shift),
            "age": pa.array(age.astype(np.int64)),
            "sex": _decode(_SEXES, sex),
            "zip": _decode(self.zips, town),
            "marital_status": _decode(_tree_leaves(MARITAL), marital),
            "education": _decode(EDUCATION_ORDER, education, gaps[0]),
            "job": _decode(_tree_leaves(JOBS), job, gaps[1]),
            "admission": pa.array(_FIRST_DAY + day.astype("timedelta64[D]")),
            "nationality": _decode(_tree_leaves(COUNTRIES), nationality, gaps[2]),
            "height_cm": pa.array(np.rint(height).astype(np.int64)),
            "disease": _decode(_tree_leaves(DISEASES), disease),
            "cost": pa.array(np.rint(bill * 100) / 100),
        }
        return pa.record_batch(columns)


def _tree_leaves(tree: Mapping[str, Any] | Iterable[str]) -> list[str]:
    """Return the leaves of a nested mapping from left to right."""
    if isinstance(tree, Mapping):
        return [leaf for branch in tree.values() for leaf in _tree_leaves(branch)]
    return list(tree)


def _decode(labels: Iterable[str], codes: _Codes, gaps: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    return pa.array(labels, pa.string()).take(pa.array(codes, mask=gaps))


def _draw_names(sex: _Codes, start: int, shift: int) -> pa.Array:
    """Give every person a name of their own: rows from `start` on step through all names, from `shift` on."""
    stems = _STEMS.split()
    first = [a + b for ends in (_FEMALE_ENDINGS, _MALE_ENDINGS) for a in stems for b in ends.split()]
    last = [a + b for a in _LAST_STARTS.split() for b in _LAST_ENDINGS.split()]
    per_sex = len(first) // 2
    number = np.arange(start, start + sex.size, dtype=np.int64)
    rounds, place = number // (per_sex * len(last)), (number * _NAME_STEP + shift) % (per_sex * len(last))
    parts = [_decode(first, place // len(last) + sex * np.int64(per_sex)), _decode(last, place % len(last))]
    while rounds.any():
        parts.insert(1, _decode(["", *stems], np.where(rounds > 0, (rounds - 1) % len(stems) + 1, 0)))
        rounds = np.maximum(rounds - 1, 0) // len(stems)
    return pc.replace_substring_regex(pc.binary_join_element_wise(*parts, " "), " +", " ")


def _weights_by_sex(women: float) -> _Floats:
    return np.array([women, 1 - women]) * 2


def _age_sex_weights() -> _Floats:
    """Weight every age and sex: a bulge in the fifties, fewer old people, more women among them."""
    age = np.arange(_AGES)
    alive = (1 + 0.4 * np.exp(-(((age - 55) / 13) ** 2))) / (1 + np.exp((age - 83) / 5.5))
    women = 0.487 + 0.25 / (1 + np.exp((82 - age) / 6))
    return np.column_stack([alive * women, alive * (1 - women)]).ravel()


def _towns() -> tuple[list[str], _Floats]:
    """Return the zip codes (two digits for the region, one for the district) and sizes of all towns."""
    zips, sizes = [], []
    for region in range(_REGIONS):
        rank = region * 23 % _REGIONS + 1
        for town in range(6 + region * 7 % 13):
            district, place = (region + town // 4) % 10, (37 * town + 11 * region) % 100
            zips.append(f"{1 + region * 97 // _REGIONS:02d}{district}{place:02d}")
            sizes.append(1 / (rank * (town + 1)))
    return zips, np.array(sizes)


def _marital_weights() -> _Floats:
    curves = [np.interp(np.arange(_AGES), _MARITAL_AGES, _MARITAL_CURVES[m]) for m in _tree_leaves(MARITAL)]
    weights = np.repeat(np.column_stack(curves)[:, None], 2, axis=1)
    weights[:, :, _tree_leaves(MARITAL).index("widowed")] *= _weights_by_sex(0.75)
    return weights.reshape(_AGES * 2, -1)


def _education_weights() -> _Floats:
    """Weight the levels at each age: those of compulsory school by age alone, the others by cohort."""
    age = np.arange(_AGES)[:, None]
    older = np.clip((age - 30) / 60, 0, 1)
    weights = ((1 - older) * _LEVELS_AT_30 + older * _LEVELS_AT_90) * (age >= _LEVEL_AGES)
    level = np.searchsorted(_LEVEL_AGES, np.arange(_LEVEL_AGES[3]), side="right") - 1
    exact = np.eye(len(EDUCATION_ORDER))
    weights[: level.size] = 0.97 * exact[level] + 0.03 * exact[np.maximum(level - 1, 0)]
    return weights


def _job_weights() -> _Floats:
    """Weight the jobs for every phase of life, school level and sex."""
    jobs = _tree_leaves(JOBS)
    level = np.arange(len(EDUCATION_ORDER))
    work = np.zeros((level.size, 2, len(jobs)))
    for job, (lowest, usual, posts, women) in _WORK.items():
        suited = posts * np.exp(-((level - usual) ** 2) / 2) * (level >= lowest)
        work[:, :, jobs.index(job)] = suited[:, None] * _weights_by_sex(women)
    work /= work.sum(axis=2, keepdims=True)
    weights = np.empty((len(_WITHOUT_WORK), *work.shape))
    for phase, others in enumerate(_WITHOUT_WORK):
        weights[phase] = work * (1 - sum(others.values()))
        for status, share in others.items():
            weights[phase, :, :, jobs.index(status)] = share
    weights[:, :, :, jobs.index("homemaker")] *= _weights_by_sex(0.8)
    weights[:, : EDUCATION_ORDER.index("upper secondary"), :, jobs.index("student")] = 0
    return weights.reshape(-1, len(jobs))


def _nationality_weights() -> _Floats:
    """Weight the countries by their rank (a fixed shuffle that starts at home), flatter in big towns."""
    count = len(_tree_leaves(COUNTRIES))
    rank = 1.0 + np.arange(count) * 7 % count
    return np.stack([rank**-1.8, rank**-1.3])


def _day_weights() -> _Floats:
    """Weight the days of admission: more in winter, fewer on weekends."""
    days = np.arange(_FIRST_DAY, _LAST_DAY + 1)
    season: _Floats = 1 + 0.15 * np.cos(2 * np.pi * np.arange(days.size) / 365.25)
    season[~np.is_busday(days)] *= 0.6
    return season


def _disease_weights() -> _Floats:
    """Weight the diseases for every five years of age, field of work and sex."""
    middles = np.arange(2, _AGES + 4, 5)
    diseases, fields = _tree_leaves(DISEASES), list(JOBS)
    weights = np.empty((middles.size, len(fields), 2, len(diseases)))
    for code, disease in enumerate(diseases):
        curve, women, _ = _ILLNESS[disease]
        weights[..., code] = np.interp(middles, _DISEASE_AGES, curve)[:, None, None] * _weights_by_sex(women)
    for field, strains in _STRAIN.items():
        for disease, factor in strains.items():
            weights[:, fields.index(field), :, diseases.index(disease)] *= factor
    return weights.reshape(-1, len(diseases))
