"""What models need to know about the values of an attribute: which they are, their categories, their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import Scale
from sfumato.tables.models.base import GroupModel, Levels
from sfumato.tables.published.groups import Groups


def check_mapping(
    owner: GroupModel, parameter: str, value: object, entries: str, fits: Callable[[object], bool]
) -> None:
    """Refuse anything but a mapping from texts to suitable entries; say what it must be, not what it contains."""
    if not (isinstance(value, Mapping) and value and all(isinstance(v, str) and fits(e) for v, e in value.items())):
        raise InvalidParameterError(
            f"{type(owner).__name__}.{parameter} must be a mapping from values, as text, to {entries}."
        )


def get_domain(owner: GroupModel, groups: Groups, name: str) -> Domain:
    """Return the values of an attribute."""
    domain = groups.domains.get(name)
    if domain is None:
        raise SchemaError(f"{type(owner).__name__} needs the values of column {name!r}; count it with its domain.")
    return domain


def category_codes(
    owner: GroupModel, groups: Groups, name: str, categories: Mapping[str, str | int]
) -> npt.NDArray[np.int64]:
    """Return the category number of every value; a missing value has the number after the last one."""
    domain, histogram = get_domain(owner, groups, name), groups.histograms[name]
    numbers = {category: number for number, category in enumerate(dict.fromkeys(categories.values()))}
    unknown, missing = -1, len(numbers)
    numbered = [numbers[categories[text]] if text in categories else unknown for text in domain.texts]
    nodes = np.full(histogram.width, missing, dtype=np.int64)
    nodes[: len(domain)] = numbered
    if domain.same is not None:  # a value without a category has that of one that looks alike
        named = np.flatnonzero((nodes[: len(domain)] != unknown) & (domain.same != domain.missing))[::-1]
        alike = np.full(len(domain), unknown, dtype=np.int64)
        alike[domain.same[named]] = nodes[named]
        nodes[: len(domain)] = np.where(nodes[: len(domain)] == unknown, alike, nodes[: len(domain)])
    occurs = np.zeros(histogram.width, dtype=np.bool_)
    occurs[histogram.codes] = True
    uncovered = int((occurs & (nodes == unknown)).sum())
    if uncovered:
        raise SchemaError(
            f"Column {name!r} has {uncovered} distinct values to which the model assigns no category or level; "
            "add them to its mapping."
        )
    return np.where(nodes == unknown, missing, nodes)


def numeric_values(owner: GroupModel, groups: Groups, name: str) -> Levels:
    """Return the values of an attribute as ascending numbers; dates in days, datetimes in microseconds."""
    domain = get_domain(owner, groups, name)
    if domain.scale is not Scale.NUMERIC:
        raise SchemaError(
            f"Column {name!r} is {domain.scale}, but {type(owner).__name__} needs numbers; "
            "make it numeric or choose another model."
        )
    return domain.positions
