"""Settings as Python code: the calls that make them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any

WIDTH = 100
STEP = "    "
SPREAD = ("widths", "lengths")  # settings of hierarchies that are positional, one by one
ONE_PER_LINE = ("tree", "groups")  # those that are the only argument


def format_python(value: Any, indent: str = "") -> str:
    """Write settings as a Python expression, over several lines if it is long.

    Parameters
    ----------
    value : plain values, or an object of the toolkit that has parameters or settings.
    indent : what stands before the line that the expression begins in.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> print(format_python([KAnonymity(k=5)]))
    [sf.models.KAnonymity(k=5)]
    """
    if isinstance(value, Enum):
        return repr(str(value))
    if isinstance(value, Mapping):
        return _wrap_lines(
            "{", [f"{key!r}: {format_python(each, indent + STEP)}" for key, each in value.items()], "}", indent
        )
    if isinstance(value, list | tuple):
        return _wrap_lines("[", [format_python(each, indent + STEP) for each in value], "]", indent)
    if hasattr(value, "build"):
        return _format_hierarchy(value, indent)
    if hasattr(value, "parameters"):
        return format_constructor(value, {}, indent)
    return repr(value)


def _format_call(name: str, given: Mapping[str, Any], indent: str = "", before: Sequence[str] = ()) -> str:
    """Write a call with arguments by name, after those by position that are already written."""
    written = [f"{key}={format_python(each, indent + STEP)}" for key, each in given.items()]
    return _wrap_lines(f"{name}(", [*before, *written], ")", indent)


def format_constructor(value: Any, named: Mapping[str, str] | None = None, indent: str = "") -> str:
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
    return _format_call(
        _qualified_name(value), given, indent, [f"{field}={name}" for field, name in (named or {}).items()]
    )


def _qualified_name(value: object) -> str:
    """Return the public path of an object's class as scripts write it; the full path if it has none."""
    import sfumato

    found = type(value)
    package = found.__module__.split(".")
    for name in dict.fromkeys(("models", "algorithms", "masking", "hierarchies", *package[1:2])):
        if package[0] == "sfumato" and found.__name__ in getattr(getattr(sfumato, name, None), "__all__", ()):
            return f"sf.{name}.{found.__name__}"
    if getattr(sfumato, found.__name__, None) is found:
        return f"sf.{found.__name__}"
    return f"{found.__module__}.{found.__name__}"


def _format_hierarchy(value: Any, indent: str) -> str:
    settings = {key: each for key, each in value.to_dict().items() if key != "kind"}
    if "rows" in settings:
        return _wrap_lines(
            f"{_qualified_name(value)}.from_rows(", [format_python(settings["rows"], indent + STEP)], ")", indent
        )
    spread = [format_python(each) for key in SPREAD for each in settings.pop(key, ())]
    alone = [format_python(settings.pop(key), indent + STEP) for key in ONE_PER_LINE if key in settings]
    return _format_call(_qualified_name(value), settings, indent, [*spread, *alone])


def _wrap_lines(opening: str, parts: Sequence[str], closing: str, indent: str) -> str:
    """Write parts in one line, or each in a line of its own."""
    line = opening + ", ".join(parts) + closing
    if len(indent) + len(line) <= WIDTH and "\n" not in line:
        return line
    inner = "".join(f"{indent}{STEP}{part},\n" for part in parts)
    return f"{opening}\n{inner}{indent}{closing}"
