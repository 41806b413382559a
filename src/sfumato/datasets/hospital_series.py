"""A made-up population that changes from quarter to quarter, for series of releases.

Nobody in it exists. Persons come, leave, come back and move; a chronic condition never changes, an illness does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.datasets.hospital import COUNTRIES, generate_hospital
from sfumato.errors import InvalidParameterError
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema

# fmt: off
CONDITIONS: Final = (
    "hypertension", "diabetes", "asthma", "back pain", "depression", "arthritis", "migraine", "COPD",
    "heart failure", "anxiety", "psoriasis", "eczema", "osteoporosis", "hypothyroidism", "glaucoma", "gout",
    "epilepsy", "celiac disease", "colitis", "Crohn's disease", "endometriosis", "fibromyalgia", "hepatitis B",
    "hepatitis C", "HIV", "hyperthyroidism", "kidney disease", "liver cirrhosis", "lupus", "lymphoma",
    "macular degeneration", "multiple sclerosis", "narcolepsy", "Parkinson's disease", "rosacea", "sarcoidosis",
    "schizophrenia", "scoliosis", "sickle cell disease", "sleep apnea", "stomach ulcer", "thrombosis", "tinnitus",
    "tuberculosis", "urticaria", "vitiligo", "bipolar disorder", "cystic fibrosis", "dementia", "hemophilia",
)
# fmt: on
"""Chronic conditions, the most frequent first; further ones are numbered."""

ILLNESSES: Final = {
    "airways": ("cold", "influenza", "bronchitis", "pneumonia"),
    "digestion": ("gastritis", "appendicitis", "food poisoning", "gallstones"),
    "injuries": ("sprain", "fracture", "concussion", "burn"),
    "skin": ("abscess", "shingles", "cellulitis", "allergic rash"),
    "other": ("kidney stones", "anemia", "sinusitis", "vertigo"),
}
"""Illnesses by their kind. An illness stays or becomes another one of its kind; a person's kind never changes."""

SERIES_SCHEMA: Final = Schema(
    identifiers=["patient"],
    quasi_identifiers=["age", "sex", "zip", "nationality"],
    sensitive=["condition", "illness"],
    insensitive=["first_visit", "height_cm"],
    hierarchies={"zip": Prefixes(), "nationality": Taxonomy(COUNTRIES)},
    transient=["illness"],
)
"""The roles of the columns of `generate_hospital_series`; a condition stays, an illness passes."""

QUARTERS: Final = 4
OLDEST: Final = 100
DIGITS: Final = 8
SEEDS: Final = 2**62
FLATTEST, STEEPEST = 0.0, 64.0  # exponents of the shares of values

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def hospital_series_schema() -> Schema:
    """Return the roles of the columns of `generate_hospital_series`; a condition stays, an illness passes.

    >>> hospital_series_schema().transient
    ('illness',)
    """
    return SERIES_SCHEMA


def generate_hospital_series(
    persons: int = 1000,
    versions: int = 4,
    *,
    seed: int = 0,
    leave: float = 0.1,
    come: float = 0.1,
    back: float = 0.2,
    move: float = 0.02,
    values: int = 50,
    largest: float = 0.08,
    recover: float = 0.4,
) -> Iterator[pa.Table]:
    """Make up versions of one table of patients, a quarter of a year apart, one after the other.

    The columns are `patient` (a number that identifies), `age`, `sex`, `zip`, `nationality`, `first_visit`,
    `height_cm`, `condition` (permanent) and `illness` (transient); `hospital_series_schema()` has their roles.

    Parameters
    ----------
    persons : how many there are in the first version.
    versions : how many tables to make; each is made when it is asked for.
    seed : the same parameters and seed give the same tables.
    leave : the share of the persons of a version who are not in the next one.
    come : how many are added in each version, as a share of the persons before.
    back : the share of those added who were there before, as far as there are any; the others are new.
    move : the share of those who stay and change their zip code.
    values : the number of different conditions.
    largest : the share of the most frequent condition; those of the others fall off as a power of their rank.
    recover : the share of those who stay and whose illness becomes another one of its kind.

    Examples
    --------
    >>> first, second = generate_hospital_series(1000, 2, seed=7)
    >>> first.num_rows, second.num_rows, first.column_names[:3]
    (1000, 1000, ['patient', 'age', 'sex'])
    """
    for name, number in (("persons", persons), ("versions", versions), ("values", values)):
        require(
            is_integer(number) and number >= 1, "generate_hospital_series", name, "a whole number, at least 1", number
        )
    require(
        is_integer(seed) and 0 <= seed < SEEDS, "generate_hospital_series", "seed", "a whole number, at least 0", seed
    )
    for name, share in (("leave", leave), ("come", come), ("back", back), ("move", move), ("recover", recover)):
        require(is_finite_number(share) and 0 <= share <= 1, "generate_hospital_series", name, "between 0 and 1", share)
    shares = power_law_shares(values, largest)
    return _versions(persons, versions, seed, _ChangeRates(leave, come, back, move, recover), shares)


