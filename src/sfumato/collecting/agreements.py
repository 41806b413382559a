"""What clients and server agree on, as a TOML file: a mechanism and its public parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from sfumato.collecting.duchi_mean import DuchiMean
from sfumato.collecting.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.collecting.local_mechanism import LocalMechanism
from sfumato.collecting.optimized_local_hashing import OptimizedLocalHashing
from sfumato.collecting.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.collecting.piecewise_mean import PiecewiseMean
from sfumato.collecting.rappor import RAPPOR
from sfumato.collecting.succinct_histogram import SuccinctHistogram
from sfumato.exceptions import RecipeError
from sfumato.table.toml import read_toml
from sfumato.validation import suggest_closest

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
