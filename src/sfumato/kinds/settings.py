"""What promises and searches have in common: a name, and parameters that a recipe holds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar


class Parameterized:
    """A frozen dataclass with a name; its parameters are what a recipe needs to make it again."""

    name: ClassVar[str]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # each is a dataclass
        return {name: value for name, value in named.items() if value is not None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters().items())})"
