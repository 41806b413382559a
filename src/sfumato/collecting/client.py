"""The client of local differential privacy: it alone sees the value, and it keeps track of the budget."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from os import PathLike
from pathlib import Path

from sfumato.collecting.client_state import ClientState, lock_state_file, read_client_state, write_client_state
from sfumato.collecting.coins import ExactSampler
from sfumato.collecting.local_mechanism import ClientMemory, LocalMechanism, exact_fraction
from sfumato.exceptions import InfeasibleError, InvalidParameterError
from sfumato.neighbors import REPORTS, describe_epsilon
from sfumato.validation import is_finite_number, require


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
    >>> from sfumato.collecting.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> grr = GeneralizedRandomizedResponse(epsilon=0.5, values=["yes", "no"])
    >>> client = LocalClient(grr, budget=1)
    >>> report = client.report("yes")
    >>> client.left
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
        return f"LocalClient({self.mechanism.name}, {describe_epsilon(f'{self.spent:.4g} of {self.budget:g} spent', REPORTS)})"

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
