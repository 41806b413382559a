"""The client of local differential privacy: it alone sees the value, and it keeps track of the budget."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato._neighbors import REPORTS, describe_epsilon
from sfumato._validation import is_finite_number, require
from sfumato.core._atomic_writes import atomic_path
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError, WriteError
from sfumato.local_dp._exact_sampling import ExactSampler
from sfumato.local_dp.mechanisms.base import ClientMemory, LocalMechanism, exact_fraction

# What a client has spent, in a file that survives restarts and that several processes may share.

FORMAT = 3
LOCK_SUFFIX = ".lock"


@contextmanager
def lock_state_file(path: Path) -> Iterator[None]:
    """Let one client at a time read and write a state; the others wait."""
    try:
        file = path.with_name(path.name + LOCK_SUFFIX).open("a+b")
    except OSError:
        raise WriteError(f"The state {path} cannot be locked; nothing was sent.") from None
    with file:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, kw_only=True)
class ClientState:
    """What one person has spent: the budget of all reports, and per mechanism a memory and what it has cost."""

    budget: Fraction
    memories: Mapping[str, ClientMemory]
    losses: Mapping[str, Fraction]

    def spent_by_others(self, agreed: str) -> Fraction:
        """Return what reports by all other mechanisms have cost."""
        return sum((loss for name, loss in self.losses.items() if name != agreed), Fraction(0))

    def after(self, agreed: str, memory: ClientMemory, loss: Fraction) -> ClientState:
        """Return the state after one more report."""
        return replace(self, memories={**self.memories, agreed: memory}, losses={**self.losses, agreed: loss})


def write_client_state(path: Path, state: ClientState) -> None:
    """Replace the state by a newer one, readable only by its owner."""
    mechanisms = {
        agreed: {"reports": memory.reports, "kept": memory.kept, "loss": str(state.losses[agreed])}
        for agreed, memory in state.memories.items()
    }
    content = {"format": FORMAT, "budget": str(state.budget), "mechanisms": mechanisms}
    with atomic_path(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(content), encoding="ascii")


def read_client_state(path: Path) -> ClientState:
    """Read the state of a client; anything else is refused, never replaced."""
    try:
        content: Any = json.loads(path.read_text(encoding="ascii"))
        known = content["mechanisms"].items()
        state = ClientState(
            budget=Fraction(content["budget"]),
            memories={name: _memory_from_config(each) for name, each in known},
            losses={name: Fraction(each["loss"]) for name, each in known},
        )
        good = content["format"] == FORMAT and state.budget > 0 and all(loss > 0 for loss in state.losses.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        good = False
    if not good:
        raise ReadError(f"{path} is not a valid client state; without it nobody knows what was spent.")
    return state


def _memory_from_config(content: Any) -> ClientMemory:
    reports, kept = content["reports"], tuple(content["kept"])
    if reports < 1 or not all(type(number) is int and number >= 0 for number in (reports, *kept)):
        raise ValueError
    return ClientMemory(reports=reports, kept=kept)


class LocalClient:
    """Randomize the values of one person, and refuse once the budget is spent.

    Randomness always comes from the operating system. Costs add up: each report costs the mechanism's epsilon, or
    what RAPPOR charges for another report in its period. Reports by several mechanisms add up, too, where clients share
    a state. The epsilon is that of all values of one person in all her reports: however different they were, what is
    sent would be at most that much less likely.

    Every call sends and spends until the budget is spent, whatever is given, and costs are the same for all values;
    silence would disclose them. What is missing or outside the domain is reported as the mechanism says.

    Parameters
    ----------
    mechanism : the mechanism agreed with the server.
    budget : the epsilon that all reports of this person together may cost, by whatever mechanism. A state keeps it:
        whoever opens it with another budget is refused.
    state : a file that keeps the spending across restarts; it is written before a report is returned. Clients in
        several processes, and of several mechanisms, may share it. One file per person.

    Examples
    --------
    >>> from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> grr = GeneralizedRandomizedResponse(epsilon=0.5, values=["yes", "no"])
    >>> client = LocalClient(grr, budget=1)
    >>> report = client.report("yes")
    >>> client.remaining
    0.5
    """

    def __init__(self, mechanism: LocalMechanism, *, budget: float, state: str | PathLike[str] | None = None) -> None:
        require(is_finite_number(budget) and budget > 0, self, "budget", "a positive number", budget)
        self.mechanism = mechanism
        self.budget = budget
        self._file = None if state is None else Path(state)
        self._agreed = hashlib.sha256(repr(mechanism).encode()).hexdigest()
        self._state = ClientState(budget=exact_fraction(budget), memories={}, losses={})
        self._refresh()

    @property
    def spent(self) -> float:
        """The epsilon that reports have cost so far, by all mechanisms of the state."""
        return float(sum(self._refresh().losses.values()))

    @property
    def remaining(self) -> float:
        """The epsilon that is left."""
        return float(self._state.budget - sum(self._refresh().losses.values()))

    def report(self, value: object) -> list[int]:
        """Return one randomized report of a value: whole numbers that can be sent as they are."""
        source = ExactSampler()
        encoded = self.mechanism.encode([value], source)
        with nullcontext() if self._file is None else lock_state_file(self._file):
            state = self._refresh()
            known = state.memories.get(self._agreed)
            kept = self.mechanism.memorized(encoded, source) if known is None else known.kept
            memory = ClientMemory(reports=1 if known is None else known.reports + 1, kept=kept)
            loss = self.mechanism.privacy_loss(memory.reports)
            cost = loss + state.spent_by_others(self._agreed)
            if cost > state.budget:
                raise InfeasibleError(
                    f"Another report would bring the epsilon of this client to {float(cost):.4g}, "
                    f"above its budget of {self.budget:g}; nothing was sent. The epsilon is for {REPORTS}."
                )
            self._state = state.after(self._agreed, memory, loss)
            if self._file is not None:
                write_client_state(self._file, self._state)
        return [int(number) for number in self.mechanism.report_once(encoded, kept, source)[0]]

    def __repr__(self) -> str:
        return (
            f"LocalClient({self.mechanism.name}, "
            f"{describe_epsilon(f'{self.spent:.4g} of {self.budget:g} spent', REPORTS)})"
        )

    def _refresh(self) -> ClientState:
        """Load the state from the file, if there is one: another process may have spent in the meantime."""
        if self._file is not None and self._file.exists():
            self._state = read_client_state(self._file)
            if self._state.budget != exact_fraction(self.budget):
                raise InvalidParameterError(
                    f"{self._file} was begun with a budget of {float(self._state.budget):g}; give the same, which is "
                    "what this person agreed to."
                )
        return self._state
