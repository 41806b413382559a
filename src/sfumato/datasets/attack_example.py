"""Six made-up patients, and for every kind of attack two ways to publish them: one that it breaks, one that holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.schema.schema import Schema
from sfumato.tables.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.beta_likeness import BetaLikeness
from sfumato.tables.models.confidence_bounding import ConfidenceBounding
from sfumato.tables.models.delta_disclosure import DeltaDisclosure
from sfumato.tables.models.delta_presence import DeltaPresence
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.k_map import KMap
from sfumato.tables.models.ke_anonymity import KEAnonymity
from sfumato.tables.models.kl_anonymity import KLAnonymity
from sfumato.tables.models.nt_closeness import NTCloseness
from sfumato.tables.models.p_plus_sensitive_k_anonymity import PPlusSensitiveKAnonymity
from sfumato.tables.models.p_sensitive_k_anonymity import PSensitiveKAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.models.xy_anonymity import XYAnonymity

Cell: TypeAlias = str | int
Rows: TypeAlias = Mapping[str, Sequence[Cell]]

ANYTHING: Final = "*"
ANN: Final[Mapping[str, Cell]] = {"age": 24, "sex": "female"}
EXACT: Final[Rows] = {"age": [24, 27, 29, 43, 48, 55], "sex": ["female", "male"] * 3}
IN_PAIRS: Final[Rows] = {"age": ["[24, 27]"] * 2 + ["[29, 43]"] * 2 + ["[48, 55]"] * 2, "sex": [ANYTHING] * 6}
BY_AGE: Final[Rows] = {"age": ["[24, 29]"] * 3 + ["[43, 55]"] * 3, "sex": [ANYTHING] * 6}
BY_SEX: Final[Rows] = {"age": ["[24, 55]"] * 6, "sex": ["female", "male"] * 3}
TOGETHER: Final[Rows] = {"age": ["[24, 55]"] * 6, "sex": [ANYTHING] * 6}
VILLAGE: Final[Rows] = {
    "age": [24, 27, 29, 43, 48, 55, 44, 45, 50, 52],
    "sex": ["female", "male"] * 5,
}

_FEARED: Final = "lung cancer"
_COMMON: Final = {"disease": [_FEARED] * 3 + ["influenza", "asthma", "stomach ulcer"]}
_RARE: Final = {"disease": [_FEARED, "stomach ulcer", "influenza", "asthma", "asthma", "influenza"]}
_KINDS: Final = {
    _FEARED: "grave",
    "colon cancer": "grave",
    "diabetes": "lasting",
    "asthma": "lasting",
    "influenza": "passing",
    "gastritis": "passing",
}
_BILLS: Final = {"bill": [1000, 1010, 1020, 3000, 5000, 9000]}
_VISITS: Final = {"person": ["A", "A", "A", "B", "C", "D"]}
_D: Final = "disease"


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackExample:
    """One attack on Ann, a woman of 24 and the first of six patients.

    Parameters
    ----------
    name : the name of the attack.
    before : six published records that the attack succeeds on.
    after : the same records, published so that every one of the models holds.
    kept : promises that hold even before, and do not stop the attack.
    models : promises that are broken before and hold after.
    column : what the attacker wants to learn; nothing if a record, or who is in the table.
    telling : the values that give Ann away.
    ruled_out : values that the attacker knows Ann not to have.
    population : everybody who could be in the table, if the attacker has such a list.
    """

    name: str
    before: Rows
    after: Rows
    kept: tuple[GroupModel, ...] = ()
    models: tuple[GroupModel, ...]
    column: str | None = None
    telling: tuple[Cell, ...] = ()
    ruled_out: tuple[Cell, ...] = ()
    population: Rows | None = field(default=None, repr=False)

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        quasi = [name for name in self.before if name in ANN]
        return Schema(quasi_identifiers=quasi, sensitive=[name for name in self.before if name not in ANN])

    def matching_rows(self, published: Rows) -> list[int]:
        """Return the numbers of the records that may be Ann's by what the attacker knows."""
        return [row for row in range(len(published["age"])) if _matches_individual(published, row, ANN)]

    def inference_probability(self, published: Rows) -> Fraction:
        """Carry the attack out, and return how likely the attacker is right about Ann.

        Examples
        --------
        >>> [str(example.inference_probability(example.before)) for example in attack_examples()[:4]]
        ['1', '1', '2/3', '1']
        """
        fitting = self.matching_rows(published)
        if self.population is not None:
            ages, sexes = (self.population[name] for name in ANN)
            persons = [{"age": age, "sex": sex} for age, sex in zip(ages, sexes, strict=True)]
            return Fraction(len(fitting), sum(_matches_individual(published, fitting[0], person) for person in persons))
        if self.column is None:
            return Fraction(1, len(fitting))
        left = [value for row in fitting if (value := published[self.column][row]) not in self.ruled_out]
        return Fraction(sum(value in self.telling for value in left), len(left))


def _matches_individual(published: Rows, row: int, person: Mapping[str, Cell]) -> bool:
    """Return whether a published record may be a person's."""
    return all(_cell_covers(published[name][row], value) for name, value in person.items())


