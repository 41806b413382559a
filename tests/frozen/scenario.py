"""What a frozen release is, and which entries of the catalogues the releases must cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.graphs import _catalogue as of_graphs
from sfumato.tables import _catalogue
from sfumato.trajectories import _catalogue as of_trajectories
from sfumato.transactions import _catalogue as of_sets

SECRET = "5f" * 32
CATALOGUES = {
    "table": (_catalogue.MODELS.built_in, _catalogue.ALGORITHMS.built_in, _catalogue.MASKING_STEPS.built_in),
    "sets": (of_sets.MODELS, of_sets.ALGORITHMS),
    "graph": (of_graphs.GRAPH_MODELS, of_graphs.ALGORITHMS),
    "trajectories": (of_trajectories.MODELS, of_trajectories.ALGORITHMS),
}


class Scenario(NamedTuple):
    """A release: its name, the function that writes it into a folder, and the models, algorithms and steps it uses."""

    name: str
    write: Callable[[Path], None]
    uses: tuple[Any, ...] = ()
    kind: str = "table"


def uncovered(scenarios: Iterable[Scenario]) -> list[str]:
    """List the models, algorithms and masking steps of all catalogues that no scenario uses."""
    used = {(each.kind, choice.name) for each in scenarios for choice in each.uses}
    listed = [(kind, name) for kind, choices in CATALOGUES.items() for each in choices for name in each]
    return [f"{name} of {kind}" for kind, name in listed if (kind, name) not in used]
