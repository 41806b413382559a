"""The promise of cloaking: every region is that of at least k persons."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import AnonymitySetModel, Verdict
from sfumato.trajectories.grids import CloakingRegions


@dataclass(frozen=True, kw_only=True, repr=False)
class Reciprocity(AnonymitySetModel[CloakingRegions]):
    """Require every published region to be the region of at least k persons [1]_.

    It says nothing about how many persons stand inside: others may, with another region. Nor about later moments:
    somebody who sees where one person's regions are again and again learns more each time.

    Parameters
    ----------
    k : the least number of persons with one region.

    References
    ----------
    .. [1] Kalnis, Ghinita, Mouratidis, Papadias, "Preventing location-based identity inference in anonymous spatial
       queries", IEEE TKDE 19(12), 2007. https://doi.org/10.1109/TKDE.2007.190662
    """

    name = "reciprocal"
    reference = "Kalnis et al. 2007, https://doi.org/10.1109/TKDE.2007.190662"
    unit = "regions"
    words = ModelDescription(
        title="Reciprocity",
        level="persons with the region that fewest have",
        promise="Every region is that of at least {k} persons.",
        stops="Location inference: finding who asked, by knowing the method and where everybody is.",
        open="It holds for one moment: regions of the same person at several moments can be put together.",
    )

    k: int

    def evaluate(self, published: CloakingRegions) -> Verdict:
        """Count the persons of every region."""
        counts = published.identical_groups[1]
        return Verdict(self, float(counts.min(initial=len(published) or self.k)), int((counts < self.k).sum()))
