"""The client of local differential privacy: it alone sees the value, and it keeps track of the budget."""

from __future__ import annotations

import hashlib
import secrets
from contextlib import nullcontext
from fractions import Fraction
from os import PathLike
from pathlib import Path

from sfumato.collecting.client_state import SECRET_BYTES, locked, read_state, write_state
from sfumato.collecting.coins import BitSource
from sfumato.collecting.local_mechanism import ClientMemory, LocalMechanism, exact_decimal
from sfumato.exceptions import InfeasibleError, SchemaError
from sfumato.validation import is_number, require


class LocalClient:
    """Randomize the values of one person, and refuse once the budget is spent.

    Randomness always comes from the operating system. Costs add up: each report costs the mechanism's epsilon, or
    what RAPPOR charges for another report of the same value.

    Parameters
    ----------
    mechanism : the mechanism agreed with the server.
    budget : the epsilon that all reports of this person together may cost.
    state : a file that keeps the spending across restarts; it is written before a report is returned. Clients in
        several processes may share it.

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
        require(is_number(budget) and budget > 0, self, "budget", "a positive number", budget)
        self.mechanism = mechanism
        self.budget = budget
        self._file = None if state is None else Path(state)
        self._memory = ClientMemory(secret=secrets.token_bytes(SECRET_BYTES), counts={})
        self._refresh()

    @property
    def spent(self) -> float:
        """The epsilon that reports have cost so far."""
        return float(self._total(self._refresh().counts))

    @property
    def left(self) -> float:
        """The epsilon that is left."""
        return float(exact_decimal(self.budget) - self._total(self._refresh().counts))

    def report(self, value: object) -> list[int]:
        """Return one randomized report of a value: whole numbers that can be sent as they are."""
        try:
            encoded = self.mechanism.encode([value])
        except SchemaError:
            raise SchemaError("The value is missing or outside the agreed domain; nothing was sent.") from None
        with nullcontext() if self._file is None else locked(self._file):
            memory = self._refresh()
            key = self.mechanism.report_key(encoded, memory)
            counts = {**memory.counts, key: memory.counts.get(key, 0) + 1}
            cost = self._total(counts)
            if cost > exact_decimal(self.budget):
                raise InfeasibleError(
                    f"Another report would bring the epsilon of this client to {float(cost):.4g}, "
                    f"above its budget of {self.budget:g}; nothing was sent."
                )
            self._memory = ClientMemory(secret=memory.secret, counts=counts)
            if self._file is not None:
                write_state(self._file, self._memory, self._agreed())
        return [int(number) for number in self.mechanism.report_once(encoded, self._memory, BitSource())[0]]

    def __repr__(self) -> str:
        return f"LocalClient({self.mechanism.name}, {self.spent:.4g} of {self.budget:g} spent)"

    def _refresh(self) -> ClientMemory:
        """Load the state from the file, if there is one: another process may have spent in the meantime."""
        if self._file is not None and self._file.exists():
            self._memory = read_state(self._file, self._agreed())
        return self._memory

    def _total(self, counts: dict[str, int]) -> Fraction:
        return sum((self.mechanism.loss(times) for times in counts.values()), Fraction(0))

    def _agreed(self) -> str:
        return hashlib.sha256(repr(self.mechanism).encode()).hexdigest()
