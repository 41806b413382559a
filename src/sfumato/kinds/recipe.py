"""The recipe of a release of another kind of data: what makes it again, as one TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias

from sfumato import __version__
from sfumato.exceptions import RecipeError
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.search import KindSearch
from sfumato.kinds.settings import Settings
from sfumato.randomness import check_secret
from sfumato.recipe import choice_of, listed
from sfumato.table.toml import read_toml, refuse_unknown, section_of, table_in

Source: TypeAlias = Mapping[str, Any]  # plain values, as TOML has them
PARTS = ("sfumato", "input", "models", "algorithm")


@dataclass(frozen=True, kw_only=True)
class KindRecipe:
    """Everything that determines a release of data of another kind than a table.

    Parameters
    ----------
    kind : the kind of data, such as `"baskets"`.
    models : what is promised.
    algorithm : how to search for a release.
    secret : makes random choices repeatable that hide somebody: 64 hexadecimal digits, by default drawn from the
        operating system; kept by the owner, never published.
    source : what is known of the original and how it is read, as plain values: names of its columns, its digest.
    """

    kind: str
    models: tuple[KindPromise[Any], ...]
    algorithm: KindSearch[Any]
    secret: str | None = field(default=None, repr=False)
    source: Source = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_secret(self, self.secret)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values, as in its TOML file."""
        secret = {} if self.secret is None else {"secret": self.secret}
        return {
            "sfumato": {"version": __version__, "kind": self.kind, **secret},
            **({"input": dict(self.source)} if self.source else {}),
            "models": [_written(model) for model in self.models],
            "algorithm": _written(self.algorithm),
        }

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def read(
        cls, path: str | PathLike[str], kind: str, models: Mapping[str, Any], algorithms: Mapping[str, Any]
    ) -> Self:
        """Read a recipe of one kind of data, whose promises and searches are known by name."""
        content = read_toml(Path(path), "recipe")
        refuse_unknown(content, PARTS, "The recipe")
        header = section_of(content, "sfumato", ("version", "kind", "secret"))
        if header.get("kind") != kind:
            raise RecipeError(f"The recipe is not one for {kind}; its [sfumato] must say kind = {kind!r}.")
        return cls(
            kind=kind,
            models=tuple(choice_of(models, entry, "model") for entry in listed(content, "models")),
            algorithm=choice_of(algorithms, content.get("algorithm", {}), "algorithm"),
            secret=header.get("secret"),
            source=table_in(content, "input") if "input" in content else {},
        )


def _written(settings: Settings) -> dict[str, Any]:
    return {"name": settings.name, **settings.parameters()}
