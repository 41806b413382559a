"""What every hierarchy builder can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from sfumato.exceptions import RecipeError
from sfumato.validation import suggest_closest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pyarrow as pa

    from sfumato.hierarchies.hierarchy import Hierarchy


class HierarchyBuilder(Protocol):
    """Settings that turn the distinct values of a column into a hierarchy.

    `kind` is its name in recipes; `scale` is how the values of such a column relate to each other.
    """

    kind: ClassVar[str]
    scale: ClassVar[str]

    def build(self, values: pa.Array) -> Hierarchy:
        """Build the hierarchy over the distinct, nonmissing values of a column."""

    def find_uncovered(self, values: pa.Array) -> pa.Array:
        """Return the texts of those distinct, nonmissing values that have nothing above them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings, lists and dictionaries."""

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild a builder from the settings returned by `to_dict`."""


def check_settings(kind: str, settings: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse settings that a builder does not have."""
    for name in settings:
        if name != "kind" and name not in known:
            hint = suggest_closest(name, known) or f"; it has {', '.join(sorted(known))}."
            raise RecipeError(f"A hierarchy of kind {kind!r} has no setting {name!r}{hint}")
