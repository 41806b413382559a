"""Settings as Python code: the calls that make them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

WIDTH = 100
STEP = "    "
SPREAD = ("widths", "lengths")  # settings of hierarchies that are positional, one by one
ALONE = ("tree", "groups")  # those that are the only argument


def as_python(value: Any, indent: str = "") -> str:
    """Write settings as a Python expression, over several lines if it is long.

    Parameters
    ----------
    value : plain values, or an object of the toolkit that has parameters or settings.
    indent : what stands before the line that the expression begins in.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> print(as_python([KAnonymity(k=5)]))
    [sf.KAnonymity(k=5)]
    """
    if isinstance(value, Enum):
        return repr(str(value))
    if isinstance(value, Mapping):
        return _laid_out(
            "{", [f"{key!r}: {as_python(each, indent + STEP)}" for key, each in value.items()], "}", indent
        )
    if isinstance(value, list | tuple):
        return _laid_out("[", [as_python(each, indent + STEP) for each in value], "]", indent)
    if hasattr(value, "build"):
        return _hierarchy(value, indent)
    if hasattr(value, "parameters"):
        return constructor(value, {}, indent)
    return repr(value)


def _call(name: str, given: Mapping[str, Any], indent: str = "", before: Sequence[str] = ()) -> str:
    """Write a call with arguments by name, after those by position that are already written."""
    written = [f"{key}={as_python(each, indent + STEP)}" for key, each in given.items()]
    return _laid_out(f"{name}(", [*before, *written], ")", indent)


def constructor(value: Any, named: Mapping[str, str] | None = None, indent: str = "") -> str:
    """Write the call that makes a dataclass again, with all that is not as by default.

    Parameters
    ----------
    value : the object.
    named : fields that are variables of the script, and their names.
    indent : what stands before the line that the call begins in.
    """
    given = {}
    for field in fields(value):
        usual = field.default if field.default_factory is MISSING else field.default_factory()
        if field.name not in (named or {}) and getattr(value, field.name) != usual:
            given[field.name] = getattr(value, field.name)
    return _call(_name_of(value), given, indent, [f"{field}={name}" for field, name in (named or {}).items()])


def _name_of(value: object) -> str:
    """Return how a script names the class of an object: from the top of the toolkit, from its room, or in full."""
    import sfumato

    kind = type(value)
    if getattr(sfumato, kind.__name__, None) is kind:
        return f"sf.{kind.__name__}"
    package, _, rest = kind.__module__.partition(".")
    return (
        f"sf.{rest.partition('.')[0]}.{kind.__name__}" if package == "sfumato" else f"{kind.__module__}.{kind.__name__}"
    )


def _hierarchy(value: Any, indent: str) -> str:
    settings = {key: each for key, each in value.to_dict().items() if key != "kind"}
    if "rows" in settings:
        return _laid_out(f"{_name_of(value)}.from_rows(", [as_python(settings["rows"], indent + STEP)], ")", indent)
    spread = [as_python(each) for key in SPREAD for each in settings.pop(key, ())]
    alone = [as_python(settings.pop(key), indent + STEP) for key in ALONE if key in settings]
    return _call(_name_of(value), settings, indent, [*spread, *alone])


def _laid_out(opening: str, parts: Sequence[str], closing: str, indent: str) -> str:
    """Write parts in one line, or each in a line of its own."""
    line = opening + ", ".join(parts) + closing
    if len(indent) + len(line) <= WIDTH and "\n" not in line:
        return line
    inner = "".join(f"{indent}{STEP}{part},\n" for part in parts)
    return f"{opening}\n{inner}{indent}{closing}"
