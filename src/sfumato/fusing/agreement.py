"""What all parties agree on before they begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from sfumato.exceptions import InvalidParameterError
from sfumato.fusing.requirements import KAnonymityRequirement, drop_implied
from sfumato.validation import require

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
