"""A model of tables, kept by the persons of every super-node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import code_column
from sfumato.core.groups import Groups
from sfumato.exceptions import InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.base import PrivacyModel
from sfumato.models.words import ModelWords
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.promise import Published
from sfumato.schema.missing import SENSITIVE
from sfumato.validation import did_you_mean


@dataclass(frozen=True, kw_only=True, repr=False)
class PersonsKeep(KindPromise[Published]):
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
    counted = "super-nodes"
    stricter: ClassVar = {}

    model: PrivacyModel

    def __post_init__(self) -> None:
        if not isinstance(self.model, PrivacyModel):
            raise InvalidParameterError("PersonsKeep.model must be a model of tables, such as sf.KAnonymity(k=5).")
        if self.model.needs_original or self.model.needs_population or self.model.of_buckets:
            raise UnsupportedModelError(f"The model {self.model.name!r} cannot be judged on super-nodes alone.")
        for fact in ("name", "reference", "bound", "stricter"):  # those of the model
            object.__setattr__(self, fact, getattr(self.model, fact))
        object.__setattr__(self, "words", self.model.words or ModelWords(title=self.model.name))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the model: a recipe holds it by its own name."""
        return self.model.parameters()

    @property
    def limit(self) -> float:
        """The level that the model requires."""
        return self.model.limit

    def kept_at(self, level: float) -> bool:
        """Return whether a level is on the safe side of the limit."""
        return bool(self.model.kept_at(np.array([level]))[0])

    def judge(self, published: Published) -> KindVerdict:
        """Count the values of every super-node."""
        if not isinstance(published, ClusteredNetwork):
            raise UnsupportedModelError(
                f"The model {self.model.name!r} is about groups of persons, and a graph has none; publish super-nodes, "
                "as Sangreea does."
            )
        levels = self.model.level(groups_of(published, self.model))
        return KindVerdict(self, self.model.worst(levels), int((~self.model.kept_at(levels)).sum()))

    def broken_by(self, published: ClusteredNetwork) -> npt.NDArray[np.bool_]:
        """Return for every super-node whether it breaks the model."""
        return ~self.model.kept_by(groups_of(published, self.model))


def groups_of(published: ClusteredNetwork, model: PrivacyModel) -> Groups:
    """Count persons, and values of the sensitive attributes that a model reads, in every super-node."""
    columns = [] if published.persons is None else published.persons.column_names
    for name in model.attributes:
        if name not in columns:
            hint = did_you_mean(name, columns) or "; give it the role sensitive in the schema of the persons."
            raise SchemaError(f"Nothing is published of {name!r}, which {model.name!r} reads{hint}")
    coded = [code_column(name, cast("Any", published.persons)[name], published.schema) for name in model.attributes]
    return Groups.from_rows(published.cluster, len(published.inner), coded, SENSITIVE)