def _cell_covers(published: Cell, value: Cell) -> bool:
    """Return whether a published cell may stand for a value.

    >>> (_cell_covers("[24, 29]", 24), _cell_covers("[43, 55]", 24), _cell_covers("*", "female"),
    ... _cell_covers("male", "female"))
    (True, False, True, False)
    """
    limits = re.findall(r"\d+", str(published)) if isinstance(published, str) else []
    if limits:
        return int(limits[0]) <= int(str(value)) <= int(limits[1])
    return published in {ANYTHING, value}


_EXAMPLES: Final = (
    AttackExample(
        name="linkage",
        before={**EXACT, **_COMMON},
        after={**BY_AGE, **_COMMON},
        models=(KAnonymity(k=3),),
    ),
    AttackExample(
        name="homogeneity",
        before={**BY_AGE, **_COMMON},
        after={**BY_SEX, **_COMMON},
        kept=(KAnonymity(k=3),),
        models=(DistinctLDiversity(l=2, sensitive=_D), PSensitiveKAnonymity(p=2, k=3, sensitive=_D)),
        column=_D,
        telling=(_FEARED,),
    ),
    AttackExample(
        name="inference",
        before={**BY_SEX, **_COMMON},
        after={**TOGETHER, **_COMMON},
        kept=(DistinctLDiversity(l=2, sensitive=_D),),
        models=(
            FrequencyLDiversity(l=2, sensitive=_D),
            EntropyLDiversity(l=2, sensitive=_D),
            AlphaKAnonymity(alpha=0.5, k=3, sensitive=_D, values=[_FEARED]),
            ConfidenceBounding(bounds={_FEARED: 0.5}, sensitive=_D),
            KLAnonymity(k=3, l=2, sensitive=_D),
        ),
        column=_D,
        telling=(_FEARED,),
    ),
    AttackExample(
        name="background",
        before={**BY_SEX, **_COMMON},
        after={**TOGETHER, **_COMMON},
        kept=(DistinctLDiversity(l=2, sensitive=_D),),
        models=(RecursiveLDiversity(c=2, l=2, sensitive=_D),),
        column=_D,
        telling=(_FEARED,),
        ruled_out=("asthma",),
    ),
    AttackExample(
        name="skewness",
        before={**IN_PAIRS, **_RARE},
        after={**BY_SEX, **_RARE},
        kept=(FrequencyLDiversity(l=2, sensitive=_D),),
        models=(TCloseness(t=0.2, sensitive=_D), NTCloseness(n=3, t=0.2, sensitive=_D)),
        column=_D,
        telling=(_FEARED,),
    ),
    AttackExample(
        name="gain",
        before={**BY_SEX, **_RARE},
        after={**TOGETHER, **_RARE},
        kept=(TCloseness(t=0.2, sensitive=_D),),
        models=(BetaLikeness(beta=0.5, sensitive=_D), DeltaDisclosure(delta=1, sensitive=_D)),
        column=_D,
        telling=(_FEARED,),
    ),
    AttackExample(
        name="similarity",
        before={**IN_PAIRS, _D: list(_KINDS)},
        after={**BY_SEX, _D: list(_KINDS)},
        kept=(PSensitiveKAnonymity(p=2, k=2, sensitive=_D),),
        models=(
            PPlusSensitiveKAnonymity(p=2, k=2, sensitive=_D, categories=_KINDS),
            HPKAnonymity(h=2, p=2, k=2, sensitive=_D, sensitivity_levels=_KINDS),
        ),
        column=_D,
        telling=(_FEARED, "colon cancer"),
    ),
    AttackExample(
        name="proximity",
        before={**BY_AGE, **_BILLS},
        after={**TOGETHER, **_BILLS},
        kept=(DistinctLDiversity(l=3, sensitive="bill"),),
        models=(KEAnonymity(k=3, e=1000, sensitive="bill"), EpsilonMAnonymity(epsilon=100, m=2, sensitive="bill")),
        column="bill",
        telling=(1000, 1010, 1020),
    ),
    AttackExample(
        name="membership",
        before=BY_AGE,
        after=BY_SEX,
        kept=(KAnonymity(k=3),),
        models=(DeltaPresence(delta_min=0, delta_max=0.7), KMap(k=5)),
        population=VILLAGE,
    ),
    AttackExample(
        name="several-records",
        before={**BY_AGE, **_VISITS},
        after={**TOGETHER, **_VISITS},
        kept=(KAnonymity(k=3),),
        models=(XYAnonymity(k=2, y="person", h=0.5),),
        column="person",
        telling=("A",),
    ),
)


def attack_examples() -> tuple[AttackExample, ...]:
    """Return an example of six records for every kind of attack; together they show what each model is for."""
    return _EXAMPLES


def attack_example_for(model: str) -> AttackExample | None:
    """Return the example of the attack that a model of this name stops; None if there is none.

    >>> attack_example_for("distinct-l-diversity").name
    'homogeneity'
    """
    return next((example for example in _EXAMPLES if any(each.name == model for each in example.models)), None)
