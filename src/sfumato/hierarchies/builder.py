"""What every builder of hierarchies can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from sfumato.exceptions import RecipeError
from sfumato.validation import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pyarrow as pa

    from sfumato.hierarchies.hierarchy import Hierarchy


class Builder(Protocol):
    """Settings that turn the distinct values of a column into a hierarchy.

    `kind` is its name in recipes; `scale` is how the values of such a column relate to each other.
    """

    kind: ClassVar[str]
    scale: ClassVar[str]

    def build(self, values: pa.Array) -> Hierarchy:
        """Build the hierarchy over the distinct values of a column, none of them missing."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, texts, lists and dictionaries."""

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild what `to_dict` gave."""


def check_settings(kind: str, settings: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse settings that a builder does not have."""
    for name in settings:
        if name != "kind" and name not in known:
            hint = did_you_mean(name, known) or f"; it has {', '.join(sorted(known))}."
            raise RecipeError(f"A hierarchy of kind {kind!r} has no setting {name!r}{hint}")
