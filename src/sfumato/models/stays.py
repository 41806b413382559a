"""What a value that changes can become: by texts, and as a relation of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.core.history import History
from sfumato.exceptions import InvalidParameterError

Stays: TypeAlias = Mapping[str, Sequence[str]]  # a value to those that it can become; each can stay, too


def check_transitions(owner: str, stays: object) -> dict[str, list[str]]:
    """Return a copy of what maps texts to lists of texts; refuse anything else."""
    fits = isinstance(stays, Mapping) and all(
        isinstance(value, str) and isinstance(others, list | tuple) and all(isinstance(each, str) for each in others)
        for value, others in stays.items()
    )
    if not fits:
        raise InvalidParameterError(
            f"{owner}.stays must be a mapping from values, as text, to lists of the values that they can become."
        )
    assert isinstance(stays, Mapping)  # noqa: S101 - seen above
    return {value: list(others) for value, others in stays.items()}


def transition_matrix(stays: Stays, texts: Sequence[str], width: int) -> npt.NDArray[np.bool_]:
    """Return which coded value can become which; named values that do not occur have codes after all others.

    >>> transition_matrix({"cold": ["flu"]}, ["cold", "flu"], 2).tolist()
    [[True, True], [False, True]]
    """
    place = {text: number for number, text in enumerate(texts)}
    for text in dict.fromkeys([*stays, *(other for each in stays.values() for other in each)]):
        place.setdefault(text, width + sum(number >= width for number in place.values()))
    found = np.eye(max(width, 1 + max(place.values(), default=0)), dtype=np.bool_)
    for value, others in stays.items():
        found[place[value], [place[other] for other in others]] = True
    return found


def transition_matrix_of_history(stays: Stays, history: History, owner: str) -> npt.NDArray[np.bool_]:
    """Return which coded value of a series can become which."""
    if len(history.values) < history.width - 1:
        raise InvalidParameterError(f"{owner} needs the texts of the values of a series; give History.values.")
    return transition_matrix(stays, history.values[: history.width], history.width)
