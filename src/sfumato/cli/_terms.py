"""The words of the command line: what messages call an option, a model or a value."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sfumato._entry_point_terms import UNSPECIFIED, translate

OTHER_NAMES = {
    "column_types": "column_type",
    "identifiers": "identifier",
    "if_exists": "replace",
    "quasi_identifiers": "quasi",
}
COMMANDS = {
    "attack_records": "sfumato attack --records",
    "attribute_disclosure_risk": "sfumato audit",
    "read": "a file",
}


@dataclass(frozen=True)
class ShellTerms:
    """The words of one command; `options` are its options, by the names of their parameters."""

    options: Mapping[str, str] = field(default_factory=dict)

    def option(self, name: str, value: object) -> str | None:
        """Write an option with a value."""
        option = self.options.get(name) or self.options.get(OTHER_NAMES.get(name, name))
        if option is None:
            return None
        if value is UNSPECIFIED or value is True or (name == "if_exists" and value == "replace"):
            return option
        if isinstance(value, Mapping):
            return " ".join(f"{option} {shlex.quote(f'{key}={each}')}" for key, each in value.items())
        if value is False or value is None:
            return self.options.get(f"no {name}", f"no {option}")
        return f"{option} {shlex.quote(self.shown(value))}"

    def owned(self, owner: str, name: str) -> str:
        """Say whose parameter it is, where it belongs to a model or an algorithm; else the option, or the recipe's."""
        known = slugs().get(owner.rpartition(".")[2])
        if known is not None:
            return f"{name} of {known}"
        option = self.option(name, UNSPECIFIED)
        if option is not None:
            return option
        return f"{name} of the recipe" if owner in {"Recipe", "Schema"} else name.replace("_", " ")

    def made(self, name: str, positional: list[object], named: Mapping[str, object]) -> str | None:
        """Write a model, an algorithm, a masking step or a hierarchy as options take it, as in `k-anonymity:k=5`."""
        slug = slugs().get(name) or COMMANDS.get(name)
        if slug is None:
            return None
        settings = [*map(self.shown, positional), *(f"{key}={self.shown(value)}" for key, value in named.items())]
        return f"{slug}:{','.join(settings)}" if settings else slug

    def shown(self, value: object) -> str:
        """Write a value as options take it.

        >>> ShellTerms().shown({"zip": "text"}), ShellTerms().shown(()), ShellTerms().shown([1, 2])
        ('zip=text', 'nothing', '1,2')
        """
        if value is None or (isinstance(value, tuple | list | dict | str) and not value):
            return "nothing"
        if isinstance(value, Mapping):
            return ",".join(f"{key}={self.shown(each)}" for key, each in value.items())
        if isinstance(value, tuple | list):
            return ",".join(map(self.shown, value))
        return str(value).lower() if isinstance(value, bool) else str(value)


_TERMS: ContextVar[ShellTerms | None] = ContextVar("words", default=None)


def to_shell_terms(sentence: str) -> str:
    """Return a sentence of the library in the words of the command that is run."""
    return translate(sentence, _TERMS.get() or ShellTerms())


@contextmanager
def command_terms(command: Any, arguments: list[str]) -> Iterator[None]:
    """Speak the words of the command that some arguments name."""
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    options = {each.name: _option_name(each) for each in command.params}
    options |= {f"no {each.name}": each.secondary_opts[0] for each in command.params if each.secondary_opts}
    token = _TERMS.set(ShellTerms(options))
    try:
        yield
    finally:
        _TERMS.reset(token)


def _option_name(parameter: Any) -> str:
    """Return the longest name of an option, or what stands for an argument in the help."""
    if getattr(parameter, "param_type_name", "") == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))


@cache
def slugs() -> dict[str, str]:
    """Return what models, algorithms, masking steps and hierarchies are called, by their classes."""
    from sfumato.graphs import _catalogue as networks
    from sfumato.hierarchies._settings import BUILDERS
    from sfumato.tables._catalogue import ALGORITHMS, MASKING_STEPS, MODELS
    from sfumato.trajectories import _catalogue as places
    from sfumato.transactions import _catalogue as baskets

    kinds: list[Mapping[str, Any]] = [BUILDERS, *(each.built_in for each in (MODELS, ALGORITHMS, MASKING_STEPS))]
    kinds += [baskets.ALGORITHMS, baskets.MODELS, places.ALGORITHMS, places.MODELS]
    kinds += [networks.ALGORITHMS, networks.GRAPH_MODELS]  # its models are also those of tables, of other packages, too
    return {made.__name__: name for kind in reversed(kinds) for name, made in kind.items() if isinstance(made, type)}
