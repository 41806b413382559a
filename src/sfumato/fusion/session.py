"""What the fused table must keep: every group on some attributes has at least k records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sfumato._validation import is_integer, require
from sfumato.errors import InvalidParameterError
from sfumato.tables.models.k_anonymity import KAnonymity


@dataclass(frozen=True, kw_only=True)
class KAnonymityRequirement:
    """At least `k` records in every group of records that look alike in `quasi`.

    Parameters
    ----------
    quasi : attributes, of any parties.
    k : a whole number of at least 1.
    """

    quasi: tuple[str, ...]
    k: int

    def __post_init__(self) -> None:
        require(_are_names(self.quasi), self, "quasi", "a list of attributes", type(self.quasi).__name__)
        require(is_integer(self.k) and self.k >= 1, self, "k", "a whole number of at least 1", self.k)
        object.__setattr__(self, "quasi", tuple(sorted(set(self.quasi))))

    def implies(self, other: KAnonymityRequirement) -> bool:
        """Return whether whatever meets this also meets the other one: on fewer attributes groups are larger."""
        return set(other.quasi) <= set(self.quasi) and other.k <= self.k

    @property
    def model(self) -> KAnonymity:
        """The promise that the audit judges."""
        return KAnonymity(k=self.k, quasi=self.quasi)


def _are_names(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) > 0 and all(isinstance(name, str) for name in given)


def uncovered_attributes(attributes: Iterable[str], requirements: Sequence[KAnonymityRequirement]) -> tuple[str, ...]:
    """Return the attributes that no requirement names.

    >>> uncovered_attributes(["age", "job"], [KAnonymityRequirement(quasi=("age",), k=3)])
    ('job',)
    """
    named = {name for each in requirements for name in each.quasi}
    return tuple(name for name in attributes if name not in named)


def uncovered_attributes_warning(
    attributes: Iterable[str], requirements: Sequence[KAnonymityRequirement]
) -> str | None:
    """Warn of attributes that no requirement names; None if there are none."""
    found = uncovered_attributes(attributes, requirements)
    if not found:
        return None
    least = min(each.k for each in requirements)
    how = "as they are" if least == 1 else f"as finely as {least:,} persons share a value of each one alone"
    return (
        f"No requirement names {', '.join(found)}: published {how}, so single persons may stand out by them together "
        "with other attributes; put what readers may know about a person into a requirement."
    )


def drop_implied(requirements: Sequence[KAnonymityRequirement]) -> tuple[KAnonymityRequirement, ...]:
    """Drop requirements that others imply, and put the rest in a fixed order.

    >>> both = [KAnonymityRequirement(quasi=("sex", "job"), k=4), KAnonymityRequirement(quasi=("sex",), k=3)]
    >>> drop_implied(both)
    (KAnonymityRequirement(quasi=('job', 'sex'), k=4),)
    """
    ordered = sorted(set(requirements), key=lambda each: (-len(each.quasi), each.quasi, -each.k))
    kept: list[KAnonymityRequirement] = []
    for each in ordered:
        if not any(other.implies(each) for other in kept):
            kept.append(each)
    return tuple(kept)


# What all parties agree on before they begin.

PROTOCOL = "sfumato-fusion-1"
Scoring = Literal["sensitive", "sensitive-sum", "plain"]


@dataclass(frozen=True, kw_only=True)
class SessionParameters:
    """What is fused, and what the result must keep; the same at all parties.

    Parameters
    ----------
    parties : the names of all parties; the first wins ties, and the first two compute the maximum for all.
    target : the class column that all parties have.
    requirements : the requirements that every group must meet.
    scoring : `"sensitive"` weighs gains by the factors of providers, attributes and values, where a node has the mean
        of its values' factors; `"sensitive-sum"` likewise with their sum, as in print; `"plain"` weighs nothing.
    """

    parties: tuple[str, ...]
    target: str
    requirements: tuple[KAnonymityRequirement, ...]
    scoring: Scoring = "sensitive"

    def __post_init__(self) -> None:
        distinct = len(set(self.parties)) == len(self.parties) > 0
        require(distinct, self, "parties", "different names", len(self.parties))
        require(isinstance(self.target, str), self, "target", "the name of a column", type(self.target).__name__)
        wanted = "'sensitive', 'sensitive-sum' or 'plain'"
        require(self.scoring in get_args(Scoring), self, "scoring", wanted, self.scoring)
        if not self.requirements:
            raise InvalidParameterError("There is no requirement; give at least one Requirement.")
        object.__setattr__(self, "parties", tuple(self.parties))
        object.__setattr__(self, "requirements", drop_implied(self.requirements))

    def to_toml(self) -> str:
        """Write the agreement as it stands in the file of a party."""
        import tomli_w

        requirements = [{"quasi": list(each.quasi), "k": each.k} for each in self.requirements]
        agreed = {"parties": list(self.parties), "target": self.target, "scoring": self.scoring}
        return tomli_w.dumps({"agreement": {**agreed, "requirements": requirements}})

    def settings(self) -> dict[str, str]:
        """Return every point as text, to be compared point by point."""
        return {
            "protocol": PROTOCOL,
            "parties": ", ".join(self.parties),
            "target": self.target,
            "requirements": "; ".join(f"{'+'.join(each.quasi)}: {each.k}" for each in self.requirements),
            "scoring": self.scoring,
        }


def differing_fields(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """Return the names of the points that differ."""
    return sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
