"""Run attacks of one kind: those that were chosen, or all that apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from sfumato.core.progress import Progress, ignore_progress
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.validation import require, suggest_closest

Chosen = TypeVar("Chosen")

Setting_contra = TypeVar("Setting_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class RunnableAttack(Protocol[Setting_contra, Result_co]):
    """An attack, whatever it works on."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def check(self, setting: Setting_contra) -> str | None:
        """Return why the attack does not apply; None if it does."""
        ...

    def run(self, setting: Setting_contra) -> Iterator[Result_co]:
        """Attack all targets."""
        ...


def resolve_attack(given: Chosen | str, every: Mapping[str, Callable[[], Chosen]], kind: type, owner: str) -> Chosen:
    """Return an attack that is given as such or by its name; `owner` is who asks."""
    if isinstance(given, str):
        if given not in every:
            hint = suggest_closest(given, every) or f"; choose one of {', '.join(every)}."
            raise InvalidParameterError(f"There is no attack {given!r}{hint}")
        return every[given]()
    require(isinstance(given, kind), owner, "attacks", "a list of attacks or their names", given)
    return given


def run_attacks(
    chosen: Sequence[RunnableAttack[Setting_contra, Result_co]],
    every: Mapping[str, Callable[[], RunnableAttack[Setting_contra, Result_co]]],
    setting: Setting_contra,
    tell: Progress = ignore_progress,
) -> tuple[tuple[Result_co, ...], dict[str, str]]:
    """Run the chosen attacks, all of which must apply, or else every one that applies; `tell` is told which.

    Returns
    -------
    The results, and why others were skipped, by name.
    """
    results: list[Result_co] = []
    skipped = {}
    run = chosen or [kind() for kind in every.values()]
    for number, each in enumerate(run):
        tell(number / len(run), each.name)
        why = each.check(setting)
        if why is None:
            results += each.run(setting)
        elif chosen:
            raise SchemaError(f"The attack {each.name} does not apply: {why}")
        else:
            skipped[each.name] = why
    return tuple(results), skipped