def power_law_shares(values: int, largest: float) -> Floats:
    """Return shares that fall off as a power of their rank, beginning with the largest.

    >>> power_law_shares(4, 0.4).round(3).tolist()
    [0.4, 0.251, 0.191, 0.158]
    """
    possible = is_finite_number(largest) and 1 / values - 1e-12 <= largest <= 1 and (values > 1 or largest == 1)
    if not possible:
        raise InvalidParameterError(
            f"generate_hospital_series: largest must be from {1 / values:.4g}, which is even among {values} values, "
            "to 1."
        )
    ranks = np.arange(1, values + 1, dtype=np.float64)
    flat, steep = FLATTEST, STEEPEST
    for _ in range(100):
        middle = (flat + steep) / 2
        flat, steep = (middle, steep) if largest * (ranks**-middle).sum() > 1 else (flat, middle)
    shares: Floats = largest * ranks**-flat
    return np.asarray(shares / shares.sum())


def condition_names(values: int) -> list[str]:
    """Name conditions, the most frequent first."""
    return [*CONDITIONS[:values], *(f"condition {number}" for number in range(len(CONDITIONS) + 1, values + 1))]


@dataclass(frozen=True)
class _ChangeRates:
    """The shares of persons whom something happens to from one version to the next."""

    leave: float
    come: float
    back: float
    move: float
    recover: float


def _versions(persons: int, versions: int, seed: int, change: _ChangeRates, shares: Floats) -> Iterator[pa.Table]:
    register = _PopulationRegister(np.random.default_rng(seed), shares)
    register.add(persons)
    yield register.table()
    for _ in range(1, versions):
        register.pass_quarter(change)
        yield register.table()


class _PopulationRegister:
    """Everybody who was ever there, in the order of their coming, and who is there now."""

    def __init__(self, rng: np.random.Generator, shares: Floats) -> None:
        self.rng = rng
        self.shares = shares
        self.quarter = 0
        self.people = _draw_individuals(rng, 0)
        self.zips: npt.NDArray[np.object_] = np.zeros(0, dtype=object)
        self.born: Codes = np.zeros(0, dtype=np.int64)
        self.condition: Codes = np.zeros(0, dtype=np.int64)
        self.illness: Codes = np.zeros(0, dtype=np.int64)
        self.present: npt.NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def add(self, count: int) -> None:
        """Add new persons; some are newborn, for the ages of a population have them."""
        people = _draw_individuals(self.rng, count)
        ages = people["age"].to_numpy()
        kinds, kind = len(ILLNESSES), len(next(iter(ILLNESSES.values())))
        self.people = pa.concat_tables([self.people, people])
        self.zips = np.concatenate([self.zips, people["zip"].to_numpy(zero_copy_only=False)])
        birthdays = self.quarter - ages * QUARTERS - self.rng.integers(0, QUARTERS, count)
        self.born = np.concatenate([self.born, birthdays])
        self.condition = np.concatenate([self.condition, self.rng.choice(len(self.shares), count, p=self.shares)])
        self.illness = np.concatenate([self.illness, self.rng.integers(0, kinds * kind, count)])
        self.present = np.concatenate([self.present, np.ones(count, dtype=np.bool_)])

    def pass_quarter(self, change: _ChangeRates) -> None:
        """Let persons leave, come, come back, move, and get another illness."""
        self.quarter += 1
        here, away = np.flatnonzero(self.present), np.flatnonzero(~self.present)
        leaving = self._some(here, round(change.leave * len(here)))
        coming = round(change.come * len(here))
        returning = self._some(away, min(round(change.back * coming), len(away)))
        self.present[leaving] = False
        staying = np.flatnonzero(self.present)
        movers = self._some(staying, round(change.move * len(staying)))
        self.zips[movers] = _draw_individuals(self.rng, len(movers))["zip"].to_numpy(zero_copy_only=False)
        recovered = self._some(staying, round(change.recover * len(staying)))
        kind = len(next(iter(ILLNESSES.values())))
        step = self.rng.integers(1, kind, len(recovered))
        old = self.illness[recovered]
        self.illness[recovered] = old // kind * kind + (old + step) % kind
        self.present[returning] = True
        self.add(coming - len(returning))

    def table(self) -> pa.Table:
        """Return those who are there."""
        rows = np.flatnonzero(self.present)
        kept = self.people.take(pa.array(rows))
        names = [name for kind in ILLNESSES.values() for name in kind]
        age = np.minimum((self.quarter - self.born[rows]) // QUARTERS, OLDEST)
        return pa.table(
            {
                "patient": pa.array([f"P{number:0{DIGITS}}" for number in rows.tolist()]),
                "age": pa.array(age),
                "sex": kept["sex"],
                "zip": pa.array(self.zips[rows], pa.string()),
                "nationality": kept["nationality"],
                "first_visit": kept["admission"],
                "height_cm": kept["height_cm"],
                "condition": _decode(condition_names(len(self.shares)), self.condition[rows]),
                "illness": _decode(names, self.illness[rows]),
            }
        ).combine_chunks()

    def _some(self, rows: Codes, count: int) -> Codes:
        """Draw some of them."""
        drawn: Codes = self.rng.permutation(rows)[:count]
        return drawn


def _draw_individuals(rng: np.random.Generator, count: int) -> pa.Table:
    """Draw persons of the population of the demo."""
    table = generate_hospital(count, seed=int(rng.integers(SEEDS)), missing=0)
    return table.select(["age", "sex", "zip", "nationality", "admission", "height_cm"])


def _decode(names: Sequence[str], codes: Codes) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes))
