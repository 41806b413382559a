"""A model of tables, kept by the persons of every super-node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato._validation import suggest_closest
from sfumato.core._descriptions import ModelDescription
from sfumato.core.model import Model, Verdict
from sfumato.encoding.coded_table import encode_column
from sfumato.errors import InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.models._base import PublishedGraph
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups


@dataclass(frozen=True, kw_only=True, repr=False)
class OnClusters(Model[PublishedGraph]):
    """Require that the persons of every super-node keep a model of tables, such as `PSensitiveKAnonymity` [1]_.

    Super-nodes are the groups: whoever knows the structure may know somebody's super-node.

    Parameters
    ----------
    model : the model; one that compares with an original or a population cannot be judged here.

    References
    ----------
    .. [1] Ford, Truta, Campan, "P-sensitive k-anonymity for social networks", DMIN 2009.
    """

    name = "persons-keep"
    reference = "Ford, Truta, Campan 2009"
    bound = "min"
    unit = "super-nodes"
    stricter: ClassVar = {}

    model: GroupModel

    def __post_init__(self) -> None:
        if not isinstance(self.model, GroupModel):
            raise InvalidParameterError(
                "OnClusters.model must be a model of tables, such as sf.models.KAnonymity(k=5)."
            )
        if self.model.needs_original or self.model.needs_population or self.model.applies_to_buckets:
            raise UnsupportedModelError(f"The model {self.model.name!r} cannot be judged on super-nodes alone.")
        for fact in ("name", "reference", "bound", "stricter"):  # those of the model
            object.__setattr__(self, fact, getattr(self.model, fact))
        object.__setattr__(self, "description", self.model.description or ModelDescription(title=self.model.name))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the model: a recipe holds it by its own name."""
        return self.model.parameters()

    @property
    def limit(self) -> float:
        """The level that the model requires."""
        return self.model.limit

    def satisfies(self, level: float) -> bool:
        """Return whether a level is on the safe side of the limit."""
        return bool(self.model.satisfies(np.array([level]))[0])

    def evaluate(self, published: PublishedGraph) -> Verdict:
        """Count the values of every super-node."""
        if not isinstance(published, ClusteredGraph):
            raise UnsupportedModelError(
                f"The model {self.model.name!r} is about groups of persons, and a graph has none; publish super-nodes, "
                "as Sangreea does."
            )
        levels = self.model.levels(cluster_groups(published, self.model))
        return Verdict(self, self.model.worst_level(levels), int((~self.model.satisfies(levels)).sum()))

    def violating_super_nodes(self, published: ClusteredGraph) -> npt.NDArray[np.bool_]:
        """Return for every super-node whether it breaks the model."""
        return ~self.model.satisfied_by(cluster_groups(published, self.model))


def cluster_groups(published: ClusteredGraph, model: GroupModel) -> Groups:
    """Count persons, and values of the sensitive attributes that a model reads, in every super-node."""
    columns = [] if published.vertices is None else published.vertices.column_names
    for name in model.sensitive_attributes:
        if name not in columns:
            hint = suggest_closest(name, columns) or "; give it the role sensitive in the schema of the persons."
            raise SchemaError(f"Nothing is published of {name!r}, which {model.name!r} reads{hint}")
    coded = [
        encode_column(name, cast("Any", published.vertices)[name], published.schema)
        for name in model.sensitive_attributes
    ]
    return Groups.from_rows(published.cluster, len(published.inner), coded, SENSITIVE)
