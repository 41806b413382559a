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
from sfumato.networks.pictures import draw_candidates, draw_degrees, draw_super_nodes
from sfumato.networks.promise import Published
from sfumato.reporting.kind_pages import ReportSection


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
        found = self.published
        if isinstance(found, ClusteredNetwork):
            told = "Edges are published as counts of super-nodes; the degrees are those of a graph with these counts."
            pictures = [draw_degrees(self.original, found.sample(seed=0)), draw_super_nodes(found)]
        else:
            told = "Degrees and candidates are those of the original and of the published network."
            pictures = [draw_degrees(self.original, found), draw_candidates(self.original, found)]
        return [ReportSection(title="Structure", sentences=(told,), pictures=pictures)]
