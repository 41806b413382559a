"""Perturb the columns of a table before it leaves its owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sfumato._validation import require, suggest_closest
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, SameBackend, to_arrow, to_canonical
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.randomization.noise import Noise, check_finite
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse, places_or_any

Plan = Mapping[str, Noise | RandomizedResponse]


def perturb_columns(data: Frame, plan: Plan, *, keep: Sequence[str] = (), secret: str | None = None) -> SameBackend:
    """Perturb columns with public noise or randomized response, and drop all others.

    Run this where the data is, and send the result. This blurs values: it promises no epsilon, and a column that
    occurs twice, or is correlated with others, reveals more than one report does. For a bound use `LocalClient`.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table.
    plan : for every column, `UniformNoise`, `GaussianNoise`, `LaplaceNoise` or `RandomizedResponse`.
    keep : columns that are sent unchanged.
    secret : 64 hexadecimal digits that make the draws repeatable in tests; by default they come from the operating
        system.

    Examples
    --------
    >>> import sfumato as sf
    >>> from sfumato.local_dp.randomization.noise import UniformNoise
    >>> sent = perturb_columns(sf.datasets.generate_hospital(100, seed=1), {"age": UniformNoise(low=-20, high=20)})
    >>> sent.column_names
    ['age']
    """
    table, kind = to_arrow(data)
    _check_plan(plan, keep, table.column_names)
    source = ExactSampler(secret)
    columns = {}
    for name in table.column_names:
        if name in plan:
            columns[name] = _perturbed(name, table.column(name), plan[name], source)
        elif name in keep:
            columns[name] = table.column(name)
    return kind.restore(to_canonical(pa.table(columns)))


def _perturbed(name: str, column: pa.ChunkedArray, how: Noise | RandomizedResponse, source: ExactSampler) -> pa.Array:
    if isinstance(how, RandomizedResponse):
        codes = places_or_any(column, how.values, source)
        return pa.array(list(how.values)).take(pa.array(how.perturb_codes(codes, source)))
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column {name!r} does not contain numbers; perturb it with RandomizedResponse.")
    numbers = check_finite(column.cast(pa.float64(), safe=False).to_numpy(), f"The cells of {name!r}")
    return pa.array(how.perturb_from(numbers, source))


def _check_plan(plan: object, keep: object, known: Sequence[str]) -> None:
    good = isinstance(plan, Mapping) and bool(plan)
    require(good, "collect", "plan", "a mapping of columns to noise", "something else")
    listed = isinstance(keep, Sequence) and not isinstance(keep, str)
    require(listed, "collect", "keep", "a list of columns", keep)
    planned: Any = plan
    kept: Any = keep
    for name in (*planned, *kept):
        if name not in known:
            raise SchemaError(f"There is no column {name!r} in the data{suggest_closest(str(name), known)}.")
    both = [name for name in kept if name in planned]
    if both:
        raise SchemaError(f"Column {both[0]!r} is both perturbed and kept unchanged; choose one.")
    for name, how in planned.items():
        if not isinstance(how, Noise | RandomizedResponse):
            raise InvalidParameterError(
                f"collect.plan must give {name!r} UniformNoise, GaussianNoise, LaplaceNoise or RandomizedResponse; "
                f"got {type(how).__name__}."
            )
