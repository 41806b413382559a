"""The recipe of a release of another kind of data: what makes it again, as one TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias

from sfumato import __version__
from sfumato.exceptions import RecipeError
from sfumato.kinds.promise import Model
from sfumato.kinds.search import Algorithm
from sfumato.kinds.settings import Parameterized
from sfumato.randomness import check_secret
from sfumato.recipe import get_tables, instantiate_choice
from sfumato.table.toml import check_known_keys, get_section, get_table, read_toml

InputOptions: TypeAlias = Mapping[str, Any]  # plain values, as TOML has them
TYPED_PARTS = ("sfumato", "input", "models", "algorithm")


@dataclass(frozen=True, kw_only=True)
class TypedRecipe:
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

    data_type: str
    models: tuple[Model[Any], ...]
    algorithm: Algorithm[Any]
    secret: str | None = field(default=None, repr=False)
    input: InputOptions = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_secret(self, self.secret)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values, as in its TOML file."""
        secret = {} if self.secret is None else {"secret": self.secret}
        return {
            "sfumato": {"version": __version__, "kind": self.data_type, **secret},
            **({"input": dict(self.input)} if self.input else {}),
            "models": [_named_parameters(model) for model in self.models],
            "algorithm": _named_parameters(self.algorithm),
        }

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    @classmethod
    def load(
        cls, path: str | PathLike[str], kind: str, models: Mapping[str, Any], algorithms: Mapping[str, Any]
    ) -> Self:
        """Read a recipe of one kind of data, whose promises and searches are known by name."""
        content = read_toml(Path(path), "recipe")
        check_known_keys(content, TYPED_PARTS, "The recipe")
        header = get_section(content, "sfumato", ("version", "kind", "secret"))
        if header.get("kind") != kind:
            raise RecipeError(f"The recipe is not one for {kind}; its [sfumato] must say kind = {kind!r}.")
        return cls(
            data_type=kind,
            models=tuple(instantiate_choice(models, entry, "model") for entry in get_tables(content, "models")),
            algorithm=instantiate_choice(algorithms, content.get("algorithm", {}), "algorithm"),
            secret=header.get("secret"),
            input=get_table(content, "input") if "input" in content else {},
        )


def _named_parameters(settings: Parameterized) -> dict[str, Any]:
    return {"name": settings.name, **settings.parameters()}
