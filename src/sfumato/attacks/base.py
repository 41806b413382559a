"""What every attack on a published table provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sfumato.attacks.limits import Guarantee
from sfumato.attacks.results import AttackResult
from sfumato.attacks.setting import AttackSetting

SINGLING_OUT, LINKABILITY, INFERENCE = "singling out", "linkability", "inference"


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """A way for an adversary to learn something about targets from a published table.

    A subclass states its name, which of the three questions of WP216 it answers, and its source. `run` attacks the
    targets of a setting; `refusal` returns in a sentence why it cannot, or nothing.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    reference: ClassVar[str]

    def check(self, setting: AttackSetting) -> str | None:  # noqa: ARG002 - most attacks work on every setting
        """Return why the attack does not apply to a setting; None if it does."""
        return None

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:  # noqa: ARG002 - most models limit few attacks
        """Return the largest rate that a guarantee allows; None if it does not limit this attack."""
        return None

    @abstractmethod
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack all targets: return one result, or one for each sensitive attribute."""
