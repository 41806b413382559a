"""What every search for a release of another kind of data provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from sfumato._progress import Progress, ignore_progress
from sfumato._randomness import KeyedRandom
from sfumato.core.model import Model, Parameterized
from sfumato.errors import UnsupportedModelError

Data = TypeVar("Data")


@dataclass(frozen=True, kw_only=True, eq=False)
class Request(Generic[Data]):
    """What a search is asked to do.

    Parameters
    ----------
    data : the original.
    models : what must be kept.
    stream : where random choices come from that hide somebody.
    progress : is told the share of the work that is done; it may raise to stop.
    """

    data: Data
    models: Sequence[Model[Any]]
    stream: KeyedRandom = field(default_factory=KeyedRandom)
    progress: Progress = ignore_progress

    def model_of_type(self, kind: type[Model[Any]]) -> Any:
        """Return the one promise of a kind."""
        return next(each for each in self.models if isinstance(each, kind))


class Algorithm(Parameterized, ABC, Generic[Data]):
    """A search for data to publish. It has no privacy parameters of its own, and never judges what it found.

    `serves` lists the kinds of promises that a search can keep; `draws` says whether it draws at random what hides
    somebody, so that the recipe needs a secret to repeat it.
    """

    reference: ClassVar[str]
    supports: ClassVar[tuple[type[Model[Any]], ...]]
    uses_secret: ClassVar[bool] = False

    @classmethod
    def usual(cls, data: Data) -> Self:  # noqa: ARG003 - some need it
        """Return the search as it usually is for some data."""
        return cls()

    @abstractmethod
    def search(self, request: Request[Data]) -> Data:
        """Return data that keep all models, or raise `InfeasibleError`."""

    def check(self, models: Sequence[Model[Any]]) -> None:
        """Refuse promises that the search cannot keep."""
        for model in models:
            if not isinstance(model, self.supports):
                served = " or ".join(each.name for each in self.supports)
                raise UnsupportedModelError(
                    f"{type(self).__name__} cannot keep {model.name}; promise {served}, or choose another algorithm."
                )


def usual_search(models: Sequence[Model[Any]], data: object, searches: Iterable[type[AnyAlgorithm]]) -> AnyAlgorithm:
    """Return the first search that keeps all promises, for who names none."""
    for search in searches:
        if all(isinstance(model, search.supports) for model in models):
            return search.usual(data)
    named = " and ".join(model.name for model in models)
    raise UnsupportedModelError(f"No algorithm keeps {named}; promise less at once, or something else.")


AnyAlgorithm: TypeAlias = Algorithm[Any]  # of data of whatever kind
