"""The attack on two releases of the same people: a value must be possible in both."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.attacks.base import LINKABILITY
from sfumato.attacks.beliefs import ValueBeliefs, find_texts
from sfumato.attacks.inferring import Homogeneity, claim_value
from sfumato.attacks.setting import AttackSetting


@dataclass(frozen=True, kw_only=True)
class Composition(Homogeneity):
    """Claim a value if it is the only one that both of two releases leave possible for a target.

    `details` are the rates that either release gives alone.

    Parameters
    ----------
    certainty : the smallest probability of the value, given both releases.
    """

    name = "composition"
    question = LINKABILITY
    reference = "Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information, KDD 2008"

    def check(self, setting: AttackSetting) -> str | None:
        """Require a second release with a sensitive attribute of the first."""
        if setting.other is None:
            return "it needs a second release of the same people; give other."
        if not self.attacked(setting):
            return "the second release has no sensitive attribute of the first."
        return None

    def attacked(self, setting: AttackSetting) -> tuple[str, ...]:
        """Return the sensitive attributes of both releases."""
        shared = () if setting.other is None else setting.other.groups.histograms
        return tuple(name for name in setting.sensitive if name in shared)

    def believed(self, setting: AttackSetting, sensitive: str) -> ValueBeliefs:
        """Return what both releases leave possible."""
        return setting.beliefs(sensitive).combine(self._second(setting, sensitive), setting.view.prior(sensitive))

    def details(self, setting: AttackSetting, sensitive: str) -> dict[str, float]:
        """Return the rates of either release alone."""
        truth, prior = setting.targets.truth[sensitive], setting.view.prior(sensitive)
        alone = {"first_alone": setting.beliefs(sensitive), "second_alone": self._second(setting, sensitive)}
        made = {name: claim_value(beliefs, truth, prior, self.certainty) for name, beliefs in alone.items()}
        return {name: float((each.claimed & each.right).mean()) for name, each in made.items()}

    @staticmethod
    def _second(setting: AttackSetting, sensitive: str) -> ValueBeliefs:
        """Read the second release, with values numbered as in the first."""
        assert setting.other is not None  # noqa: S101 - refused before
        found = setting.other.beliefs(setting.other.candidates(setting.targets.points), sensitive)
        names = setting.view.texts(sensitive)
        place = find_texts([*setting.other.texts(sensitive), ""], names)
        place[-1] = len(names)  # missing values
        return found.recoded(place, len(names) + 1)
