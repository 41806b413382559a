"""Perturbation plans as text: TOML files, and the short form of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from sfumato._validation import suggest_closest
from sfumato.core._toml import read_toml
from sfumato.errors import InvalidParameterError, RecipeError
from sfumato.local_dp.mechanisms.base import LocalMechanism
from sfumato.local_dp.mechanisms.duchi_mean import DuchiMean
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.optimized_local_hashing import OptimizedLocalHashing
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.mechanisms.piecewise_mean import PiecewiseMean
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.local_dp.mechanisms.succinct_histogram import SuccinctHistogram
from sfumato.local_dp.randomization.noise import NOISE_TYPES, Noise
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse

# What clients and server agree on, as a TOML file: a mechanism and its public parameters.

MECHANISMS: dict[str, type[LocalMechanism]] = {
    kind.name: kind
    for kind in (
        GeneralizedRandomizedResponse,
        OptimizedUnaryEncoding,
        OptimizedLocalHashing,
        RAPPOR,
        SuccinctHistogram,
        DuchiMean,
        PiecewiseMean,
    )
}


def load_mechanism(path: Path) -> LocalMechanism:
    """Read an agreement from a TOML file."""
    return mechanism_from_config(read_toml(path, "agreement"))


def mechanism_from_config(content: Mapping[str, object]) -> LocalMechanism:
    """Build the mechanism of an agreement from its keys.

    >>> mechanism_from_config({"mechanism": "oue", "epsilon": 1, "values": ["yes", "no"]}).name
    'oue'
    """
    given = dict(content)
    name = str(given.pop("mechanism", ""))
    if name not in MECHANISMS:
        raise RecipeError(
            f"An agreement needs mechanism = one of {', '.join(MECHANISMS)}{suggest_closest(name, MECHANISMS)}."
        )
    kind = MECHANISMS[name]
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # every mechanism is a dataclass
    for key in given:
        if key not in known:
            raise RecipeError(
                f"The agreement has a key {key!r} that {name} does not have{suggest_closest(key, known)}."
            )
    try:
        return kind(**given)
    except TypeError:
        raise RecipeError(f"The agreement of {name} misses or mistypes one of its keys: {', '.join(known)}.") from None


RESPONSE = "response"
SHORT = "uniform:LOW,HIGH, gaussian:SCALE or laplace:SCALE"


def load_perturbation_plan(path: Path) -> dict[str, Noise | RandomizedResponse]:
    """Read a plan: one table of TOML per column, with the name of the noise and its parameters."""
    return perturbation_plan_from_config(read_toml(path, "plan"))


def perturbation_plan_from_config(content: Mapping[str, object]) -> dict[str, Noise | RandomizedResponse]:
    """Build a plan from tables by column.

    >>> perturbation_plan_from_config({"age": {"noise": "uniform", "low": -20, "high": 20}})
    {'age': UniformNoise(low=-20, high=20)}
    """
    plan = {}
    for column, given in content.items():
        if not isinstance(given, Mapping):
            raise RecipeError(f"The plan of column {column!r} must be a table; write [{column}] and its keys below.")
        plan[column] = _perturbation_from_config(column, dict(given))
    if not plan:
        raise RecipeError("The plan names no column; write one table per column.")
    return plan


def parse_noise(written: str) -> Noise:
    """Read noise as the command line writes it.

    >>> parse_noise("gaussian:2.5")
    GaussianNoise(scale=2.5)
    """
    name, _, numbers = written.partition(":")
    kind = NOISE_TYPES.get(name)
    names = [] if kind is None else [field.name for field in fields(kind)]
    parts = numbers.split(",")
    if kind is None or len(parts) != len(names):
        raise InvalidParameterError(f"Write noise as {SHORT}; got {written!r}.")
    try:
        given = dict(zip(names, map(float, parts), strict=True))
    except ValueError:
        raise InvalidParameterError(f"Write noise as {SHORT}; got {written!r}.") from None
    return kind(**given)


def parse_randomized_response(written: str) -> RandomizedResponse:
    """Read randomized response as the command line writes it: the probability of the truth, and all values.

    >>> parse_randomized_response("0.8:f,m").values
    ('f', 'm')
    """
    chance, _, values = written.partition(":")
    try:
        truth = float(chance)
    except ValueError:
        truth = -1.0
    if not 0 <= truth <= 1 or not values:
        raise InvalidParameterError(f"Write randomized response as TRUTH:VALUE,VALUE,...; got {written!r}.")
    return RandomizedResponse(values=tuple(values.split(",")), truth=truth)


def _perturbation_from_config(column: str, given: dict[str, object]) -> Noise | RandomizedResponse:
    name = given.pop("noise", None)
    if name == RESPONSE:
        return _noise_from_config(column, RandomizedResponse, given)
    kind = NOISE_TYPES.get(str(name))
    if kind is None:
        known = [*NOISE_TYPES, RESPONSE]
        raise RecipeError(
            f"The plan of column {column!r} needs noise = one of {', '.join(known)}{suggest_closest(str(name), known)}."
        )
    return _noise_from_config(column, kind, given)


def _noise_from_config(column: str, kind: type, given: dict[str, object]) -> Noise | RandomizedResponse:
    known = [field.name for field in fields(kind)]
    for key in given:
        if key not in known:
            raise RecipeError(f"The plan of column {column!r} has an unknown key {key!r}{suggest_closest(key, known)}.")
    try:
        made: Noise | RandomizedResponse = kind(**given)
    except TypeError:
        raise RecipeError(f"The plan of column {column!r} misses one of its keys: {', '.join(known)}.") from None
    return made
