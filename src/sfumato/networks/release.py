"""A release of a network: what is published, what it keeps, what it lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from sfumato.kinds.audit import KindAudit
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.release import KindRelease
from sfumato.networks.auditing import audit
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.files import TOLD, read_published, same, write_published
from sfumato.networks.network import Network
from sfumato.networks.pictures import draw_candidates, draw_degrees
from sfumato.networks.promise import Published
from sfumato.networks.structure import eigenvalues
from sfumato.networks.super_node_picture import draw_super_nodes
from sfumato.reporting.kind_pages import ReportSection

TOLD_OF_MEASURES = (
    "Distances are means: of degrees in neighbors per person, of the ten largest eigenvalues in their own size. "
    "Communities are kept wholly at 1, and no better than by chance at 0. Paths are measured from everybody, or from "
    "1,000 persons if there are more; then the range in brackets holds the mean of all with a confidence of 95 %."
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkRelease(KindRelease[Published]):
    """A published network with its audit, what it lost, and what made it.

    Parameters
    ----------
    published, audit, measures, recipe, internal : as for every kind of data.
    original : the network that it was made of, which the report compares it with.
    """

    title: ClassVar[str] = "a network"
    original: Network

    @property
    def network(self) -> Published:
        """The published network: a graph, or super-nodes."""
        return self.published

    def _write_files(self, folder: Path, table_format: str) -> None:
        write_published(self.published, folder, table_format)

    def _read_files(self, folder: Path) -> Published:
        found = read_published(folder, self.published.schema)
        if isinstance(found, Network) and isinstance(self.published, Network):
            return replace(found, alignment=self.published.alignment)  # the owner's proof is in no public file
        return found

    def _judge(self, published: Published, models: Sequence[KindPromise[Any]]) -> KindAudit:
        return audit(published, models=models)

    def _unchanged(self, read: Published) -> bool:
        return same(read, self.published)

    def _files_told(self, folder: Path) -> Mapping[str, str]:
        return {path.name: TOLD[path.stem] for path in sorted(folder.iterdir())}

    def _sections(self) -> Sequence[ReportSection]:
        found, drawn = self.published, self.published
        told = [TOLD_OF_MEASURES]
        pictures = []
        if isinstance(found, ClusteredNetwork):
            drawn = found.sample(seed=0)
            told.append(
                "Edges are published as counts of super-nodes: figures are means over 20 graphs with these counts, and "
                "degrees and eigenvalues below are those of one of them. Everybody in a super-node looks alike. Counts "
                "between groups are edges between persons with two values of an attribute, and their error is relative."
            )
            pictures = [draw_super_nodes(found)]
        assert isinstance(drawn, Network)  # noqa: S101 - what is no super-nodes is a network
        rows = [
            (title, *(f"{each:,.4g}" for each in eigenvalues(graph).tolist()))
            for title, graph in (("original", self.original), ("published", drawn))
        ]
        head = ("largest eigenvalues", *(str(place) for place in range(1, len(rows[0]))))
        shown = [draw_degrees(self.original, drawn), draw_candidates(self.original, found), *pictures]
        return [ReportSection(title="Structure", sentences=told, head=head, rows=rows, pictures=shown)]
